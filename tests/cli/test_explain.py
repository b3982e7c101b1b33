"""`toolglot explain`: a receipt for a person, for every kind of document."""

import json

import pytest
from tests.laws.corpus import FIXTURES, NAMES

from toolglot.receipt import CATALOGUE
from toolglot.translate import translate_request

ASK = {
    "model": "claude-sonnet-5",
    "max_tokens": 64,
    "top_k": 4,
    "messages": [{"role": "user", "content": "hi"}],
    "x_new": 1,
    "y_new": 2,
}


def test_notes_are_grouped_by_code_gravest_first(cli):
    done = cli(
        "explain", "--from", "anthropic", "--to", "openai-responses", data=json.dumps(ASK).encode()
    )
    _, receipt = translate_request(ASK, source="anthropic", target="openai-responses")
    text = done.out.decode()
    assert (done.code, done.err) == (0, "")
    first, *_ = text.splitlines()
    assert first.startswith("anthropic to openai-responses: 3 unsupported")
    assert text.index("unsupported: field-unknown: ") < text.index("info: ")
    assert "    x_new\n    y_new\n" in text
    assert text.count("unsupported: field-unknown: ") == 1
    for note in receipt:
        assert note.code in text
        assert note.path in text
        assert " ".join(CATALOGUE[note.code].meaning.split()[:3]) in text
    assert "top_k: openai-responses has no top_k" in text
    assert max(map(len, text.splitlines())) <= 80


def test_nothing_to_explain(cli):
    done = cli("explain", "--from", "anthropic", "--to", "anthropic", data=json.dumps(ASK).encode())
    assert done.out == b"anthropic to anthropic: nothing would change\n"


@pytest.mark.parametrize("target", [name for name in NAMES if name != "openai-chat"])
@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("response", "text.response.json"),
        ("error", "rate_limit.error.json"),
        ("stream", "two-choices.stream.txt"),
    ],
)
def test_other_documents_are_explained_too(cli, target, what, name):
    folder = FIXTURES / "openai-chat"
    found = folder / name if (folder / name).exists() else min(folder.glob(f"*.{what}.json"))
    data = found.read_bytes()
    if what == "error":
        data = json.dumps(json.loads(data).get("body", json.loads(data))).encode()
    done = cli("explain", "--from", "openai-chat", "--to", target, "--what", what, data=data)
    assert done.code == 0
    assert done.out.startswith(f"openai-chat to {target}: ".encode())
    if what == "stream" and target == "anthropic":
        assert b"lossy: choices-dropped: " in done.out


def test_a_receipt_keeps_to_the_width_that_there_is(cli):
    file = str(FIXTURES / "openai-chat" / "two-choices.stream.txt")
    argv = ("explain", "--from", "openai-chat", "--to", "ollama", "--what", "stream", file)
    assert max(map(len, cli(*argv, columns=60).out.decode().splitlines())) <= 60
