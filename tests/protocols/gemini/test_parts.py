"""Content parts of Gemini."""

import pytest
from tests.protocols.gemini.helpers import codes, decode, encode, foreign, load, said

from toolglot.ir import (
    Audio,
    Citation,
    CustomTool,
    Document,
    FileRef,
    FunctionTool,
    Image,
    Inline,
    Opaque,
    PlainText,
    ProviderTool,
    Reasoning,
    Refusal,
    Remote,
    Text,
    ToolResult,
)


def test_media():
    parts = decode(load("request", "media")).messages[0].parts
    assert [type(part) for part in parts] == [
        Text,
        Image,
        Image,
        Audio,
        Document,
        Document,
        Image,
        Audio,
        Document,
        Image,
        Document,
        Opaque,
    ]
    assert parts[4].name == "lease.pdf"
    assert parts[6].source == Remote(
        url="https://example.org/pictures/heron.jpg", media_type="image/jpeg"
    )
    assert isinstance(parts[8].source, FileRef)
    assert parts[10].source == Remote(url="https://www.youtube.com/watch?v=abc123def45")


@pytest.mark.parametrize(
    ("part", "wire"),
    [
        (
            Image(source=Inline(media_type="", data="aGk=")),
            {"inlineData": {"mimeType": "image/jpeg", "data": "aGk="}},
        ),
        (
            Image(source=Remote(url="https://e.org/x")),
            {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://e.org/x"}},
        ),
        (
            Audio(source=Remote(url="https://e.org/x.WAV")),
            {"fileData": {"mimeType": "audio/wav", "fileUri": "https://e.org/x.WAV"}},
        ),
        (
            Document(source=Remote(url="https://e.org/x")),
            {"fileData": {"mimeType": "application/pdf", "fileUri": "https://e.org/x"}},
        ),
        (
            Document(source=PlainText(text="hi"), name="n.txt"),
            {"inlineData": {"mimeType": "text/plain", "data": "aGk=", "displayName": "n.txt"}},
        ),
        (Refusal(text="no"), {"text": "no"}),
        (Reasoning(summary=("a", "b")), {"text": "a\n\nb", "thought": True}),
    ],
)
def test_foreign_parts(part, wire):
    assert encode(said(part), foreign())["contents"][0]["parts"] == [wire]


@pytest.mark.parametrize(
    ("wire", "usual"), [("-_8=", "+/8="), ("+/8=", "+/8="), ("aGk=", "aGk="), ("-/8=", "-/8=")]
)
def test_base64_in_the_alphabet_for_urls(wire, usual):
    """Google's Python SDK writes it; other protocols do not take it."""
    body = {"parts": [{"inlineData": {"mimeType": "image/png", "data": wire}}], "role": "user"}
    request = decode({"contents": [body]})
    (part,) = request.messages[0].parts
    assert part.source == Inline(media_type="image/png", data=usual)
    assert encode(request)["contents"] == [body]


def test_what_cannot_be_said_is_noted_not_raised():
    ctx = foreign()
    request = said(
        Image(source=FileRef(id="file-1", issuer="elsewhere")),
        Opaque(protocol="elsewhere", type="x", value={}),
        ToolResult(id="a", parts=(Refusal(text="no"),), name="f"),
        Text(text="t", citations=(Citation(url="https://e.org"),)),
        tools=(
            CustomTool(name="c"),
            ProviderTool(protocol="elsewhere", type="y", value={"y": 1}),
            FunctionTool(name="f"),
            ProviderTool(protocol="gemini", type="urlContext", value={"urlContext": {}}),
        ),
    )
    body = encode(request, ctx)
    assert body["contents"][0]["parts"] == [
        {"functionResponse": {"id": "a", "name": "f", "response": {"output": ""}}},
        {"text": "t"},
    ]
    assert body["tools"] == [{"functionDeclarations": [{"name": "f"}]}, {"urlContext": {}}]
    assert codes(ctx) == [
        "part-dropped",
        "part-dropped",
        "part-dropped",
        "citation-dropped",
        "tool-dropped",
        "tool-dropped",
    ]
    ctx = foreign()
    assert encode(said(Text(text="be good"), role="system"), ctx)["contents"][0]["role"] == "user"
    assert codes(ctx) == ["role-changed"]


def test_extras_of_others_are_not_written():
    part = Text(text="t", extras={"elsewhere": {"x": 1}})
    assert encode(said(part, extras={"elsewhere": {"y": 2}})) == {
        "contents": [{"role": "user", "parts": [{"text": "t"}]}]
    }
