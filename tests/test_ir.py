"""The interlingua: plain values that compare, cannot be changed and can be written down."""

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot import ir

VALUES = [
    value
    for value in vars(ir).values()
    if isinstance(value, type) and issubclass(value, ir.Value) and value is not ir.Value
]
TEXTS = st.text(max_size=5)
MAYBE = st.none() | TEXTS
FLAGS = st.none() | st.booleans()
COUNTS = st.none() | st.integers(-(2**63), 2**63)
OBJECTS = st.dictionaries(TEXTS, st.none() | st.integers(0, 9) | TEXTS, max_size=2)
EXTRAS = st.dictionaries(st.sampled_from(["a", "b"]), OBJECTS, max_size=2)


def tuples(inner):
    return st.lists(inner, max_size=2).map(tuple)


SOURCES = st.one_of(
    st.builds(ir.Inline, media_type=TEXTS, data=TEXTS),
    st.builds(ir.Remote, url=TEXTS, media_type=MAYBE),
    st.builds(ir.FileRef, id=TEXTS, issuer=TEXTS, media_type=MAYBE),
    st.builds(ir.PlainText, text=TEXTS),
)
MARKS = st.none() | st.builds(ir.CacheMark, ttl=MAYBE, extras=EXTRAS)
LEAVES = st.one_of(
    st.builds(
        ir.Text,
        text=TEXTS,
        citations=tuples(st.builds(ir.Citation, url=MAYBE, start=COUNTS)),
        cache=MARKS,
        extras=EXTRAS,
    ),
    st.builds(ir.Image, source=SOURCES, detail=MAYBE),
    st.builds(ir.Document, source=SOURCES, name=MAYBE),
    st.builds(ir.Audio, source=SOURCES),
    st.builds(ir.Reasoning, text=TEXTS, summary=tuples(TEXTS), redacted=st.booleans()),
    st.builds(ir.ToolCall, id=TEXTS, name=TEXTS, arguments=TEXTS, id_made=st.booleans()),
    st.builds(ir.Refusal, text=TEXTS),
    st.builds(ir.Opaque, protocol=TEXTS, type=TEXTS, value=OBJECTS),
)
PARTS = LEAVES | st.builds(ir.ToolResult, id=TEXTS, parts=tuples(LEAVES), is_error=FLAGS)
MESSAGES = st.builds(
    ir.Message,
    role=st.sampled_from(get_args(ir.Role)),
    parts=tuples(PARTS),
    name=MAYBE,
    extras=EXTRAS,
)
FUNCTIONS = st.builds(ir.FunctionTool, name=TEXTS, parameters=st.none() | OBJECTS, strict=FLAGS)
TOOLS = st.one_of(
    FUNCTIONS,
    st.builds(ir.CustomTool, name=TEXTS, syntax=MAYBE),
    st.builds(ir.NamespaceTool, name=TEXTS, tools=tuples(FUNCTIONS)),
    st.builds(ir.ProviderTool, protocol=TEXTS, type=TEXTS, value=OBJECTS),
)
REQUESTS = st.builds(
    ir.Request,
    model=TEXTS,
    messages=tuples(MESSAGES),
    system=st.none() | MESSAGES,
    tools=tuples(TOOLS),
    tool_choice=st.none()
    | st.builds(ir.ToolChoice, mode=st.sampled_from(["auto", "tool"]), names=tuples(TEXTS)),
    stream=FLAGS,
    max_tokens=COUNTS,
    temperature=st.none() | st.floats(0, 2),
    stop=st.none() | tuples(TEXTS),
    reasoning=st.none() | st.builds(ir.ReasoningSettings, effort=MAYBE, budget=COUNTS),
    output=st.none() | st.builds(ir.OutputFormat, kind=st.just("schema"), schema=OBJECTS),
    extras=EXTRAS,
)


@given(REQUESTS)
def test_a_request_survives_being_written_down(request):
    data = msgspec.json.encode(request)
    assert msgspec.json.decode(data, type=ir.Request) == request


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_what_the_wire_did_not_say_is_none_or_empty(kind):
    defaults = {
        field.name: field.default
        for field in msgspec.structs.fields(kind)
        if not field.required and field.default is not msgspec.NODEFAULT
    }
    said = {name: value for name, value in defaults.items() if value not in (None, "", (), False)}
    allowed = {"kind": "function", "media_type": "text/plain", "index": 0}
    if kind is ir.ToolCall:
        allowed |= {"type": "function", "arguments": "{}"}
    assert said.items() <= allowed.items()


@pytest.mark.parametrize(
    "value",
    [
        ir.Text(text="x"),
        ir.ToolCall(id="c", name="f", arguments="{}"),
        ir.Message(role="user", parts=()),
        ir.Request(model="m", messages=()),
        ir.Usage(input=1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_compare_and_cannot_be_changed(value):
    field = msgspec.structs.fields(value)[0].name
    same = msgspec.structs.replace(value)
    assert same == value
    assert same is not value
    with pytest.raises(AttributeError):
        setattr(value, field, None)
    assert value != msgspec.structs.replace(value, extras={"p": {"k": 1}})


@pytest.mark.parametrize("union", [ir.Part, ir.Tool, ir.Source])
def test_the_members_of_a_union_have_different_tags(union):
    tags = [kind.__struct_config__.tag for kind in get_args(union)]
    assert len(set(tags)) == len(tags)
    assert all(kind.__struct_config__.tag_field == "is" for kind in get_args(union))


def test_extras_are_not_shared_between_values():
    one, other = ir.Text(text=""), ir.Text(text="")
    assert one.extras == ir.NO_EXTRAS
    assert one.extras is not other.extras
    assert one.extras is not ir.NO_EXTRAS


@pytest.mark.parametrize(
    ("usage", "prompt"),
    [
        (ir.Usage(), 0),
        (ir.Usage(input=5), 5),
        (ir.Usage(input=5, cache_read=20, cache_write=300, output=4000, reasoning=1), 325),
        (ir.Usage(cache_read=7), 7),
    ],
)
def test_the_prompt_is_all_input_cached_or_not(usage, prompt):
    assert usage.prompt == prompt


def test_arguments_are_text_that_need_not_be_json():
    text = '{"a": 1.0, "b": 18446744073709551616, '
    assert ir.ToolCall(id="c", name="f", arguments=text).arguments == text
