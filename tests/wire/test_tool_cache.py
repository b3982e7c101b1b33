"""Tools in words that were read before are worked on once, and spoken of every time."""

import gc
import weakref

import pytest

from toolglot.context import Context, Options
from toolglot.errors import DecodeError
from toolglot.wire import jsontext
from toolglot.wire.tool_cache import read_known, recall

TOOLS = [{"name": "sound", "why": "the depth"}]
BODY = jsontext.encode({"model": "m", "tools": TOOLS, "messages": [1]})


class Work:
    """Counts how often it is done."""

    def __init__(self):
        self.times = 0

    def __call__(self, tools, ctx):
        self.times += 1
        ctx.note("tool-dropped", "tools[0]", ctx.options.model or "")
        ctx.tool_paths = ("tools[1]",)
        return tuple(each["name"] for each in tools)


def test_the_same_words_are_the_same_object():
    one, two = Context(), Context()
    first = read_known(BODY, one)
    second = read_known(BODY.replace(b"[1]", b"[1,2]"), two)
    assert first == {"model": "m", "tools": TOOLS, "messages": [1]}
    assert second["messages"] == [1, 2]
    assert first["tools"] is second["tools"] is one.known is two.known


@pytest.mark.parametrize(
    "body",
    [
        BODY.replace(b":", b": "),
        BODY.replace(b"depth", b"\\u0064epth"),
        BODY.replace(b"depth", b"\\ud800"),
        BODY.replace(b"depth", b"d" * 300_000),
        b'{"model":"m"}',
    ],
    ids=["spaces", "escapes", "surrogate", "long", "none"],
)
def test_what_is_written_otherwise_is_read_but_not_known(body):
    ctx = Context()
    assert read_known(body, ctx) == jsontext.decode(body)
    assert ctx.known is None


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (BODY.replace(b'"why"', b'"name"'), "tools[0].name"),
        (BODY.replace(b'"messages"', b'"tools"'), "tools"),
        (BODY.replace(b'"messages"', b'"model"'), "model"),
        (b"{", ""),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_path(body, path):
    with pytest.raises(DecodeError) as caught:
        read_known(body, Context())
    assert caught.value.path == path


def test_work_is_done_once_and_told_every_time():
    work = Work()
    for _ in range(3):
        ctx = Context()
        tools = read_known(BODY, ctx)["tools"]
        assert recall(work, tools, ctx) == ("sound",)
        assert [note.code for note in ctx.notes()] == ["tool-dropped"]
        assert ctx.tool_paths == ("tools[1]",)
        assert ctx.known == ("sound",)
    assert work.times == 1


def test_other_options_are_other_work():
    work = Work()
    for model in ("a", "b", "a"):
        ctx = Context(Options(model=model))
        recall(work, read_known(BODY, ctx)["tools"], ctx)
        assert next(note.message for note in ctx.notes()).startswith(model)
    assert work.times == 2


def test_tools_of_the_callers_own_are_worked_on_anew():
    work, tools = Work(), [{"name": "log"}]
    ctx = Context()
    assert recall(work, tools, ctx) == ("log",)
    tools[0]["name"] = "chart"
    assert recall(work, tools, ctx) == ("chart",)
    assert ctx.known is None


def test_no_request_stays_alive():
    class Kept(Context):
        pass

    ctx = Kept()
    recall(Work(), read_known(BODY, ctx)["tools"], ctx)
    gone = weakref.ref(ctx)
    del ctx
    gc.collect()
    assert gone() is None
