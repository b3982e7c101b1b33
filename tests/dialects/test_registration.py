"""A dialect that an application registers counts everywhere, and can be taken back."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.dialects.samples import BOTH, TOOLS

import toolglot
from toolglot import Dialect, register_dialect, unregister_dialect
from toolglot.dialects.dialect import ResultTemplate
from toolglot.dialects.engines.channels import SkipForm
from toolglot.dialects.engines.json_calls import JsonForm
from toolglot.dialects.engines.key_value import PairForm
from toolglot.dialects.engines.named_json import NamedForm
from toolglot.dialects.engines.parameters import ParameterForm
from toolglot.dialects.engines.pythonic import PythonForm
from toolglot.dialects.table import DIALECTS
from toolglot.dialects.text import TextDecoder, parse_text
from toolglot.dialects.writers import JsonWriter

REEF = Dialect(
    name="reef",
    models="Reef 1",
    forms=(JsonForm(openers=("<reef>",), closers=("</reef>",)),),
)
CALL = '<reef>{"name": "ring_bell", "arguments": {"times": 2}}</reef>'
ANSWER = {
    "id": "m",
    "object": "chat.completion",
    "model": "reef-1",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": f"Ok {CALL}"},
            "finish_reason": "stop",
        }
    ],
}
REQUEST = {
    "model": "reef-1",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Ring."}],
    "tools": [{"name": "ring_bell", "input_schema": {"type": "object", "properties": {}}}],
}


@pytest.fixture
def reef():
    register_dialect(REEF)
    yield REEF
    unregister_dialect("reef")


def test_a_row_says_all_that_is_needed(reef):
    assert reef.example == '<reef>{"name": "get_weather", "arguments": {"city": "Oslo"}}</reef>'
    assert next(iter(DIALECTS)) == "reef"
    assert DIALECTS["reef"] in DIALECTS.auto
    assert len(DIALECTS) == len(list(DIALECTS))


@pytest.mark.parametrize("dialect", ["reef", "auto"])
def test_it_is_read(reef, dialect):
    parsed = parse_text(f"Ok {CALL} done", TOOLS, dialect)
    assert parsed.dialect == "reef"
    assert parsed.content == "Ok  done"
    assert [(call.name, json.loads(call.arguments)) for call in parsed.calls] == [BOTH[1]]
    decoder = TextDecoder(dialect, TOOLS)
    by_character = [each for char in CALL for each in decoder.feed(char)] + decoder.close()
    assert [each.name for each in by_character] == ["ring_bell"]


def test_it_is_detected(reef):
    assert toolglot.detect(CALL) == "reef"


def test_it_is_written(reef):
    calls = [{"name": name, "arguments": arguments} for name, arguments in BOTH]
    text = toolglot.render_calls(calls, "reef", TOOLS)
    assert text.count("<reef>") == 2
    assert [call.name for call in parse_text(text, TOOLS, "reef").calls] == [
        name for name, _ in BOTH
    ]
    assert "<reef>" in toolglot.render_tools(TOOLS, "reef")
    assert toolglot.render_result({"name": "f", "content": "x"}, "reef") == (
        '<tool_response>\n{"name": "f", "content": "x"}\n</tool_response>'
    )


@pytest.mark.parametrize("dialect", ["reef", "auto"])
def test_it_is_translated(reef, dialect):
    response, _ = toolglot.translate_response(
        ANSWER, source="openai-chat", target="anthropic", request=REQUEST, dialect=dialect
    )
    kinds = [block["type"] for block in response.body["content"]]
    assert kinds[:2] == ["text", "tool_use"]
    assert response.body["stop_reason"] == "tool_use"


@pytest.mark.parametrize("dialect", ["reef", "auto"])
def test_it_is_translated_in_streams(reef, dialect):
    translator = toolglot.StreamTranslator(
        "openai-chat", "anthropic", request=REQUEST, dialect=dialect
    )
    chunks = [
        {"id": "m", "model": "reef-1", "object": "chat.completion.chunk",
         "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
        for piece in (CALL[:20], CALL[20:])
    ]  # fmt: skip
    chunks.append({**chunks[0], "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    lines = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks] + [b"data: [DONE]\n\n"]
    out = b"".join(translator.feed(line) for line in lines) + translator.close()
    assert b'"tool_use"' in out
    assert b"reef>" not in out


def test_tools_are_emulated_in_it(reef):
    request, _ = toolglot.translate_request(
        REQUEST, source="anthropic", target="openai-chat", tools="emulated:reef"
    )
    assert "tools" not in request.body
    assert "<reef>" in request.body["messages"][0]["content"]


def test_it_is_gone_when_it_is_taken_back():
    register_dialect(REEF)
    held = TextDecoder("reef", TOOLS)
    unregister_dialect("reef")
    assert "reef" not in DIALECTS
    assert parse_text(CALL, TOOLS).calls == ()
    with pytest.raises(ValueError, match="unknown dialect reef"):
        parse_text(CALL, TOOLS, "reef")
    assert [each.name for each in held.feed(CALL)] == ["ring_bell"], "existing decoders keep it"


def test_another_row_of_the_same_name_is_not_mixed_up_with_the_first():
    register_dialect(REEF)
    assert parse_text(CALL, TOOLS).dialect == "reef"
    unregister_dialect("reef")
    other = Dialect(name="reef", models="", forms=(NamedForm(openers=("~",), separators=("=",)),))
    register_dialect(other)
    try:
        assert parse_text(CALL, TOOLS).calls == ()
        assert parse_text('~ring_bell={"times": 2}', TOOLS).dialect == "reef"
    finally:
        unregister_dialect("reef")


@pytest.mark.parametrize("name", ["hermes", "auto", "native", "off", "", "Two words", "a:b"])
def test_names_that_are_taken_or_mean_something_else_are_rejected(name):
    with pytest.raises(ValueError, match=r"already|cannot be the name"):
        register_dialect(Dialect(name=name, models="", forms=REEF.forms))


def test_rows_that_cannot_work_are_rejected():
    with pytest.raises(ValueError, match="no forms"):
        register_dialect(Dialect(name="reef", models="", forms=(), example="x"))
    skip = (SkipForm(openers=("<x",)),)
    with pytest.raises(TypeError, match="first form is a SkipForm needs `write`"):
        register_dialect(Dialect(name="reef", models="", forms=skip, example="x"))


@pytest.mark.parametrize("name", ["hermes", "reef"])
def test_only_what_was_registered_can_be_taken_back(name):
    with pytest.raises(ValueError, match=f"no dialect {name} was registered"):
        unregister_dialect(name)
    assert "hermes" in DIALECTS


def test_threads_may_read_while_others_register():
    def churn(number: int) -> None:
        name = f"reef{number}"
        opener = (f"<{name}>",)
        row = Dialect(name=name, models="", forms=(JsonForm(openers=opener, closers=("</>",)),))
        for _ in range(20):
            register_dialect(row)
            assert [row.name for row in DIALECTS.auto].count(name) == 1
            assert set(DIALECTS) >= {name, "hermes"}
            unregister_dialect(name)

    before = list(DIALECTS)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(churn, range(4)))
    assert list(DIALECTS) == before


# --- defaults of the families ---------------------------------------------------------------------

FAMILIES = {
    "json": JsonForm(openers=("<x>",), closers=("</x>",)),
    "json without closer": JsonForm(openers=("<|x|>",), special=True),
    "json array": JsonForm(openers=("<x>",), closers=("</x>",), starts="["),
    "keyed": JsonForm(openers=("<x>",), closers=("</x>",), starts="[", keyed=True),
    "named": NamedForm(openers=("<x=",), separators=(">",), end=("</x>",)),
    "section": NamedForm(
        openers=("<s>",), begin=("<c>",), separators=("{}",), end=("</c>",), close=("</s>",)
    ),
    "parameters": ParameterForm(
        openers=("<x>",),
        call=("<call",),
        call_end=("</call>",),
        parameter=("<p",),
        parameter_end=("</p>",),
        closers=("</x>",),
    ),
    "pairs": PairForm(openers=("<x>",), call="x", key="k", value="v"),
    "wrapped pairs": PairForm(openers=("<w>",), call="x", wrapper="w", separator="s"),
    "python": PythonForm(openers=("<x>",), closers=("</x>",)),
}


@pytest.mark.parametrize("form", FAMILIES.values(), ids=FAMILIES)
def test_a_row_of_a_known_family_needs_no_writer(form):
    row = Dialect(name="another", models="", forms=(form,))
    register_dialect(row)
    try:
        calls = [{"name": name, "arguments": arguments} for name, arguments in BOTH]
        for some in (calls[:1], calls):
            text = toolglot.render_calls(some, "another", TOOLS)
            assert len(parse_text(text, TOOLS, "another").calls) == len(some)
        assert len(parse_text(row.example, ["get_weather"], "another").calls) == 1
    finally:
        unregister_dialect("another")


def test_what_a_row_says_itself_goes_before_the_defaults():
    row = Dialect(
        name="another",
        models="",
        forms=REEF.forms,
        write=JsonWriter(begin="<reef>\n", end="\n</reef>"),
        result=ResultTemplate(open="[{name}: ", close="]"),
    )
    register_dialect(row)
    try:
        text = toolglot.render_calls([{"name": "f", "arguments": {}}], "another", ["f"])
        assert text == '<reef>\n{"name": "f", "arguments": {}}\n</reef>'
        assert toolglot.render_result({"name": "f", "content": "x"}, "another") == "[f: x]"
    finally:
        unregister_dialect("another")
