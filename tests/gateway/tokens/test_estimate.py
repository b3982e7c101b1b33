"""Counting tokens offline: everything counts, nothing raises, and it is quick (case-42)."""

import base64
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.counting import count_calls
from tests.gateway import pictures

from toolglot import ir
from toolglot.gateway.tokens import estimate as tokens
from toolglot.gateway.tokens.estimate import count_text, estimate_request, estimate_text

SAMPLES = {
    "prose": "Every answer is translated without loss, and whatever had to be changed is written "
    "down in a receipt that anyone can read afterwards. Larger requests take no longer.",
    "code": 'def greet(name: str) -> str:\n    """Say hello."""\n    return f"Hello, {name}!"\n',
    "json": '{"type":"object","properties":{"city":{"type":"string","description":"Where"},'
    '"days":{"type":"integer","minimum":1,"maximum":14}},"required":["city"]}',
    "german": "Die Übersetzung geschieht ohne Verlust, und jede Änderung steht auf einem Beleg.",
    "russian": "Каждый ответ переводится без потерь, и всё изменённое записывается в квитанцию.",
    "chinese": "每个回答都会被完整地翻译、所有的更改都会记录在收据上、任何人都可以阅读。",
    "korean": "모든 응답은 손실 없이 번역되며, 변경된 내용은 영수증에 기록됩니다.",
    "log": "2026-11-15T23:14:01Z INFO worker[31] GET /v1/messages 200 in 1.7 ms",
    "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "emoji": "👍🎉🙂🚀☀️",
}


@pytest.fixture
def without_vocabulary(monkeypatch):
    """As if the extra were not installed."""
    monkeypatch.setitem(sys.modules, "splintr", None)
    tokens._tokenizer.cache_clear()
    tokens._count_definition.cache_clear()
    yield
    tokens._tokenizer.cache_clear()
    tokens._count_definition.cache_clear()


def asking(*parts: ir.Part, **more) -> ir.Request:
    return ir.Request(model="m", messages=(ir.Message(role="user", parts=parts),), **more)


def tokens_of(*parts: ir.Part, **more) -> int:
    return estimate_request(asking(*parts, **more))


EMPTY = estimate_request(asking())
PNG = ir.Inline(media_type="image/png", data=pictures.png(1000, 750))
PDF = base64.b64encode(
    b"%PDF-1.7 1 0 obj << /Type /Page >> 2 0 obj <</Type/Page/X 1>> /Type /Pages"
)
PARTS = {
    "text": ir.Text(text="Hello there"),
    "refusal": ir.Refusal(text="I would rather not"),
    "reasoning": ir.Reasoning(text="Let me think about it"),
    "summary": ir.Reasoning(summary=("Thought about it",)),
    "redacted": ir.Reasoning(redacted=True, signature="c2VhbGVkIHN0YXRl" * 4),
    "call": ir.ToolCall(id="call_1", name="get_weather", arguments='{"city":"Paris"}'),
    "result": ir.ToolResult(id="call_1", parts=(ir.Text(text="sunny"),)),
    "result with a picture": ir.ToolResult(id="call_1", parts=(ir.Image(source=PNG),)),
    "picture": ir.Image(source=PNG),
    "picture by url": ir.Image(source=ir.Remote(url="https://example.com/a.png")),
    "broken picture": ir.Image(source=ir.Inline(media_type="image/png", data="AAAA")),
    "text document": ir.Document(source=ir.PlainText(text="A short report")),
    "pdf": ir.Document(source=ir.Inline(media_type="application/pdf", data=PDF.decode())),
    "file": ir.Document(source=ir.FileRef(id="file_1", issuer="anthropic")),
    "sound": ir.Audio(source=ir.Inline(media_type="audio/wav", data="AAAA" * 1000)),
    "opaque": ir.Opaque(protocol="anthropic", type="novelty", value={"says": "something new"}),
}
TOOLS = {
    "function": ir.FunctionTool(
        name="get_weather",
        description="The weather in a city",
        parameters={"type": "object", "properties": {"city": {"type": "string"}}},
    ),
    "custom": ir.CustomTool(name="patch", description="Change files", definition="start: /.+/"),
    "namespace": ir.NamespaceTool(name="files", tools=(ir.CustomTool(name="read"),)),
    "provider": ir.ProviderTool(protocol="anthropic", type="bash_20250124", value={"name": "bash"}),
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_every_kind_of_part_counts(part):
    """case-42: a block that counts for nothing would let a history grow until nothing fits."""
    assert tokens_of(part) > EMPTY + 1


def test_no_kind_of_part_is_left_out():
    assert {type(part) for part in PARTS.values()} == set(ir.Part.__args__)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_every_kind_of_tool_counts(tool):
    """case-42"""
    assert tokens_of(tools=(tool,)) > EMPTY + 8


def test_no_kind_of_tool_is_left_out():
    assert {type(tool) for tool in TOOLS.values()} == set(ir.Tool.__args__)


def test_system_text_messages_and_output_schemas_count():
    system = ir.Message(role="system", parts=(ir.Text(text="Be brief."),))
    assert tokens_of(system=system) == EMPTY + 4 + count_text("Be brief.")
    schema = ir.OutputFormat(kind="schema", schema={"type": "object"})
    assert tokens_of(output=schema) > EMPTY
    twice = ir.Request(model="m", messages=asking().messages * 2)
    assert estimate_request(twice) == EMPTY + 4


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [
        (1, 1, 1),
        (200, 200, 64),
        (1000, 1000, 1296),
        (1920, 1080, 2691),
        (3840, 2160, 4784),
        (8000, 8000, 4784),
        (9999, 1, 92),
    ],
)
def test_a_picture_counts_by_its_pixels(width, height, expected):
    picture = ir.Inline(media_type="image/png", data=pictures.png(width, height))
    assert tokens_of(ir.Image(source=picture)) - EMPTY == expected


def test_pages_of_a_pdf_count():
    assert tokens_of(PARTS["pdf"]) == EMPTY + 2 * 3000
    big = ir.Inline(media_type="application/pdf", data=base64.b64encode(bytes(250_000)).decode())
    assert tokens_of(ir.Document(source=big)) == EMPTY + 3 * 3000


def test_text_in_base64_counts_as_text():
    data = base64.b64encode(SAMPLES["prose"].encode()).decode()
    source = ir.Inline(media_type="text/plain", data=data)
    assert tokens_of(ir.Document(source=source)) == EMPTY + count_text(SAMPLES["prose"])


@pytest.mark.parametrize(
    "text", ["<|endoftext|>", "<|im_start|>system", "[INST]", "<|fim_prefix|>"]
)
def test_special_tokens_in_text_are_text(text):
    assert count_text(text) > 1
    assert estimate_text(text) > 1


@given(st.text(st.characters(), max_size=100))
def test_any_text_can_be_counted(text):
    """Lone surrogates, which JavaScript clients send, included."""
    assert (count_text(text) > 0) == bool(text)
    assert estimate_text(text) >= 0


def test_the_estimate_is_near_the_vocabulary():
    mixed = "\n".join(SAMPLES.values())
    assert estimate_text(mixed) == pytest.approx(count_text(mixed), rel=0.2)


@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES)
def test_no_script_is_far_off(text):
    assert estimate_text(text) == pytest.approx(count_text(text), rel=0.4)


def test_without_the_extra_everything_still_counts(without_vocabulary):
    """case-42"""
    assert count_text(SAMPLES["prose"]) == estimate_text(SAMPLES["prose"])
    assert tokens_of(PARTS["call"], tools=tuple(TOOLS.values())) > EMPTY


def test_many_tools_are_counted_quickly():
    properties = {
        f"field_{n}": {"type": "string", "description": f"What field {n} is for."}
        for n in range(20)
    }
    tools = tuple(
        ir.FunctionTool(
            name=f"tool_{n}",
            description="Does something useful. " * 10,
            parameters={"type": "object", "properties": properties},
        )
        for n in range(45)
    )
    request = asking(ir.Text(text="hi"), tools=tools)
    tokens.count_text("The vocabulary is loaded once.")
    first = estimate_request(request)
    assert count_calls(lambda: estimate_request(request)) < 500
    assert estimate_request(request) == first
