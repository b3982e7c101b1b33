"""The facts about providers and model families, and how they are asked for and changed."""

import copy
import pickle
import re
import subprocess
import sys
from datetime import date
from importlib.resources import files
from itertools import pairwise
from threading import Thread

import pytest

import toolglot
from toolglot import calls
from toolglot import profiles as book
from toolglot.dialects.table import DIALECTS
from toolglot.profiles import (
    PROVIDERS,
    Capabilities,
    ProfileError,
    UnknownProviderError,
    dialect_for,
    family_of,
    get_capabilities,
    get_profile,
    register_profile,
)
from toolglot.providers import surface_for

EVERY = book.profiles()


@pytest.fixture(autouse=True)
def _nothing_registered(monkeypatch):
    monkeypatch.setattr(book, "_profiles", {})


NAMES = [
    "openai",
    "anthropic",
    "google",
    "vertex",
    "azure",
    "bedrock",
    "xai",
    "deepseek",
    "mistral",
    "groq",
    "cerebras",
    "together",
    "fireworks",
    "openrouter",
    "moonshot",
    "zai",
    "minimax",
    "qwen",
    "perplexity",
    "nebius",
    "sambanova",
    "huggingface",
    "cloudflare",
    "github",
    "ollama",
    "vllm",
    "sglang",
    "llama.cpp",
    "lmstudio",
    "litellm",
]


def groups(profile):
    """All groups of facts of a provider."""
    found = [*profile.endpoints, profile.auth]
    return [*found, profile.tools] if profile.tools != book.ToolFacts() else found


# --- the historical matrix ------------------------------------------------------------------------


def test_historical_anthropic():
    """S3-33"""
    assert get_capabilities("anthropic") == Capabilities(
        format="json",
        supports_parallel=True,
        max_tools_per_call=20,
        requires_schema=True,
        stream_support=True,
    )


def test_historical_openai():
    """S3-34"""
    assert get_capabilities("openai") == Capabilities(
        format="json",
        supports_parallel=True,
        max_tools_per_call=10,
        requires_schema=True,
        stream_support=True,
    )


def test_historical_xai():
    """S3-35"""
    assert get_capabilities("xai") == Capabilities(
        format="custom",
        supports_parallel=False,
        max_tools_per_call=1,
        requires_schema=False,
        stream_support=False,
        quirks=("uses <x.ai:tool_call> tags",),
    )


def test_historical_deepseek():
    """S3-36"""
    assert get_capabilities("deepseek") == Capabilities(
        format="xml",
        supports_parallel=True,
        max_tools_per_call=5,
        requires_schema=False,
        stream_support=False,
    )


def test_an_unknown_provider_is_assumed_to_do_little():
    """S3-37"""
    assert get_capabilities("nope") == Capabilities(
        format="unknown",
        supports_parallel=False,
        max_tools_per_call=1,
        requires_schema=False,
        stream_support=False,
    )


def test_todays_facts_differ_from_the_historical_ones():
    """D-18: both speak JSON today, tags and XML are leaks; limits are in the rule books."""
    for name, dialect in (("xai", "xai_tool_call"), ("deepseek", "deepseek_v4")):
        profile = get_profile(name)
        assert profile.tools.format == "json" != get_capabilities(name).format
        assert dialect in profile.tools.dialects
    assert surface_for("openai", "openai-chat", "gpt-5.4").tools.most == 128


def test_the_matrix_says_that_it_is_history():
    """D-18"""
    text = files("toolglot").joinpath("profiles.toml").read_text(encoding="utf-8")
    head = text[text.index("[historical]") : text.index("[historical.providers.anthropic]")]
    assert "never limits of any API" in head
    assert "date = " in head
    assert "source = " in head


# --- changing facts -------------------------------------------------------------------------------


def test_capabilities_are_overridden_for_one_question():
    """D-18"""
    assert get_capabilities("openai", {"max_tools_per_call": 128}).max_tools_per_call == 128
    assert get_capabilities("openai").max_tools_per_call == 10


def test_a_profile_is_overridden_for_one_question():
    """D-18: a mapping changes only what it names, however deep."""
    changed = get_profile("mistral", {"tools": {"calling": "emulated"}, "title": "M"})
    before = get_profile("mistral")
    assert (changed.tools.calling, changed.title) == ("emulated", "M")
    assert changed.tools.dialects == before.tools.dialects == ("mistral",)
    assert before.tools.calling == "native"


def test_a_provider_is_registered_from_a_mapping():
    """D-18"""
    endpoint = {"protocol": "openai-chat", "base_url": "https://llm.example/v1"}
    with pytest.raises(UnknownProviderError):
        get_profile("acme")
    made = register_profile(
        "acme", {"endpoints": [endpoint], "auth": {"header": "x-key", "env": ["ACME_KEY"]}}
    )
    assert get_profile("acme") == made
    assert made.name == "acme"
    assert PROVIDERS["acme"] == "openai-chat"
    assert made.auth.with_key("k") == {"x-key": "k"}
    again = register_profile("acme", {"local": True})
    assert (again.local, again.auth) == (True, made.auth)
    twin = register_profile("acme-two", again)
    assert twin.name == "acme-two"
    assert [profile.name for profile in book.profiles()][-2:] == ["acme", "acme-two"]


@pytest.mark.parametrize(
    "facts", [{"tools": {"caling": "native"}}, {"tools": {"format": "often"}}, {"ids": "mistral"}]
)
def test_facts_of_the_wrong_form_are_refused(facts):
    with pytest.raises(ProfileError):
        get_profile("openai", facts)
    with pytest.raises(ProfileError):
        register_profile("openai", facts)
    assert get_profile("openai").tools.calling == "native"


def test_registering_from_many_threads_loses_nothing():
    names = [f"acme-{number}" for number in range(40)]
    profile = get_profile("openai")
    threads = [Thread(target=register_profile, args=(name, profile)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {get_profile(name).name for name in names} == set(names)


def test_an_unknown_provider_has_no_profile():
    with pytest.raises(UnknownProviderError, match=r"^no profile for provider nope$") as raised:
        get_profile("nope")
    assert isinstance(raised.value, LookupError)
    for twin in (copy.copy(raised.value), pickle.loads(pickle.dumps(raised.value))):
        assert (twin.what, twin.provider, str(twin)) == ("profile", "nope", str(raised.value))


# --- the file -------------------------------------------------------------------------------------


def test_every_provider_is_there():
    assert [profile.name for profile in EVERY] == NAMES


@pytest.mark.parametrize("profile", EVERY, ids=lambda profile: profile.name)
def test_a_profile_is_sound(profile):
    """D-18: facts have a source and a day, name known protocols and rules, and fit together."""
    for facts in groups(profile):
        assert facts.source.startswith(("https://", "observed: ")) or re.match(
            r"[a-z-]+ \d+\.\d+\.\d+ \(", facts.source
        )
        assert date.fromisoformat(facts.date) <= date(2026, 11, 16)
    assert len(set(profile.protocols)) == len(profile.protocols) >= 1
    assert set(profile.protocols) <= toolglot.PROTOCOLS.keys()
    for endpoint in profile.endpoints:
        assert not endpoint.base_url.endswith("/")
        assert endpoint.base_url.startswith("http://" if profile.local else "https://")
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]+", name) for name in profile.auth.env)


@pytest.mark.parametrize(
    ("provider", "protocol", "url"),
    [
        ("openai", None, "https://api.openai.com/v1/chat/completions"),
        ("openai", "openai-responses", "https://api.openai.com/v1/responses"),
        ("anthropic", None, "https://api.anthropic.com/v1/messages"),
        ("deepseek", None, "https://api.deepseek.com/chat/completions"),
        ("deepseek", "anthropic", "https://api.deepseek.com/anthropic/v1/messages"),
        ("zai", None, "https://api.z.ai/api/paas/v4/chat/completions"),
        ("groq", None, "https://api.groq.com/openai/v1/chat/completions"),
        ("ollama", None, "http://localhost:11434/api/chat"),
        (
            "google",
            None,
            "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
        ),
    ],
)
def test_addresses(provider, protocol, url):
    endpoint = get_profile(provider).endpoint(protocol)
    path = toolglot.get_protocol(endpoint.protocol).SURFACE.path
    assert endpoint.url(path, model="m", project="p", region="r") == url


def test_a_protocol_that_a_provider_does_not_speak():
    with pytest.raises(UnknownProviderError, match=r"^no gemini endpoint for provider openai$"):
        get_profile("openai").endpoint("gemini")


def test_headers_with_a_key():
    assert get_profile("openai").auth.with_key("sk") == {"Authorization": "Bearer sk"}
    assert get_profile("anthropic").auth.with_key("sk") == {
        "x-api-key": "sk",
        "anthropic-version": "2023-06-01",
    }
    assert get_profile("ollama").auth.with_key(None) == {}
    assert get_profile("openrouter").auth.optional_headers == ("HTTP-Referer", "X-Title")


def test_names_that_people_use():
    expected = {
        "claude": "anthropic",
        "chat": "openai-chat",
        "openai": "openai-chat",
        "openrouter": "openai-chat",
        "responses": "openai-responses",
        "google": "gemini",
        "gemini": "gemini",
        "ollama": "ollama",
    }
    assert {name: PROVIDERS[name] for name in expected} == expected
    assert calls.PROVIDERS is PROVIDERS
    assert set(PROVIDERS) >= set(NAMES)
    assert len(PROVIDERS) == len(list(PROVIDERS))
    assert "nope" not in PROVIDERS
    assert get_profile("kimi") is get_profile("moonshot")


# --- families -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-opus-5-5", "claude-5"),
        ("claude-sonnet-4-5-20250929", "claude-4.5"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4.5"),
        ("claude-opus-4@20250514", "claude-4"),
        ("claude-haiku-5-5", "claude-haiku-5"),
        ("claude-3-5-haiku-20241022", "claude-3"),
        ("claude-unheard-9", "claude"),
        ("gpt-5", "gpt-5"),
        ("gpt-5-mini", "gpt-5"),
        ("gpt-5-pro", "gpt-5-pro"),
        ("gpt-5-chat-latest", "gpt-5-chat"),
        ("gpt-5.1", "gpt-5.1"),
        ("gpt-5.1-codex-max", "gpt-5.2"),
        ("openai/gpt-6-sol", "gpt-5.2"),
        ("o3-mini", "o-series"),
        ("openai.gpt-oss-120b-1:0", "gpt-oss"),
        ("gpt-4.1", "gpt-4"),
        ("models/gemini-3-pro-preview", "gemini-3-pro"),
        ("gemini-3.1-pro-preview", "gemini-3.1-pro"),
        ("gemini-3.5-flash-lite", "gemini-3"),
        ("gemini-2.5-flash", "gemini-2.5"),
        ("deepseek-chat", "deepseek-v4"),
        ("deepseek-ai/DeepSeek-V3.2-Exp", "deepseek-v3.2"),
        ("deepseek-r1:8b", "deepseek-v3"),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3-coder"),
        ("qwen3:4b", "qwen3"),
        ("accounts/fireworks/models/kimi-k2p5", "kimi-k2"),
        ("kimi-k3", "kimi-k3"),
        ("glm-4.6", "glm-4.5"),
        ("glm-5.2", "glm-5"),
        ("MiniMaxAI/MiniMax-M2.1", "minimax-m2"),
        ("devstral-2512", "mistral"),
        ("grok-4.7", "grok"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3"),
    ],
)
def test_the_family_of_a_model(model, family):
    assert family_of(model).name == family


def test_a_model_of_no_family():
    assert family_of("smollm2-135m") is None
    assert family_of("") is None


def test_what_families_know():
    assert family_of("gemini-3.8-flash").thought_signatures
    assert not family_of("gemini-2.5-pro").thought_signatures
    assert family_of("gpt-5.1").efforts == ("none", "low", "medium", "high")
    assert family_of("claude-opus-4-8").efforts[-2:] == ("xhigh", "max")
    assert family_of("claude-opus-4-8").max_output == 128000
    assert family_of("deepseek-v4-pro").dialect == "deepseek_v4"


def test_families_are_sound():
    order = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
    names = [family.name for family in book.families()]
    assert len(set(names)) == len(names)
    for family in book.families():
        ranks = [order.index(effort) for effort in family.efforts]
        assert all(low < high for low, high in pairwise(ranks))
        assert family.source
        assert date.fromisoformat(family.date)
        if family.vendor == "anthropic":
            assert family.max_output
        if family.reasoning == "effort":
            assert family.efforts


@pytest.mark.parametrize("family", book.families(), ids=lambda family: family.name)
def test_no_family_stands_behind_a_wider_one(family):
    """Every pattern finds its own family when its stars stand for nothing much."""
    for pattern in family.match:
        plain = re.sub(r"\[(.).*?\]", r"\1", pattern)
        assert family_of(plain.replace("*", "9z")).name == family.name


# --- cost -----------------------------------------------------------------------------------------


def test_importing_reads_no_facts():
    """The file is read when something is asked for, not before."""
    code = (
        "import sys, toolglot\n"
        "assert 'toolglot.parsers' not in sys.modules\n"
        "assert 'tomllib' not in sys.modules\n"
        "toolglot.parse_tool_calls({'content': []}, 'anthropic')\n"
        "assert 'tomllib' not in sys.modules\n"
        "toolglot.get_profile('openai')\n"
        "assert 'tomllib' in sys.modules\n"
        "toolglot.get_parser('openai'), toolglot.get_capabilities('x'), toolglot.family_of('x')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_how_a_model_is_told_of_tools():
    """By its family, else by its provider, and natively if nothing is known."""
    assert book.tools_for("some-model") == "native"
    assert book.tools_for("some-model", "openai") == "native"
    assert book.tools_for("some-model", "nobody") == "native"
    register_profile("plain-server", {**WITHOUT_TOOLS, "tools": {"calling": "emulated:glm45"}})
    assert book.tools_for("some-model", "plain-server") == "emulated:glm45"


WITHOUT_TOOLS = {
    "endpoints": [{"protocol": "openai-chat", "base_url": "http://127.0.0.1:9/v1"}],
    "auth": {"header": "Authorization"},
}


def test_a_family_may_have_no_tools(monkeypatch):
    family = book.ModelFamily(name="plain", match=("plain-*",), vendor="", calling="emulated")
    monkeypatch.setattr(book, "families", lambda: (family,))
    assert book.tools_for("plain-7b", "openai") == "emulated"


def test_every_word_for_calling_is_one_that_the_option_takes():
    words = {each.tools.calling for each in EVERY} | {each.calling for each in book.families()}
    for word in words - {None}:
        assert toolglot.Options(tools=word).emulated_dialect in {None, *DIALECTS}


def test_every_lazy_name_is_public():
    for name in toolglot.__all__:
        assert getattr(toolglot, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        toolglot.nope  # noqa: B018 - the access is the test


@pytest.mark.parametrize(
    ("model", "provider", "dialect"),
    [
        ("qwen3-coder-480b", "anthropic", "qwen3_coder"),
        ("deepseek-ai/DeepSeek-V3.2", None, "deepseek_v32"),
        ("a-new-model", "deepseek", "auto"),
        ("a-new-model", "lmstudio", "lmstudio"),
        ("a-new-model", "openai", None),
        ("a-new-model", "nobody", None),
        ("a-new-model", None, None),
    ],
)
def test_the_dialect_of_a_model_is_that_of_its_family_or_provider(model, provider, dialect):
    assert dialect_for(model, provider) == dialect
