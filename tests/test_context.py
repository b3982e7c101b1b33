"""The context: ids, time, notes, and what could not cross over."""

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wires import pair

import toolglot
from toolglot import get_protocol
from toolglot.context import Context, Options
from toolglot.errors import UntranslatableError
from toolglot.receipt import CATALOGUE
from toolglot.surface import MediaSupport, MessageSupport, Surface

A = Surface(
    name="a",
    path="/a",
    settings={"max_tokens": "options.limit"},
    messages=MessageSupport(
        path="contents",
        content="parts",
    ),
    media=MediaSupport(
        accepted={},
    ),
)
B = Surface(
    name="b",
    path="/b",
    settings={},
    messages=MessageSupport(
        path="messages",
    ),
    media=MediaSupport(
        accepted={},
    ),
)


class Place:
    """Something that knows where it is."""

    def __init__(self, path):
        self._path = path

    def path(self, key=""):
        return f"{self._path}.{key}" if key else self._path


# --- ids and time -------------------------------------------------------------------------------


@given(st.binary(max_size=20), st.integers(1, 20))
def test_equal_seeds_give_equal_ids(seed, count):
    one, other = Context(seed=seed), Context(seed=lambda: seed)
    assert [one.new_id("x_") for _ in range(count)] == [other.new_id("x_") for _ in range(count)]


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_other_seeds_give_other_ids(one, other):
    same = Context(seed=one).new_id("") == Context(seed=other).new_id("")
    assert same is (one == other)


def test_ids_are_new_each_time():
    ctx = Context(seed=b"x")
    ids = [ctx.new_id("call_") for _ in range(10_000)]
    assert len(set(ids)) == len(ids)


def test_an_id_is_a_prefix_and_letters_that_every_protocol_takes():
    made = Context(seed=b"x").new_id("toolu_")
    assert made.startswith("toolu_")
    assert made[6:].isalnum()
    assert made.isascii()
    assert len(made) == 6 + 24


def test_a_seed_is_computed_once_and_only_when_needed():
    asked = []

    def seed():
        asked.append(1)
        return b"x"

    ctx = Context(seed=seed)
    assert asked == []
    ctx.new_id("")
    ctx.new_id("")
    assert asked == [1]


def test_the_first_piece_of_a_stream_is_the_seed_unless_there_is_one():
    def first(ctx, *pieces):
        for piece in pieces:
            ctx.begin(piece)
        return ctx.new_id("")

    assert first(Context(), b"x") == Context(seed=b"x").new_id("")
    assert first(Context(), b"x", b"y") == Context(seed=b"x").new_id("")
    assert first(Context(seed=b"s"), b"x") == Context(seed=b"s").new_id("")
    assert first(Context(seed=lambda: b"s"), b"x") == Context(seed=b"s").new_id("")


def test_the_time_is_what_the_caller_says():
    assert Context(now=1_700_000_000).now() == 1_700_000_000
    assert Context().now() == 0


def test_the_defaults_are_faithful():
    options = Context().options
    assert options == Options()
    assert options.strict is False
    assert options.model is None


# --- places -------------------------------------------------------------------------------------


def test_paths_are_those_of_the_source():
    ctx = Context(source=A, target=B)
    assert ctx.at(2) == "contents[2]"
    assert ctx.at(2, 0) == "contents[2].parts[0]"
    assert ctx.at(2, 0, "text") == "contents[2].parts[0].text"
    assert ctx.at(2, key="role") == "contents[2].role"
    assert ctx.setting("max_tokens") == "options.limit"
    assert ctx.setting("seed") == "seed"


def test_without_a_source_there_are_no_places():
    assert Context().at(2, 1, "text") == ""
    assert Context().setting("max_tokens") == "max_tokens"


@pytest.mark.parametrize(("source", "foreign"), [(None, False), (A, False), (B, True)])
def test_foreign_is_what_came_from_another_protocol(source, foreign):
    assert Context(source=source).foreign("a") is foreign


# --- notes --------------------------------------------------------------------------------------


def test_a_note_has_the_severity_and_words_of_its_code():
    ctx = Context()
    ctx.note("stop-mapped", "stop")
    ctx.note("stop-mapped", "stop", "pause became end")
    ctx.note("stop-mapped", "stop", severity="info")
    first, second, third = ctx.receipt()
    assert (first.severity, first.message) == ("lossy", CATALOGUE["stop-mapped"].meaning)
    assert (second.severity, second.message) == ("lossy", "pause became end")
    assert (third.severity, third.message) == ("info", CATALOGUE["stop-mapped"].meaning)


def test_codes_of_others_need_a_message():
    """S3-39: passes of users have notes of their own; a code without a meaning is a mistake."""
    ctx = Context(Options(strict=True))
    ctx.note("my-rule", "model", "another model")
    [note] = ctx.notes()
    assert str(note) == "info: my-rule at model: another model"
    ctx.note("my-loss", "tools", "half of it", "lossy")
    with pytest.raises(UntranslatableError, match="half of it"):
        ctx.receipt()
    with pytest.raises(ValueError, match="'something-new' is not in the catalogue"):
        Context().note("something-new", "")


def test_strict_refuses_what_loses_meaning():
    ctx = Context(Options(strict=True))
    ctx.note("id-made", "")
    assert len(ctx.receipt()) == 1
    ctx.note("stop-mapped", "stop", "no such stop")
    ctx.note("field-dropped", "seed")
    with pytest.raises(UntranslatableError, match=r"^stop: no such stop \(and 1 more\)$") as caught:
        ctx.receipt()
    assert [note.code for note in caught.value.notes] == ["stop-mapped", "field-dropped"]


def test_strict_lets_equivalent_changes_pass():
    ctx = Context(Options(strict=True), source=A, target=B)
    ctx.note("stop-mapped", "stop", severity="info")
    ctx.leave(Place("x"), frozenset({"id"}), {"id": 1})
    assert ctx.receipt().counts() == {"info": 2, "lossy": 0, "unsupported": 0}


def test_strict_refuses_leftovers():
    ctx = Context(Options(strict=True), source=A, target=B)
    ctx.leave(Place("x"), frozenset(), {"new": 1})
    with pytest.raises(UntranslatableError, match=r"^x\.new: "):
        ctx.receipt()


# --- leftovers ----------------------------------------------------------------------------------


def leftovers(rest, minor=frozenset(), source=A, target=B):
    ctx = Context(source=source, target=target)
    ctx.leave(Place("messages[0]"), minor, rest)
    return [(note.code, note.severity, note.path) for note in ctx.receipt()]


def test_each_field_that_could_not_cross_over_is_noted():
    assert leftovers({"new": 1, "id": "x"}, frozenset({"id"})) == [
        ("field-unknown", "unsupported", "messages[0].new"),
        ("field-minor", "info", "messages[0].id"),
    ]


@pytest.mark.parametrize("value", [None, {}, []])
def test_what_says_nothing_needs_no_note(value):
    assert leftovers({"k": value}) == []


@pytest.mark.parametrize("value", [0, False, "", 0.0, [None], {"x": None}, [[]]])
def test_what_says_something_is_noted(value):
    assert leftovers({"k": value}) == [("field-unknown", "unsupported", "messages[0].k")]


@pytest.mark.parametrize(("source", "target"), [(A, A), (None, None)])
def test_within_one_protocol_everything_crosses_over(source, target):
    assert leftovers({"k": 1}, source=source, target=target) == []


def test_leftovers_come_before_notes_and_only_once_per_receipt():
    ctx = Context(source=A, target=B)
    ctx.note("id-made", "x")
    ctx.leave(Place("p"), frozenset(), {"k": 1})
    assert ctx.receipt().codes() == {"field-unknown": 1, "id-made": 1}
    assert list(ctx.receipt().codes()) == ["field-unknown", "id-made"]
    assert ctx.receipt() == ctx.receipt()


def test_a_translation_leaves_no_garbage_in_circles():
    """A circle would keep whole requests alive until the collector finds them."""
    body = {"model": "m", "max_tokens": 1, "messages": [], "x": {"y": [1]}, "top_k": 3}
    toolglot.translate_request(body, source="anthropic", target="openai-chat")
    gc.collect()
    gc.disable()
    try:
        toolglot.translate_request(body, source="anthropic", target="openai-chat")
        assert gc.collect() == 0
    finally:
        gc.enable()


# --- surfaces


def test_both_surfaces():
    ctx = pair("ollama", "gemini")
    assert ctx.surfaces == (
        get_protocol("ollama").SURFACE,
        get_protocol("gemini").SURFACE,
    )


@pytest.mark.parametrize("known", ["source", "target", None])
def test_adapting_needs_both(known):
    found = {known: get_protocol("gemini").SURFACE} if known else {}
    with pytest.raises(ValueError, match="a source and a target"):
        _ = Context(**found).surfaces


def test_text_tells_functions_and_nothing_else():
    source, target = (get_protocol(name).SURFACE for name in ("anthropic", "openai-responses"))
    ctx = Context(Options(tools="emulated"), source=source, target=target)
    assert ctx.tool_surfaces[1].tools.kinds == {"function"}
    assert ctx.tool_surfaces[1].name != target.name
    assert Context(source=source, target=target).tool_surfaces == (source, target)


def test_the_dialect_of_an_emulation():
    found = [
        Options(tools=how).emulated_dialect for how in ("native", "emulated", "emulated:react")
    ]
    assert found == [None, "hermes", "react"]
