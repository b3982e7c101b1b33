"""Content parts of OpenAI Chat Completions."""

from tests.protocols.openai_chat.helpers import (
    ask,
    codes,
    decode,
    encode,
    fixture,
    foreign,
    results,
)

from toolglot.context import Context
from toolglot.ir import (
    Audio,
    Document,
    FileRef,
    Image,
    Inline,
    Opaque,
    PlainText,
    Refusal,
    Remote,
    Text,
)


def test_media_sources():
    parts = decode(fixture("request", "media")).messages[0].parts
    assert parts[1] == Image(source=Remote(url="https://pictures.example/heron.jpg"), detail="high")
    assert parts[2].source.media_type == "image/png"
    assert parts[3].source == Inline(media_type="audio/wav", data="UklGRiQAAABXQVZF")
    assert parts[4].source.media_type == "audio/mp3"
    assert parts[5] == Document(
        source=Inline(media_type="application/pdf", data="JVBERi0xLjcK"), name="survey.pdf"
    )
    assert parts[6].source == FileRef(id="file-8kd02", issuer="openai-chat")
    assert parts[7].source == Inline(media_type="application/pdf", data="JVBERi0xLjQK")


def test_odd_media_keep_their_spelling():
    content = [
        {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mpeg"}},
        {"type": "file", "file": {"file_data": "https://f.example/a.pdf"}},
        {"type": "file", "file": {"file_data": "data:;base64,AA=="}},
        {"type": "file", "file": {"filename": "empty"}},
        {"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}},
    ]
    body = ask({"role": "user", "content": content})
    assert encode(decode(body)) == body


def test_foreign_media():
    ctx = foreign()
    parts = (
        Audio(source=Inline(media_type="audio/mpeg", data="AA==")),
        Document(source=Inline(media_type="", data="AA==")),
        Document(source=Inline(media_type="text/csv", data="AA=="), name="t.csv"),
        Document(source=FileRef(id="f", issuer="elsewhere")),
        Document(source=PlainText(text="t")),
        Image(source=FileRef(id="f", issuer="openai-chat")),
        Audio(source=Remote(url="https://a.example")),
        Refusal(text="no"),
    )
    content = encode(results(*parts), ctx)["messages"][0]["content"]
    assert content[0]["input_audio"]["format"] == "mp3"
    assert content[1]["file"] == {
        "file_data": "data:application/pdf;base64,AA==",
        "filename": "document.pdf",
    }
    assert content[2]["file"]["filename"] == "t.csv"
    assert content[3:] == [{"type": "text", "text": "no"}]
    codes = {"default-added": 1, "part-dropped": 4, "value-respelled": 1}
    assert ctx.receipt().codes() == codes


def test_an_image_given_as_a_bare_url_is_read():
    ctx = Context()
    content = [{"type": "image_url", "image_url": "https://i.example/a.png"}]
    body = encode(decode(ask({"role": "user", "content": content}), ctx))
    assert body["messages"][0]["content"] == content
    assert codes(ctx) == ["spelling-normalised"]


def test_parts_of_others_are_not_carried():
    ctx = foreign()
    opaque = Opaque(protocol="elsewhere", type="x", value={})
    body = encode(results(Text(text="t"), opaque), ctx)
    assert body["messages"][0]["content"] == [{"type": "text", "text": "t"}]
    assert codes(ctx) == ["part-dropped"]
    assert encode(results(), foreign())["messages"] == [{"role": "user", "content": ""}]
