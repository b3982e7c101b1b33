"""What a document is, by its looks."""

from pathlib import Path

import pytest

from toolglot.cli.input_kind import check_input, check_stream, explain_failure, recognise
from toolglot.errors import DecodeError
from toolglot.registry import PROTOCOLS

FIXTURES = Path(__file__).parents[1] / "fixtures"
KINDS = {"request": "*.request.json", "response": "*.response.json", "stream": "*.stream.txt"}
ALL = [
    (protocol, kind, file)
    for protocol in PROTOCOLS
    for kind, pattern in KINDS.items()
    for file in sorted((FIXTURES / protocol).glob(pattern))
]


@pytest.mark.parametrize(
    ("protocol", "kind", "file"), ALL, ids=[f"{name}-{file.name}" for name, _, file in ALL]
)
def test_a_document_is_what_it_is(protocol, kind, file):
    found = recognise(file.read_bytes())
    similar = {"stream": ("response", "error")}.get(kind, ())  # A stream may be one line of JSON.
    assert found is None or found.kind == kind or found.kind in similar
    if kind != "stream":
        check_input(file.read_bytes(), kind, protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", KINDS)
def test_most_are_recognised(protocol, kind):
    files = [file for name, what, file in ALL if (name, what) == (protocol, kind)]
    found = [recognise(file.read_bytes()) for file in files]
    right = [each for each in found if each is not None and protocol in each.protocols]
    assert len(right) >= 0.8 * len(files)


REQUEST = b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'
ANSWER = (
    b'{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant"}}]}'
)
WRONG = {
    "a request as a response": (REQUEST, "response", "this looks like a request, not like a resp"),
    "a response as a request": (
        ANSWER, "request",
        "looks like a response of openai-chat, .*: give --what response and --from openai-chat",
    ),
    "a stream as a request": (b'data: {"x":1}\n\n', "request", "a stream, .* --what stream"),
    "an empty response as a request": (
        b'{"choices": []}', "request", "looks like a response of openai-chat",
    ),
    "nothing": (b" \n", "request", "the input is empty"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_kind_is_an_error_that_says_what_to_do(case):
    data, what, words = WRONG[case]
    with pytest.raises(DecodeError, match=words):
        check_input(data, what, "anthropic")


def test_a_request_is_no_stream():
    with pytest.raises(DecodeError, match="not like a stream: leave out --what"):
        check_stream(REQUEST)
    check_stream(b'{"model":"m","message":{"role":"assistant","content":"a"},"done":false}')


TOOL = b'[{"name":"f","input_schema":{"type":"object"}}]'


def test_why_a_document_cannot_be_read():
    body = REQUEST[:-1] + b',"tools":' + TOOL + b"}"
    assert explain_failure(body, "request", "openai-chat").endswith("give --from anthropic")
    assert explain_failure(b'{"a":1}\n{"a":2}\n', "request", "anthropic").startswith(
        "; there are sev"
    )
    assert explain_failure(b"[]", "request", "anthropic") == ""


def test_marks_of_an_editor_do_no_harm():
    assert recognise(b"\xef\xbb\xbf" + REQUEST).kind == "request"
