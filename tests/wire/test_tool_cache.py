"""Tools in words that were read before are worked on once, and spoken of every time."""

import gc
import weakref

import pytest

from toolglot.context import Context, Options
from toolglot.errors import DecodeError
from toolglot.wire import jsontext
from toolglot.wire.tool_cache import by_text, read_known, recall

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
        BODY.replace(b"depth", b"\\u003chtml\\u003e"),
    ],
    ids=["spaces", "escapes", "html"],
)
def test_tools_in_any_spelling_become_known(body):
    one, two = Context(), Context()
    assert read_known(body, one) == jsontext.decode(body)
    assert read_known(body, two)["tools"] is one.known is two.known is not None


@pytest.mark.parametrize(
    "body",
    [
        BODY.replace(b"depth", b"\\ud800"),
        BODY.replace(b"depth", b"\\u003a"),
        BODY.replace(b"depth", b"d" * 300_000),
        b'{"model":"m"}',
    ],
    ids=["surrogate", "escaped colon", "long", "none"],
)
def test_what_needs_care_is_read_but_not_known(body):
    ctx = Context()
    assert read_known(body, ctx) == jsontext.decode(body)
    assert ctx.known is None


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (BODY.replace(b'"why"', b'"name"'), "tools[0].name"),
        (BODY.replace(b'"messages"', b'"tools"'), "tools"),
        (BODY.replace(b'"messages"', b'"model"'), "model"),
        (BODY.replace(b"[1]", b'[{"a":1, "a":2}]'), "messages[0].a"),
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


# --- one schema -----------------------------------------------------------------------------------


def counting():
    seen = []

    @by_text
    def keys(schema, suffix=""):
        """The keys of a schema."""
        seen.append(schema)
        return schema, tuple(key + suffix for key in schema)

    return keys, seen


def test_equal_schemas_are_worked_out_once():
    keys, seen = counting()
    one, two = {"a": 1, "b": 2}, {"a": 1, "b": 2}
    assert keys(one, Context())[1] == keys(two, Context())[1] == ("a", "b")
    assert keys(one, Context())[0] is one, "a schema that stays is the caller's own"
    assert len(seen) == 1


def test_order_and_further_arguments_count():
    keys, seen = counting()
    assert keys({"b": 2, "a": 1}, Context())[1] == ("b", "a")
    assert keys({"a": 1, "b": 2}, Context())[1] == ("a", "b")
    assert keys({"a": 1, "b": 2}, Context(), "!")[1] == ("a!", "b!")
    assert len(seen) == 3


def test_the_function_never_sees_the_callers_object():
    keys, seen = counting()
    schema = {"a": {"b": 1}}
    keys(schema, Context())
    assert seen[0] == schema
    assert seen[0]["a"] is not schema["a"]


def test_a_schema_too_deep_for_text_is_worked_out_all_the_same():
    keys, seen = counting()
    schema: dict = {}
    for _ in range(20_000):
        schema = {"items": schema}
    assert keys(schema, Context())[1] == ("items",)
    assert len(seen) == 1
    while schema:
        schema = schema.pop("items")


def test_the_name_and_words_stay():
    keys, _ = counting()
    assert (keys.__name__, keys.__doc__) == ("keys", "The keys of a schema.")


def test_whoever_gets_another_schema_may_change_it():
    @by_text
    def closed(schema):
        return {**schema, "additionalProperties": False}, None

    first, _ = closed({"properties": {}}, Context())
    first["properties"]["new"] = {}
    assert closed({"properties": {}}, Context())[0] == {
        "properties": {},
        "additionalProperties": False,
    }


def test_the_text_of_a_schema_is_written_once_in_a_request(monkeypatch):
    written = []
    encode = jsontext.encode
    monkeypatch.setattr(jsontext, "encode", lambda value: written.append(value) or encode(value))
    one, _ = counting()
    other, _ = counting()

    @by_text
    def closed(schema):
        return {**schema, "additionalProperties": False}, None

    ctx, schema = Context(), {"written": "once"}
    one(schema, ctx)
    other(schema, ctx)
    assert written == [schema]
    made, _ = closed(schema, ctx)
    other(made, ctx)
    assert written == [schema, made], "its text is known, since it was made of one"
