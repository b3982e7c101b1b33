import re

import pytest

from toolglot import profiles
from toolglot.gateway.config import (
    Config,
    ConfigError,
    Provider,
    RouteConfig,
    check_loops,
    left_out_targets,
    load_config,
    plain_secrets,
    read_secret,
    without_loops,
)
from toolglot.gateway.relay.providers import make_upstreams
from toolglot.profiles import get_profile

SOUND = """\
[server]
port = 8100

[providers.work]
profile = "openai"
api_key = "env:WORK_KEY"

[[routes]]
match = "claude-*"
to = ["work/gpt-5.4", "demo"]

[[routes]]
match = "*"
to = "work/*"
"""


def written(tmp_path, text):
    path = tmp_path / "toolglot.toml"
    path.write_text(text)
    return path


def test_a_file_is_read(tmp_path):
    config = load_config(written(tmp_path, SOUND))
    assert config.server.port == 8100
    assert config.providers["work"].profile == "openai"
    assert [route.targets for route in config.routes] == [("work/gpt-5.4", "demo"), ("work/*",)]


@pytest.mark.parametrize(
    ("before", "after", "line", "words"),
    [
        ("port = 8100", 'port = "8100"', 2, "server.port: Expected `int`, got `str`"),
        ("api_key", "api_kee", 6, "providers.work.api_kee: there is no such key"),
        ('"openai"', '"openay"', 5, "providers.work.profile: "),
        ('"work/*"', '"wurk/*"', 14, "routes[1].to: no provider 'wurk'; known: work, demo"),
        ('"work/*"', "3", 14, "routes[1].to: Expected `str | array`"),
        ("api_key", "dialect", 4, "providers.work: no dialect 'env:WORK_KEY'"),
        ("[server]", "[sever]", 1, "sever: there is no such key"),
        (
            'profile = "openai"',
            'protocol = "openai"',
            5,
            "providers.work.protocol: expected one of",
        ),
        ("api_key", "api_kee", 6, "perhaps api_key?"),
        ('"openai"', '"openay"', 5, "perhaps openai?"),
        ("port = 8100", "port = 70000", 2, "server.port: Expected `int` <= 65535"),
        ("port = 8100", "workers = 0", 2, "server.workers: Expected `int` >= 1"),
        ("port = 8100", 'log = "loud"', 2, "expected one of debug, info, warning, error"),
        ("[server]", 'mend = "no"\n[server]', 1, "mend: Invalid enum value 'no'; expected one of"),
        ("api_key", 'mend = "no"\napi_key', 6, "providers.work.mend: Invalid enum value 'no'"),
        ("api_key", 'mend = "no"\napi_key', 6, "expected one of on, off"),
        ("[server]", "mend = true\n[server]", 1, "mend: Expected `str`, got `bool`"),
        ('"work/*"', "[]", 14, "routes[1].to: Expected `array` of length >= 1"),
        ('"work/*"', '"work"\npick = "best"', 15, "expected one of first, weighted, least-busy"),
        ("api_key", "base_url", 6, "begins with http:// or https://"),
        ('api_key = "env:WORK_KEY"', 'rules = "none"', 6, "'none' is none of "),
        ('api_key = "env:WORK_KEY"', 'id_rule = "none"', 6, "'none' is none of "),
        (
            '[[routes]]\nmatch = "c',
            '[providers.work.rules]\n"tools.kind" = ["function"]\n[[routes]]\nmatch = "c',
            9,
            "providers.work.rules.tools.kind: there is no such fact; perhaps tools.kinds?",
        ),
        (
            '[[routes]]\nmatch = "c',
            '[providers.work.rules]\n"limits.most" = "much"\n[[routes]]\nmatch = "c',
            9,
            "providers.work.rules.limits.most: Expected `int | null`, got `str`",
        ),
        *(
            (
                '[[routes]]\nmatch = "c',
                f'[[providers.work.tool_rules]]\n{line}\n[[routes]]\nmatch = "c',
                at,
                f"providers.work.tool_rules[0]{words}",
            )
            for line, at, words in (
                ('filter = "plan"', 9, ".filter: Expected `array`, got `str`"),
                ('fliter = ["plan"]', 9, ".fliter: there is no such key; perhaps filter?"),
                ("rename = { cat = 3 }", 9, ".rename"),
                ('client = "codex"\npreset = "nope"', 10, ".preset: 'nope' is none of codex-ant"),
                ('protocol = "chat"\nclean = true', 9, ".protocol: expected one of anthropic"),
                ('client = "codex"', 8, ": there is no rule in it: give one of filter, rename"),
                ('filter = ["cat"]\nrename = { cat = "x" }', 10, ".rename.cat: the tool is filt"),
                ("repeat_limit = 0", 9, ".repeat_limit: Expected `int` >= 1"),
            )
        ),
        ('api_key = "env:WORK_KEY"', 'schema_dialect = "none"', 6, "'none' is none of "),
        (
            '[[routes]]\nmatch = "c',
            '[providers.work.options]\nid_max = "9"\n[[routes]]\nmatch = "c',
            9,
            "providers.work.options.id_max: Expected `int | null`, got `str`",
        ),
        (
            '[[routes]]\nmatch = "c',
            '[providers.work.options]\nsanitise = "nul"\n[[routes]]\nmatch = "c',
            9,
            "providers.work.options.sanitise: there is no such key; perhaps sanitize?",
        ),
        (
            '[[routes]]\nmatch = "c',
            '[providers.work.options]\nsanitize = "all"\n[[routes]]\nmatch = "c',
            9,
            "expected one of off, nul, c0",
        ),
        (
            "port = 8100",
            'extensions = ["no_such_module"]',
            2,
            "server.extensions[0]: no_such_module cannot be imported: No module named",
        ),
        ('profile = "openai"', 'protocol = "gemini"', 4, "providers.work: give a profile, or both"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_key(tmp_path, before, after, line, words):
    path = written(tmp_path, SOUND.replace(before, after))
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert words in str(caught.value)


def test_extensions_register_what_providers_may_name(tmp_path, monkeypatch):
    monkeypatch.setattr(profiles, "_profiles", {})
    monkeypatch.syspath_prepend(tmp_path)
    facts = (
        '{"endpoints": [{"protocol": "ollama", "base_url": "http://h"}], "auth": {"header": "k"}}'
    )
    module = tmp_path / "my_extension.py"
    module.write_text(f"import toolglot\ntoolglot.register_profile('mine', {facts})\n")
    text = SOUND.replace("port = 8100", 'extensions = ["my_extension"]').replace("openai", "mine")
    assert load_config(written(tmp_path, text)).providers["work"].profile == "mine"


def test_options_of_a_provider_are_those_of_the_library(tmp_path):
    options = (
        '[providers.work.options]\nsanitize = "nul"\noptional_markers = ["if any"]\nid_max = 40\n'
        'prompt_cache = "off"\n'
    )
    config = load_config(written(tmp_path, SOUND + options))
    upstream = make_upstreams(config, {"WORK_KEY": "k"})["work"]
    chosen = upstream.options("gpt-5.4", "gpt-5.4", strict=False)
    assert (chosen.sanitize, chosen.optional_markers, chosen.id_max) == ("nul", ("if any",), 40)
    assert chosen.prompt_cache == "off"


def test_what_is_no_toml_is_told_with_its_line(tmp_path):
    with pytest.raises(ConfigError, match="line 2"):
        load_config(written(tmp_path, "[server]\nport = = 3\n"))


def test_without_a_file_the_keys_in_the_environment_are_the_providers():
    config = load_config(None, {"OPENAI_API_KEY": "a", "ANTHROPIC_API_KEY": "b", "OTHER": "c"})
    assert set(config.providers) == {"openai", "anthropic"}
    assert config.providers["openai"].api_key == "env:OPENAI_API_KEY"
    assert load_config(None, {}) == Config()


ADDRESSES = [
    ("openai", "OPENAI_BASE_URL", "http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"),
    ("anthropic", "ANTHROPIC_BASE_URL", "https://proxy.example/", "https://proxy.example"),
    ("google", "GOOGLE_GEMINI_BASE_URL", "https://proxy.example", "https://proxy.example"),
    ("azure", "AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/", "https://r.openai.azure.com"),
    ("ollama", "OLLAMA_HOST", "0.0.0.0", "http://127.0.0.1:11434"),
    ("ollama", "OLLAMA_HOST", "gpu:9", "http://gpu:9"),
]


@pytest.mark.parametrize(("name", "variable", "value", "base_url"), ADDRESSES)
def test_addresses_in_the_environment(name, variable, value, base_url):
    profile = get_profile(name)
    key = {profile.auth.env[0]: "k"} if profile.auth.required else {}
    config = load_config(None, {**key, variable: value})
    assert config.providers[name].base_url == base_url
    assert [name] == list(config.providers)


def test_an_address_without_the_key_that_it_needs_is_no_provider():
    assert load_config(None, {"OPENAI_BASE_URL": "http://h"}) == Config()
    assert load_config(None, {"OLLAMA_HOST": " "}) == Config()


def test_an_address_that_is_none():
    with pytest.raises(ConfigError, match=r"OLLAMA_HOST: 'a b' is neither a URL nor a host"):
        load_config(None, {"OLLAMA_HOST": "a b"})


def test_an_address_in_the_environment_that_is_our_own_is_not_used():
    environ = {
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": "http://localhost:8100/v1",
        "OLLAMA_HOST": "0.0.0.0:8100",
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": "http://localhost:8101",
    }
    config, warnings = without_loops(load_config(None, environ))
    assert {name: each.base_url for name, each in config.providers.items()} == {
        "openai": None,
        "anthropic": "http://localhost:8101",
    }
    openai, ollama = warnings
    assert openai.startswith("OPENAI_BASE_URL is the address of this gateway itself (http://local")
    assert "OLLAMA_HOST" in ollama


def test_an_address_in_the_file_that_is_our_own_is_refused(tmp_path):
    text = '[server]\nport = 9\n[providers.a]\nprofile = "vllm"\nbase_url = "http://localhost:{}"\n'
    with pytest.raises(
        ConfigError, match=r"providers\.a\.base_url: http://localhost:9 is the addr"
    ):
        check_loops(load_config(written(tmp_path, text.format(9))))
    check_loops(load_config(written(tmp_path, text.format(10))))


@pytest.mark.parametrize(
    ("base_url", "profile", "protocol"),
    [
        ("https://api.anthropic.com", "anthropic", None),
        ("http://gpu:11434", "ollama", None),
        ("https://llm.example/v1/messages", None, "anthropic"),
        ("https://llm.example/api/chat", None, "ollama"),
    ],
)
def test_an_address_may_be_all_that_is_given(tmp_path, base_url, profile, protocol):
    config = load_config(written(tmp_path, f'[providers.a]\nbase_url = "{base_url}"\n'))
    provider = config.providers["a"]
    assert (provider.profile, provider.protocol) == (profile, protocol)


def test_an_address_that_says_nothing_about_its_provider(tmp_path):
    text = '[providers.a]\nbase_url = "https://llm.example/v1"\n'
    with pytest.raises(ConfigError, match="give a profile, or both protocol and base_url"):
        load_config(written(tmp_path, text))


def test_secrets_are_named_rather_than_written(tmp_path):
    file = tmp_path / "key"
    file.write_text("from-a-file\n")
    assert read_secret("env:NAME", {"NAME": "from-outside"}) == "from-outside"
    assert read_secret(f"file:{file}") == "from-a-file"
    with pytest.raises(ConfigError, match="NAME is not set"):
        read_secret("env:NAME", {})
    with pytest.raises(ConfigError, match="No such file"):
        read_secret(f"file:{file}.gone")


def test_a_secret_in_the_clear_is_noticed():
    config = Config(
        providers={
            "a": Provider(profile="openai", api_key="sk-in-the-clear"),
            "b": Provider(profile="openai", api_key=("env:X", "file:y")),
            "c": Provider(profile="openai", api_key="client"),
        }
    )
    assert list(plain_secrets(config)) == ["providers.a.api_key"]


def test_secrets_are_read_without_the_white_space_around_them(tmp_path):
    (tmp_path / "key").write_text(" sk-1\n")
    assert read_secret(f"file:{tmp_path / 'key'}") == "sk-1"
    assert read_secret("env:KEY", {"KEY": "sk-2\n"}) == "sk-2"
    with pytest.raises(ConfigError, match="KEY is not set"):
        read_secret("env:KEY", {"KEY": "\n"})


def test_a_file_that_holds_no_text_holds_no_key(tmp_path):
    (tmp_path / "key").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="key: not a text file"):
        read_secret(f"file:{tmp_path / 'key'}")


RULES = """[providers.it]
protocol = "openai-chat"
base_url = "http://127.0.0.1:1/v1"

[providers.it.rules]
"""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('"tools.kind" = ["function"]', "tools.kind: there is no such fact; perhaps tools.kinds?"),
        ("limits.leest = 16", "limits.leest: there is no such fact; perhaps limits.least?"),
        ('"tools.kinds" = "function"', "tools.kinds: Expected `array`, got `str`"),
        ('"tools.kinds" = "any"', "tools.kinds: Expected `array`, got `str`"),
        ('"tools.kinds" = ["functions"]', "tools.kinds: 'functions' is none of custom, function"),
        ('"tools.choices" = ["autoo"]', "tools.choices: 'autoo' is none of allowed"),
        ('"tools.effort" = "maybe"', "tools.effort: Invalid enum value 'maybe'"),
        ('"outputs" = ["texts"]', "outputs: 'texts' is none of json, schema, text"),
        ('"limits.most" = true', "limits.most: Expected `int | null`, got `bool`"),
        ('"limits.name" = "maxtokens"', "limits.name: 'maxtokens' is none of max_completion_"),
        ('"calls.id_rule" = { mosst = 9 }', "calls.id_rule: Object contains unknown field `mos"),
        ('"calls.id_rule" = { most = "x" }', "calls.id_rule: Expected `int | null`, got `str`"),
        ('"reasoning.efforts" = ["low", "huge"]', "reasoning.efforts: 'huge' is none of high"),
        ('"reasoning.controls" = ["budgets"]', "reasoning.controls: 'budgets' is none of adap"),
        ('"schema.tools" = "openapy"', "schema.tools: 'openapy' is none of closed, moonshot"),
        ('"sampling.temperature" = [2, 0]', "sampling.temperature: the least, 2, is more than"),
        ('"sampling.temperature" = [1]', "sampling.temperature: Expected `array` of length 2"),
        ('"models" = ["x*"]', "models: there is no such fact"),
    ],
)
def test_a_wrong_rule_is_named_with_its_line_and_key(tmp_path, line, words):
    file = tmp_path / "toolglot.toml"
    file.write_text(RULES + line + "\n")
    with pytest.raises(ConfigError) as caught:
        load_config(file, {})
    assert str(caught.value).startswith(f"{file}:6: providers.it.rules.{words}")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('profile = "opnai"', "providers.it.profile: `toolglot capabilities` lists the profiles"),
        ("rules = 3", "providers.it.rules: Expected `str | object | null`, got `int`"),
        ('rules = ["a"]', "providers.it.rules: Expected `str | object | null`, got `array`"),
        ('rules = "nope"', "providers.it.rules: 'nope' is none of "),
    ],
)
def test_a_provider_that_is_wrong_is_named_with_its_line_and_key(tmp_path, line, words):
    file = tmp_path / "toolglot.toml"
    file.write_text(
        f'[providers.it]\nbase_url = "http://127.0.0.1:1/v1/chat/completions"\n{line}\n'
    )
    with pytest.raises(ConfigError) as caught:
        load_config(file, {})
    assert str(caught.value).startswith(f"{file}:3: {words}")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('trusted_proxies = ["nowhere"]\nidentity_header = "x"\nkeys = true', "is no address"),
        ('trusted_proxies = ["10.0.0.1"]', "belong together"),
        ('identity_header = "x-user"\nkeys = true', "belong together"),
        ('trusted_proxies = ["10.0.0.0/8"]\nidentity_header = "x"', "set keys = true"),
        ('admin = "somewhere"', "expected an address and a port"),
        ("limits = { connections = 0 }", "Expected `int` >= 1"),
        ("limits = { conections = 1 }", "perhaps connections?"),
        ("limits = { head_seconds = 0 }", "Expected `float` > 0"),
        ('tls = { cert = "a" }', "missing required field `key`"),
        ('tls = { cert = "a", key = "b", require_client_cert = true }', "client_ca must say"),
    ],
)
def test_what_is_wrong_with_how_it_is_guarded(tmp_path, lines, words):
    with pytest.raises(ConfigError, match=re.escape(words)):
        load_config(written(tmp_path, f"[server]\n{lines}\n"))


def test_a_second_provider_that_would_get_a_clients_key_is_told():
    def provider(host, **more):
        return Provider(protocol="anthropic", base_url=f"https://{host}/v1", **more)

    def told(**providers):
        routes = (RouteConfig(match="*", to=tuple(providers)),)
        return list(left_out_targets(Config(providers=providers, routes=routes)))

    (words,) = told(a=provider("a", api_key="client"), b=provider("b", api_key="client"))
    assert "b is never asked" in words
    assert told(a=provider("a", api_key="client"), b=provider("b", api_key="k")) == []
    assert told(a=provider("a", api_key="client"), b=provider("a", api_key=("client",))) == []
    one = {"api_key": "client", "issuer": "one"}
    assert told(a=provider("a", **one), b=provider("b", **one)) == []
