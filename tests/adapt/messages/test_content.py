"""Parts of messages: media, cache marks, citations, what only one protocol understands."""

import pytest
from msgspec.structs import replace
from tests.wires import asking, assistant, call, pair, result, user, words

from toolglot import get_protocol, ir
from toolglot.adapt.messages.content import accepts, adapt_content, describe, label
from toolglot.ir import Audio, Document, FileRef, Image, Inline, Opaque, PlainText, Remote, Text
from toolglot.wire.told import text_in

PNG = Image(source=Inline(media_type="image/png", data="aGk="))
HERON = Image(source=Remote(url="https://a.example/heron.png"))
PDF = Document(source=Inline(media_type="application/pdf", data="aGk="), name="tides.pdf")
WAV = Audio(source=Inline(media_type="audio/wav", data="aGk="))
FILE = Document(source=FileRef(id="file-1", issuer="openai-chat"))
NOTES = Document(source=PlainText(text="low water at noon"))


def adapted(request, source, target):
    ctx = pair(source, target)
    return adapt_content(request, ctx), ctx


def notes(ctx):
    return [(note.code, note.path) for note in ctx.receipt()]


def test_what_needs_nothing_is_the_same_request():
    request = asking(user("hi"), assistant(call("f")), user(result("done"), PNG))
    there, ctx = adapted(request, "anthropic", "openai-responses")
    assert there is request
    assert notes(ctx) == []


def test_a_medium_that_the_target_lacks_is_replaced_by_a_text_that_names_it():
    there, ctx = adapted(asking(user("hear", WAV)), "openai-chat", "anthropic")
    assert there.messages[0].parts == (
        Text(text="hear"),
        Text(text="[audio (audio/wav) left out]"),
    )
    assert notes(ctx) == [("part-dropped", "messages[0].content[1]")]


def test_a_text_document_can_always_be_read():
    there, ctx = adapted(asking(user(NOTES)), "anthropic", "openai-chat")
    assert there.messages[0].parts == (Text(text="low water at noon"),)
    assert notes(ctx) == [("part-replaced", "messages[0].content[0]")]


def test_a_file_means_something_to_its_issuer_only():
    there, ctx = adapted(asking(user(FILE)), "openai-chat", "openai-responses")
    assert "file-1" in words(there)
    assert notes(ctx) == [("part-dropped", "messages[0].content[0]")]


def test_a_picture_elsewhere_that_may_not_be_fetched():
    there, ctx = adapted(asking(user(HERON)), "anthropic", "gemini")
    assert there.messages[0].parts == (HERON,)
    assert notes(ctx) == [("media-by-url", "messages[0].content[0]")]


@pytest.mark.parametrize(
    ("part", "target", "field"),
    [
        (replace(PNG, detail="high"), "anthropic", "detail"),
        (replace(PNG, detail="low"), "ollama", "detail"),
    ],
)
def test_what_cannot_be_said_of_a_medium(part, target, field):
    there, ctx = adapted(asking(user(part)), "openai-chat", target)
    assert there.messages[0].parts == (part,)
    assert notes(ctx) == [("field-dropped", f"messages[0].content[0].image_url.{field}")]


def test_media_leave_results_that_cannot_hold_them():
    """D-16: behind all results of the turn, before whatever the user says then."""
    shot = ir.ToolResult(id="call_1", parts=(Text(text="here"), PNG, PDF))
    request = asking(
        user("hi"),
        assistant(call("f", id="call_1"), call("g", id="call_2")),
        user(shot),
        user(result("ok", id="call_2")),
        user("so?"),
    )
    there, ctx = adapted(request, "anthropic", "openai-chat")
    assert there.messages[2].parts == (replace(shot, parts=(Text(text="here"),)),)
    assert there.messages[4].parts == (Text(text="[from the result of call_1]"), PNG, PDF)
    assert there.messages[5] == request.messages[-1]
    assert notes(ctx) == [("part-moved", "messages[2].content[0]")]


def test_media_stand_between_results_and_words_of_one_message():
    shot = ir.ToolResult(id="call_1", parts=(PNG,))
    request = asking(user("hi"), assistant(call("f")), user(shot, "so?"))
    there, _ = adapted(request, "anthropic", "openai-chat")
    result_, where, picture, said = there.messages[-1].parts
    assert words(result_) == "[image (image/png): see below]"
    assert (where, picture) == (Text(text="[from the result of call_1]"), PNG)
    assert said == Text(text="so?")


def test_media_of_a_last_result_are_a_message_of_their_own():
    shot = ir.ToolResult(id="call_1", parts=(PNG,))
    there, _ = adapted(
        asking(user("hi"), assistant(call("f")), user(shot)), "gemini", "openai-chat"
    )
    assert [message.role for message in there.messages] == ["user", "assistant", "user", "user"]
    assert there.messages[-1].parts[-1] == PNG


def test_media_that_fit_nowhere_are_named_in_the_result():
    shot = ir.ToolResult(id="call_1", parts=(PDF,))
    there, ctx = adapted(
        asking(user("hi"), assistant(call("f")), user(shot)), "anthropic", "ollama"
    )
    [given] = there.messages[-1].parts
    assert words(given) == "[document tides.pdf (application/pdf) left out]"
    assert notes(ctx) == [("part-dropped", "messages[2].content[0].content[0]")]


@pytest.mark.parametrize(
    "part",
    [
        Text(text="x", cache=ir.CacheMark()),
        replace(PNG, cache=ir.CacheMark()),
        ir.ToolCall(id="c", name="f", arguments="{}", cache=ir.CacheMark()),
        ir.ToolResult(id="c", parts=(Text(text="x"),), cache=ir.CacheMark(ttl="1h")),
        ir.ToolResult(id="c", parts=(Text(text="x", cache=ir.CacheMark()),)),
    ],
)
def test_cache_marks_go_with_a_note(part):
    there, ctx = adapted(asking(user(part)), "anthropic", "openai-responses")
    assert "CacheMark" not in repr(there.messages)
    assert [code for code, _ in notes(ctx)] == ["cache-dropped"]


def test_citations_go_where_they_cannot_be_shown():
    page = ir.Citation(url="https://a.example")
    book = ir.Citation(title="A book")
    cited = Text(text="x", citations=(page, book))
    there, ctx = adapted(asking(assistant(cited)), "anthropic", "openai-chat")
    assert there.messages[0].parts == (Text(text="x", citations=(page,)),)
    assert [code for code, _ in notes(ctx)] == ["citation-dropped"]
    there, _ = adapted(asking(assistant(cited)), "openai-chat", "ollama")
    assert there.messages[0].parts == (Text(text="x"),)


@pytest.mark.parametrize(("start", "codes"), [(None, ["citation-mapped"]), (0, [])])
def test_quoted_words_are_named_where_the_text_does_not_have_them(start, codes):
    cited = Text(
        text="so", citations=(ir.Citation(url="https://a.example", quote="words", start=start),)
    )
    ctx = adapted(asking(user("hi"), assistant(cited)), "anthropic", "openai-chat")[1]
    assert [code for code, _ in notes(ctx)] == codes


@pytest.mark.parametrize("target", ["anthropic", "openai-responses", "gemini", "ollama"])
def test_names_of_messages_are_noted_where_there_are_none(target):
    ctx = adapted(asking(replace(user("hi"), name="ada")), "openai-chat", target)[1]
    assert notes(ctx) == [("field-dropped", "messages[0].name")]


def test_a_video_elsewhere_is_no_document_that_is_read():
    video = Document(source=Remote(url="https://a.example/v", media_type="video/mp4"))
    request, ctx = adapted(asking(user(video)), "gemini", "anthropic")
    assert notes(ctx) == [("part-dropped", "contents[0].parts[0]")]
    assert words(request.messages[0]) == "[document https://a.example/v left out]"


def test_a_refusal_is_told_as_text():
    refusal = ir.Refusal(text="I won't.")
    there, ctx = adapted(asking(assistant(refusal)), "openai-chat", "anthropic")
    assert there.messages[0].parts == (Text(text="I won't."),)
    assert [code for code, _ in notes(ctx)] == ["part-replaced"]
    there, _ = adapted(asking(assistant(refusal)), "openai-chat", "openai-responses")
    assert there.messages[0].parts == (refusal,)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"text": "a"}, "a"),
        ({"content": [{"text": "a"}, {"x": 1}, {"text": "b"}]}, "a\nb"),
        ({"content": "a"}, "a"),
        ({"data": "a"}, ""),
        (["a", {"text": "b"}], "a\nb"),
        (7, ""),
        (None, ""),
    ],
)
def test_what_can_be_read(value, text):
    assert text_in(value) == text


def test_parts_of_one_protocol_only():
    """case-27"""
    said = Opaque(protocol="openai-responses", type="agent_message", value={"content": "found"})
    mute = Opaque(protocol="openai-responses", type="thing", value={"x": 1})
    there, ctx = adapted(asking(assistant(said, mute)), "openai-responses", "anthropic")
    assert "\n> found\n" in words(there.messages[0])
    assert [code for code, _ in notes(ctx)] == ["part-told", "part-dropped"]
    own = asking(assistant(replace(said, protocol="anthropic")))
    assert adapted(own, "openai-responses", "anthropic")[0] is own


def test_system_text_is_looked_at_too():
    system = ir.Message(role="system", parts=(Text(text="s", cache=ir.CacheMark()), PNG))
    there, ctx = adapted(asking(user("hi"), system=system), "anthropic", "openai-chat")
    assert words(there.system) == "s[image (image/png) left out]"
    assert notes(ctx) == [("cache-dropped", "system[0]"), ("part-dropped", "system[1]")]


def test_made_ids_are_renamed_for_the_call_and_its_result():
    made = ir.ToolCall(id="call_0", name="f", arguments="{}", id_made=True)
    given = result("done", id="call_0", id_made=True)
    there, _ = adapted(asking(user("hi"), assistant(made), user(given)), "ollama", "anthropic")
    assert [message.parts[0].id for message in there.messages[1:]] == ["toolu_0", "toolu_0"]


def test_a_made_up_result_id_does_not_rename_a_given_call():
    request = asking(
        user("hi"), assistant(call("f", id="call_0")), user(result("x", id="call_0", id_made=True))
    )
    there, _ = adapted(request, "ollama", "anthropic")
    assert [message.parts[0].id for message in there.messages[1:]] == ["call_0", "call_0"]


@pytest.mark.parametrize(
    ("part", "name", "told"),
    [
        (PNG, "image.inline", "image (image/png)"),
        (HERON, "image.remote", "image https://a.example/heron.png"),
        (PDF, "document.inline", "document tides.pdf (application/pdf)"),
        (FILE, "document.file", "document file file-1"),
        (NOTES, "document.text", "document (text)"),
        (WAV, "audio.inline", "audio (audio/wav)"),
    ],
)
def test_media_in_words(part, name, told):
    assert label(part) == name
    assert describe(part) == told


def test_who_accepts_what():
    anthropic, chat = (get_protocol(name).SURFACE for name in ("anthropic", "openai-chat"))
    assert accepts(anthropic, "result", PNG)
    assert not accepts(chat, "result", PNG)
    assert accepts(chat, "user", FILE)
    assert not accepts(anthropic, "user", FILE)
    assert not accepts(anthropic, "nowhere", PNG)


# --- media types ----------------------------------------------------------------------------------


def inline(kind, media_type, data="aGVsbG8="):
    return kind(source=Inline(media_type=media_type, data=data))


def test_a_text_file_is_given_as_its_text():
    note = inline(Document, "text/csv; charset=utf-8")
    there, ctx = adapted(asking(user("read", note)), "gemini", "anthropic")
    assert there.messages[0].parts[1] == Document(source=PlainText(text="hello"))
    assert [(each.code, each.severity) for each in ctx.receipt()] == [("part-replaced", "info")]
    there, ctx = adapted(asking(user("read", note)), "gemini", "openai-chat")
    assert there.messages[0].parts[1] == Text(text="hello")


@pytest.mark.parametrize(
    ("part", "target"),
    [
        (inline(Document, "application/msword"), "anthropic"),
        (inline(Document, "video/mp4"), "anthropic"),
        (inline(Document, "video/mp4"), "openai-responses"),
        (inline(Document, "text/plain", data="!"), "anthropic"),
        (inline(Document, "application/msword"), "openai-chat"),
        (inline(Document, "application/msword"), "gemini"),
        (inline(Image, "image/svg+xml"), "anthropic"),
        (inline(Image, "image/gif"), "gemini"),
        (inline(Audio, "audio/ogg"), "openai-chat"),
    ],
)
def test_a_kind_of_file_that_the_target_does_not_read_is_named(part, target):
    source = "openai-responses" if target == "gemini" else "gemini"
    there, ctx = adapted(asking(user(part)), source, target)
    assert there.messages[0].parts == (Text(text=f"[{describe(part)} left out]"),)
    assert [note.code for note in ctx.receipt()] == ["part-dropped"]


@pytest.mark.parametrize(
    ("part", "target"),
    [
        (inline(Document, "application/pdf"), "anthropic"),
        (inline(Document, "application/msword"), "openai-responses"),
        (inline(Document, "video/mp4"), "gemini"),
        (inline(Image, "IMAGE/PNG"), "anthropic"),
        (inline(Image, ""), "anthropic"),
    ],
)
def test_kinds_that_the_target_reads_stay(part, target):
    request = asking(user(part))
    source = "openai-responses" if target == "gemini" else "gemini"
    assert adapted(request, source, target)[0] is request


def test_the_result_of_a_failed_call_is_text_where_that_is_the_rule():
    both = replace(result("no"), parts=(Text(text="no"), PNG))
    called = (user("hi"), assistant(call("f")))
    failed = asking(*called, user(replace(both, is_error=True)))
    there, ctx = adapted(failed, "openai-responses", "anthropic")
    assert there.messages[2].parts[0].parts == (Text(text="no"),)
    assert PNG in there.messages[-1].parts
    assert "part-moved" in {note.code for note in ctx.receipt()}
    fine = asking(*called, user(both))
    assert adapted(fine, "openai-responses", "anthropic")[0] is fine
