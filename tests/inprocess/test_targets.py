"""A target named in one line becomes a configuration, or a sentence that says what to do."""

import pytest

from toolglot.gateway.config import Config, ConfigError, Provider, Server
from toolglot.inprocess.targets import config_for

ENVIRON = {"OPENAI_API_KEY": "key-one", "ANTHROPIC_API_KEY": "key-two"}


def test_a_target():
    made = config_for("openai/gpt-5.4", environ=ENVIRON)
    assert list(made.providers) == ["openai"]
    assert made.providers["openai"].api_key == "env:OPENAI_API_KEY"
    assert [(route.match, route.targets) for route in made.routes] == [("*", ("openai/gpt-5.4",))]


def test_a_model_alone_is_asked_of_its_vendor():
    made = config_for("claude-sonnet-5", environ=ENVIRON)
    assert made.routes[0].targets == ("anthropic/claude-sonnet-5",)


def test_several_targets():
    made = config_for(["openai/gpt-5.4", "anthropic/claude-sonnet-5", "demo"], environ=ENVIRON)
    assert list(made.providers) == ["openai", "anthropic"]
    assert made.routes[0].targets == ("openai/gpt-5.4", "anthropic/claude-sonnet-5", "demo")


def test_without_a_target_a_configuration_routes():
    given = Config(providers={"here": Provider(profile="ollama")}, server=Server(keys=True))
    made = config_for(config=given)
    assert made.providers == given.providers
    assert not made.server.keys


def test_a_file(tmp_path):
    file = tmp_path / "toolglot.toml"
    file.write_text('[providers.work]\nprofile = "openai"\napi_key = "env:WORK_KEY"\n')
    made = config_for("work/gpt-5.4", config=file, environ={"WORK_KEY": "key"})
    assert made.providers["work"].profile == "openai"


def test_a_server_of_ones_own_needs_no_key():
    assert config_for("ollama/qwen3:8b", environ={}).providers["ollama"].profile == "ollama"
    made = config_for(
        "here/qwen3", base_url="http://127.0.0.1:9/v1", protocol="openai-chat", environ={}
    )
    assert made.providers["here"].base_url == "http://127.0.0.1:9/v1"


def test_a_key_and_an_address_that_are_given():
    made = config_for("openai/gpt-5.4", api_key="key", base_url="http://127.0.0.1:9/v1", environ={})
    given = made.providers["openai"]
    assert (given.profile, given.api_key, given.base_url) == (
        "openai", "key", "http://127.0.0.1:9/v1",
    )  # fmt: skip


WRONG = {
    "no key": ("openai/gpt-5.4", {}, "set OPENAI_API_KEY, or give api_key"),
    "no such provider": ("opanai/gpt-5.4", {}, "no provider is called so; give its base_url"),
    "no such vendor": ("my-model", {}, "name the provider too, such as openai/my-model"),
    "none": ((), {}, "expected at least one model"),
    "a key without a model": (None, {"api_key": "key"}, "api_key: give a model too"),
    "a key for two": (["openai/a", "groq/b"], {"api_key": "key"}, "api_key: give a config"),
    "no protocol": ("here/m", {"base_url": "http://127.0.0.1:9/v1"}, "here: give its protocol"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(case):
    model, options, words = WRONG[case]
    with pytest.raises(ConfigError, match=words):
        config_for(model, environ={}, **options)
