"""OpenAI Responses as its tests use it."""

from typing import Any

from tests.protocols.harness import ELSEWHERE, Harness

from toolglot import ir
from toolglot.context import Context, Options
from toolglot.events import Event, Finished

HARNESS = Harness("openai-responses")
decode, encode, encode_body = (
    HARNESS.decode_request,
    HARNESS.encode_request,
    HARNESS.encode_response,
)
load = HARNESS.load


def foreign(**options: Any) -> Context:
    surface = HARNESS.protocol.SURFACE
    return Context(Options(**options), source=ELSEWHERE, target=surface, seed=b"seed", now=99)


def decode_body(body: Any, status: int = 200, ctx: Context | None = None) -> Any:
    return HARNESS.decode_response(body, ctx, status)


def read(data: bytes, *cuts: int, ctx: Context | None = None) -> list[Event]:
    return HARNESS.decode_stream(data, ctx, sorted(cuts))


def items(*messages: ir.Message, ctx: Context | None = None) -> Any:
    return encode(ir.Request(model="m", messages=messages), ctx or foreign())["input"]


def user(*parts: ir.Part) -> ir.Message:
    return ir.Message(role="user", parts=parts)


def assistant(*parts: ir.Part) -> ir.Message:
    return ir.Message(role="assistant", parts=parts)


def answer(*parts: ir.Part, stop: ir.StopKind = "end", **more: Any) -> ir.Response:
    choice = ir.Choice(
        parts=parts, stop=ir.StopReason(kind=stop), logprobs=more.pop("logprobs", None)
    )
    return ir.Response(id="msg_7", model="m", choices=(choice,), **more)


HISTORY = (
    user(
        ir.Text(text="Is the gate open?"),
        ir.Image(source=ir.Inline(media_type="image/png", data="AA==")),
    ),
    assistant(
        ir.Reasoning(text="Look.", signature="sealed", id="rs_1"),
        ir.Text(text="One moment."),
        ir.ToolCall(id="toolu_1", name="gate", arguments='{"n": 1}'),
        ir.ToolCall(id="toolu_2", name="gate", arguments=""),
    ),
    user(
        ir.Text(text="and hurry"),
        ir.ToolResult(id="toolu_1", parts=(ir.Text(text="open"),)),
        ir.ToolResult(id="toolu_2", parts=(), is_error=True),
    ),
    assistant(ir.Text(text="It is open.")),
    ir.Message(role="developer", parts=(ir.Text(text="Be brief."),)),
    user(ir.Text(text="Thanks.")),
)


TOOL = ir.FunctionTool(
    name="gate", description="A gate.", parameters={"type": "object"}, strict=False
)


def kinds(values: list[Any]) -> list[str]:
    return [value["type"].removeprefix("response.") for value in values]


def end(kind: ir.StopKind = "end") -> Finished:
    return Finished((ir.StopReason(kind=kind),))
