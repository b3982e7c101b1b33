"""The demo model itself: one request in, one answer out, always the same for the same request.

What it does is decided in this order: a cue in the user's words (`error`, `refuse`, `long`), a tool
that fits and was not called for these words yet, results to answer from, small talk.
"""

from base64 import b64encode
from typing import Final

from toolglot.context import Context
from toolglot.demo import sentences
from toolglot.demo.answer_length import stopped, usage_of
from toolglot.demo.choose import ToolCandidate, callables, finishing, ranked
from toolglot.demo.fill_schema import value_of
from toolglot.demo.freeform_input import freeform
from toolglot.demo.hints import Hints
from toolglot.demo.turn import Turn, read_turn
from toolglot.digest import digest
from toolglot.ir import (
    ApiError,
    Choice,
    CustomTool,
    Part,
    Reasoning,
    Refusal,
    Request,
    Response,
    StopKind,
    StopReason,
    Text,
    ToolCall,
)
from toolglot.wire import jsontext

_INVALID: Final = 400
_OVERLOADED: Final = 529
_MARK: Final = b"toolglot-demo:"


def reply(request: Request, ctx: Context) -> Response | ApiError:
    """The answer of the demo model."""
    if not request.messages:
        return ApiError(kind="invalid_request", message=sentences.NO_MESSAGES, status=_INVALID)
    turn = read_turn(request)
    if "error" in turn.cues:
        return ApiError(kind="overloaded", message=sentences.OVERLOADED, status=_OVERLOADED)
    ctx.begin(f"{len(request.messages)}:{turn.prompt}".encode("utf-8", "surrogatepass"))
    parts, kind = _answer(request, turn, ctx)
    plan = "Tools can help here." if kind == "tool_calls" else "I can answer this."
    if _thinks(request):
        parts = [_thought(turn, plan, ctx), *parts]
    parts, stop = stopped(parts, StopReason(kind=kind), request, torn="truncate" in turn.cues)
    return Response(
        id=ctx.new_id("demo_"),
        model=request.model,
        created=ctx.now(),
        choices=(Choice(parts=tuple(parts), stop=stop),),
        usage=usage_of(request, parts),
    )


def _answer(request: Request, turn: Turn, ctx: Context) -> tuple[list[Part], StopKind]:
    if "refuse" in turn.cues:
        return [Refusal(text=sentences.REFUSAL)], "refusal"
    if "long" in turn.cues:
        return [Text(text=sentences.long_text())], "end"
    calls = _calls(request, turn, ctx)
    if calls:
        return [*calls], "tool_calls"
    return [Text(text=_words(request, turn))], "end"


def _words(request: Request, turn: Turn) -> str:
    """The answer in words, or in JSON where that is asked for."""
    answer = sentences.from_results(turn) if turn.results else ""
    if request.output is None or request.output.kind == "text":
        return answer or sentences.small_talk(turn, tools=bool(request.tools))
    if request.output.schema is None:
        return jsontext.text({"answer": answer or sentences.WHO})
    return jsontext.text(value_of(request.output.schema, Hints(turn.prompt or sentences.WHO)))


# --- calls ---------------------------------------------------------------------------------------


def _calls(request: Request, turn: Turn, ctx: Context) -> list[ToolCall]:
    """The calls to make now: none once there were enough for what the user said."""
    tools = callables(request.tools, request.tool_choice)
    if turn.rounds < turn.asked_rounds:
        forced = request.tool_choice is not None and request.tool_choice.mode in (
            "required",
            "tool",
        )
        chosen = _chosen(ranked(tools, turn.prompt, forced=forced), request, turn)
        calls = [_call(each, turn, variant, ctx) for each, variant in chosen]
        if calls:
            return calls
    last = finishing(tools)
    if last is None or any(call.name == last.tool.name for call in turn.calls):
        return []
    return [_call(last, turn, 0, ctx)]


def _chosen(
    fitting: list[ToolCandidate], request: Request, turn: Turn
) -> list[tuple[ToolCandidate, int]]:
    """The tools to call, each with the variant of its arguments."""
    if not fitting:
        return []
    best = (fitting[0], turn.rounds)
    if "parallel" not in turn.cues or request.parallel_tool_calls is False:
        return [best]
    other = (fitting[0], turn.rounds + 1)
    if _input(*best, turn) == _input(*other, turn) and len(fitting) > 1:
        other = (fitting[1], turn.rounds)
    return [best, other]


def _call(each: ToolCandidate, turn: Turn, variant: int, ctx: Context) -> ToolCall:
    return ToolCall(
        id=ctx.new_id("call_"),
        name=each.tool.name,
        namespace=each.namespace,
        type="custom" if isinstance(each.tool, CustomTool) else "function",
        arguments=_input(each, variant, turn),
    )


def _input(each: ToolCandidate, variant: int, turn: Turn) -> str:
    hints = Hints(turn.prompt, variant)
    if isinstance(each.tool, CustomTool):
        return freeform(each.tool, hints)
    return jsontext.text(value_of(each.tool.parameters, hints))


# --- reasoning -----------------------------------------------------------------------------------


def _thinks(request: Request) -> bool:
    asked = request.reasoning
    if asked is None or asked.enabled is False:
        return False
    return asked.effort != "none" and asked.budget != 0


def _thought(turn: Turn, plan: str, ctx: Context) -> Reasoning:
    text = sentences.thoughts(turn, plan, sum(map(is_own, turn.thoughts)))
    return Reasoning(text=text, signature=sign(text), id=ctx.new_id("rs_"))


def sign(text: str) -> str:
    """The state that the model gives out with its reasoning, and knows again."""
    return b64encode(_MARK + digest(text.encode("utf-8", "surrogatepass"), 16)).decode()


def is_own(part: Reasoning) -> bool:
    """Whether reasoning is the model's own, unchanged; some clients return it as a summary."""
    return part.signature is not None and part.signature == sign(part.text or "".join(part.summary))
