"""The command that serves a small model. That it answers is tried in tests/e2e."""

import pytest

from toolglot.gateway import llama_server as local_model


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(local_model, "WEIGHTS", "no-such-package")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_nothing_is_downloaded_unasked(cli, tmp_path):
    done = cli("local-model")
    assert done.code == 1
    assert "`toolglot local-model --prepare` downloads them" in done.err
    assert not list(tmp_path.iterdir())


def test_what_is_prepared_is_named(cli):
    file = local_model.cache_folder() / "a.gguf"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"weights")
    done = cli("local-model", "--prepare")
    assert done.code == 0
    assert done.out.decode().strip() == str(file)


def test_help_shows_an_example(cli):
    assert b"toolglot local-model --port 9100" in cli("local-model", "--help").out
