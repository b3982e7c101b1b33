"""A provider in `toolglot.toml`: added or replaced, all else as it was."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.discovery.scripted import HELLO, Faithful, ask, chat, chat_only, reply

from toolglot.discovery import ConfigTextError, add_provider, to_toml
from toolglot.discovery.urls import name_for

NO = reply(400, {"error": {"message": "no"}})
HERMES = chat({"content": '<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>'})


def table(result, name="mine", key=None):
    return tomllib.loads(to_toml(result, name, key=key))["providers"][name]


@pytest.mark.parametrize("protocol", ["anthropic", "openai-chat", "gemini", "ollama"])
def test_the_table_says_what_was_found(protocol):
    result = ask(Faithful(protocols=(protocol,)))
    assert table(result, key="env:KEY") == {
        "protocol": protocol,
        "base_url": result.provider.base_url,
        "tools": "native",
        "models": ["tiny-embed", "tiny"],
    }, "no key was needed, so none is named"


def test_the_key_is_named_and_never_written():
    def gate(probe):
        return (
            Faithful(protocols=("openai-chat",))(probe)
            if probe.auth == "api-key"
            else reply(401, {})
        )

    result = ask(gate, key=True)
    text = to_toml(result, "mine", key="env:WORK_KEY")
    assert tomllib.loads(text)["providers"]["mine"]["api_key"] == "env:WORK_KEY"
    assert "# The key is taken as api-key: KEY" in text


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"tools": HERMES}, {"tools": "native", "dialect": "hermes"}),
        ({"tools": NO, "taught": HERMES}, {"tools": "emulated:hermes"}),
        ({"taught": HERMES}, {"tools": "emulated:hermes"}),
        ({"tools": NO}, {"tools": "emulated"}),
        ({}, {}),
    ],
    ids=["in text", "taught", "ignored", "refused", "unknown"],
)
def test_how_tools_are_to_be_given(answers, expected):
    result = ask(chat_only(answers, HELLO))
    found = table(result)
    assert {key: found[key] for key in ("tools", "dialect") if key in found} == expected


def test_other_protocols_and_quirks_are_remarks():
    text = to_toml(ask(Faithful(protocols=("openai-chat", "anthropic"))), "x")
    assert "# It also speaks anthropic at http://models.test/v1." in text
    assert "# calls-in-text: " in to_toml(ask(chat_only({"tools": HERMES}, HELLO)), "x")


def test_long_lists_of_models_are_left_to_the_provider():
    many = tuple(f"m{number}" for number in range(50))
    assert "models" not in table(ask(Faithful(protocols=("openai-chat",), models=many)))


def test_what_the_gateway_reads_is_what_is_written():
    config = pytest.importorskip("toolglot.gateway.config")
    from msgspec import convert

    provider = convert(table(ask(Faithful()), key="env:K"), config.Provider)
    assert provider.protocol == "bedrock-converse"


FILE = """# The gateway of the house.
[server]
port = 8200  # not the usual one

[providers.one]
profile = "openai"
api_key = "env:ONE"
note = \"\"\"
[providers.mine]
\"\"\"

# About mine.
[providers.mine]
protocol = "ollama"
models = [
  "a",
  # "b",
]

[providers.mine.headers]
x-a = "b"

# All else.
[[routes]]
match = "*"
to = "one"
"""
NEW = '[providers.mine]\nprotocol = "openai-chat"\n'


def test_a_provider_is_added_at_the_end():
    text = FILE.replace("providers.mine", "providers.other")
    assert add_provider(text, "mine", NEW) == f"{text}\n{NEW}"
    assert add_provider("", "mine", NEW) == NEW
    assert add_provider("[server]", "mine", NEW) == f"[server]\n\n{NEW}"


def test_one_that_is_there_is_not_overwritten_unawares():
    with pytest.raises(ConfigTextError, match="there is a provider 'mine' already; give --replace"):
        add_provider(FILE, "mine", NEW)


def test_replacing_touches_that_provider_alone():
    merged = add_provider(FILE, "mine", NEW, replace=True)
    before, after = tomllib.loads(FILE), tomllib.loads(merged)
    assert after["providers"]["mine"] == {"protocol": "openai-chat"}
    assert after["providers"]["one"] == before["providers"]["one"]
    assert (after["server"], after["routes"]) == (before["server"], before["routes"])
    for comment in ("# The gateway of the house.", "# About mine.", "# All else.", "not the usual"):
        assert comment in merged
    assert merged.index("# About mine.") < merged.index(NEW) < merged.index("# All else.")


def test_a_provider_without_a_table_of_its_own_is_left_to_people():
    with pytest.raises(ConfigTextError, match="by hand"):
        add_provider('providers = { mine = { profile = "openai" } }\n', "mine", NEW, replace=True)


def test_a_file_that_is_no_toml_is_left_alone():
    with pytest.raises(ConfigTextError, match="line 1"):
        add_provider("[[[", "mine", NEW)


@given(st.text(min_size=1, max_size=12).filter(lambda name: name.isprintable()))
def test_any_name_can_be_written(name):
    result = ask(chat_only({}, HELLO))
    text = add_provider(FILE, name, to_toml(result, name), replace=True)
    assert tomllib.loads(text)["providers"][name]["protocol"] == "openai-chat"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://localhost:8080/v1", "local-8080"),
        ("http://127.0.0.1", "local"),
        ("http://[::1]:9", "local"),
        ("https://api.example.com/v1", "api-example-com"),
        ("gpu.lan:8000", "gpu-lan-8000"),
    ],
)
def test_names_from_addresses(url, name):
    assert name_for(url) == name
