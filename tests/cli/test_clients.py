"""The table of clients, and its rows filled in."""

import json
import tomllib

import pytest

from toolglot.cli.clients import CLIENTS, launch, written
from toolglot.registry import PROTOCOLS

ROWS = [(client, protocol) for client in CLIENTS.values() for protocol in client.setups]
WHERE = {"url": "http://127.0.0.1:1234/", "key": "tg-key", "folder": "/run/folder"}


def fill(name, protocol=None, *, model="some/model", **changes):
    client = CLIENTS[name]
    return launch(
        client, protocol or next(iter(client.setups)), **{**WHERE, **changes}, model=model
    )


@pytest.mark.parametrize(("client", "protocol"), ROWS)
def test_every_row_says_address_key_and_model(client, protocol):
    filled = launch(client, protocol, **WHERE, model="some/model")
    files = [file.content for file in filled.files.values()]
    said = json.dumps([filled.environment, filled.arguments, files])
    assert protocol in PROTOCOLS
    assert "http://127.0.0.1:1234" in said
    assert "1234//" not in said
    assert "tg-key" in said
    assert "some/model" in said
    assert "$" not in said


@pytest.mark.parametrize(("client", "protocol"), ROWS)
def test_without_a_model_nothing_is_said_of_one(client, protocol):
    filled = launch(client, protocol, **WHERE, model=None)
    assert "$" not in json.dumps([filled.environment, filled.arguments])
    assert "model=" not in " ".join(filled.arguments)
    assert not [name for name in filled.environment if name.endswith("_MODEL")]


def test_without_a_folder_nothing_points_into_it():
    assert "GEMINI_CLI_HOME" in fill("gemini").environment
    assert "GEMINI_CLI_HOME" not in fill("gemini", folder=None).environment


def test_a_key_for_the_provider_is_kept_from_the_gateway():
    assert fill("claude").environment["ANTHROPIC_API_KEY"] == ""


def test_codex_is_told_in_toml():
    said = [each.removeprefix("-c=") for each in fill("codex", model='odd "name"').arguments]
    address = next(each for each in said if ".base_url" in each)
    assert tomllib.loads(address)["model_providers"]["toolglot"]["base_url"].endswith("/v1")


@pytest.mark.parametrize("protocol", CLIENTS["opencode"].setups)
def test_opencode_is_told_in_json(protocol):
    config = json.loads(fill("opencode", protocol).environment["OPENCODE_CONFIG_CONTENT"])
    provider = config["provider"]["toolglot"]
    assert config["model"] == "toolglot/some/model"
    assert provider["options"] == {"baseURL": "http://127.0.0.1:1234/v1", "apiKey": "tg-key"}
    assert list(provider["models"]) == ["some/model"]


def settings(tmp_path, text=None):
    if text is not None:
        (tmp_path / ".gemini").mkdir()
        (tmp_path / ".gemini/settings.json").write_text(text)
    return json.loads(written(fill("gemini").files[".gemini/settings.json"], tmp_path))


OURS = {"security": {"auth": {"selectedType": "gemini-api-key"}}}


def test_settings_of_the_user_are_kept_but_for_ours(tmp_path):
    own = {"ui": {"theme": "GitHub"}, "security": {"auth": {"selectedType": "oauth"}, "x": 1}}
    text = json.dumps(own)
    assert settings(tmp_path, text) == {"ui": own["ui"], "security": {**OURS["security"], "x": 1}}
    assert (tmp_path / ".gemini/settings.json").read_text() == text


@pytest.mark.parametrize("text", [None, "// a comment\n{}", "[]", "\xff"])
def test_settings_that_cannot_be_read_are_left_out(tmp_path, text):
    assert settings(tmp_path, text) == OURS


def test_how_to_install():
    assert CLIENTS["codex"].install == "npm install -g @openai/codex"


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)
def test_every_row_says_what_was_tried(client):
    assert client.version
    assert client.tried
    assert client.install.endswith(client.package)


def test_text_and_lists_are_files_too(tmp_path):
    files = fill("llm").files
    assert written(files["llm/default_model.txt"], tmp_path) == b"some/model"
    [model] = json.loads(written(files["llm/extra-openai-models.yaml"], tmp_path))
    assert model["api_base"] == "http://127.0.0.1:1234/v1"


def test_models_and_settings_of_pi_are_kept(tmp_path):
    own = tmp_path / ".pi" / "agent"
    own.mkdir(parents=True)
    (own / "models.json").write_text('{"providers": {"mine": {"baseUrl": "http://mine"}}}')
    (own / "settings.json").write_text('{"theme": "dark"}')
    files = fill("pi").files
    models = json.loads(written(files["pi/models.json"], tmp_path))
    assert set(models["providers"]) == {"mine", "toolglot"}
    assert json.loads(written(files["pi/settings.json"], tmp_path)) == {"theme": "dark"}


def test_a_client_that_is_called_otherwise():
    assert CLIENTS["continue"].command == "cn"
    assert CLIENTS["aider"].install == "pipx install aider-chat"
