"""Steps of Gemini Interactions, both ways.

In a request a step is a message of the interlingua. In an answer all steps together are one answer:
contents that stand side by side are in one `model_output`, unless they say otherwise (see `STEP`).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.ir import Json, Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from toolglot.protocols.gemini_interactions.parts import (
    CONTENTS,
    decode_content,
    decode_part,
    encode_content,
    encode_part,
    is_content,
    kept,
    step_of,
    variants_of,
    with_step,
    with_variants,
)
from toolglot.protocols.gemini_interactions.surface import NAME, TURN, TURN_BARE
from toolglot.wire import jsontext
from toolglot.wire.fields import Fields, merge
from toolglot.wire.parts import arguments_object, cannot_carry, take_arguments

USER: Final = "user_input"
MODEL: Final = "model_output"
THOUGHT: Final = "thought"
CALL: Final = "function_call"
RESULT: Final = "function_result"

_ROLES: Final[Mapping[str, Role]] = {"user": "user", "model": "assistant"}
_ROLES_FROM: Final = {role: word for word, role in _ROLES.items()}

_OBJECT: Final = f"{NAME} object"
_WRAPPED: Final = f"{NAME} content"
"""Forms of a result beside a string and a list: any other value, and a list in an object."""

# --- in requests: a step is a message -------------------------------------------------------------


def decode_step(fields: Fields) -> Message:
    """One step of the input as a message."""
    kind = fields.peek("type")
    if kind is None and "role" in fields:
        return _decode_turn(fields)
    if kind in (USER, MODEL):
        fields.constant("type", kind)
        parts = decode_content(fields.maybe_list("content") or (), fields, "content")
        extras = fields.rest() if parts else kept(fields)
        role: Role = "user" if kind == USER else "assistant"
        return Message(role=role, parts=parts, extras=extras)
    part = _decode_other(fields)
    return Message(role="user" if isinstance(part, ToolResult) else "assistant", parts=(part,))


def encode_steps(message: Message, ctx: Context) -> Iterator[Json]:
    """One message as steps: what stands together in one, and everything else by itself."""
    if message.wire_form in (TURN, TURN_BARE) and not ctx.foreign(NAME):
        yield _encode_turn(message, ctx)
        return
    content: list[Part] = []
    for part in _results_first(message):
        if is_content(part):
            content.append(part)
            continue
        if content:
            yield from _encode_message(message, tuple(content), ctx)
            content = []
        yield from encode_part_steps(part, ctx)
    if content or not message.parts:
        yield from _encode_message(message, tuple(content), ctx)


def _encode_message(message: Message, parts: tuple[Part, ...], ctx: Context) -> Iterator[Json]:
    wire: Json = {"type": MODEL if message.role == "assistant" else USER}
    if message.role in ("system", "developer"):
        ctx.note("role-changed", ctx.where_turn(message), f"there is no {message.role} role")
    content = encode_content(parts, ctx)
    if content:
        wire["content"] = content
    elif NAME not in message.extras:
        return
    yield merge(wire, message.extras, NAME)


def _results_first(message: Message) -> tuple[Part, ...]:
    parts = message.parts
    if message.role == "assistant" or len(parts) == 1:
        return parts
    return tuple(sorted(parts, key=lambda part: not isinstance(part, ToolResult)))


# --- turns: messages with a role, as they were before June 2026 -----------------------------------


def _decode_turn(fields: Fields) -> Message:
    word = fields.text("role")
    role = _ROLES.get(word)
    if role is None:
        fields.fail("role", f"expected user or model, got {word!r}")
    if not fields.document.ctx.in_protocol:
        fields.note("legacy-upgraded", "role", "turns are now steps")
    if type(fields.peek("content")) is str:
        parts: tuple[Part, ...] = (Text(text=fields.text("content")),)
        return Message(role=role, parts=parts, wire_form=TURN_BARE, extras=fields.rest())
    values = fields.maybe_list("content") or ()
    parts = tuple(_decode_in_turn(each, fields, index) for index, each in enumerate(values))
    return Message(role=role, parts=parts, wire_form=TURN, extras=fields.rest())


def _decode_in_turn(value: Any, turn: Fields, index: int) -> Part:
    kind = value.get("type") if isinstance(value, dict) else None
    if type(kind) is str and kind in _DECODERS:
        return _decode_other(turn.element(value, "content", index))
    return decode_part(value, turn, "content", index)


def _encode_turn(message: Message, ctx: Context) -> Json:
    wire: Json = {"role": _ROLES_FROM[message.role]}
    parts = message.parts
    if message.wire_form == TURN_BARE and len(parts) == 1 and isinstance(parts[0], Text):
        wire["content"] = parts[0].text
        return merge(wire, message.extras, NAME)
    content: list[Json] = []
    for part in parts:
        if is_content(part):
            content += encode_content((part,), ctx)
        else:
            content += encode_part_steps(part, ctx)
    if content:
        wire["content"] = content
    return merge(wire, message.extras, NAME)


# --- in answers -----------------------------------------------------------------------------------


def decode_output_step(fields: Fields, *, follows: bool) -> tuple[Part, ...]:
    """The parts of one step of an answer; `follows`: the step before is a `model_output`, too.

    What the client said itself has none, nor has an empty step.
    """
    kind = fields.peek("type")
    if kind == USER:
        return ()
    if kind == MODEL:
        fields.constant("type", MODEL)
        parts = decode_content(fields.maybe_list("content") or (), fields, "content")
        rest = fields.rest().get(NAME, {})
        if parts and (rest or follows):
            return (with_step(parts[0], rest), *parts[1:])
        return parts
    if kind in (THOUGHT, CALL):
        return (_decode_other(fields),)
    if type(kind) is not str and "role" not in fields:
        fields.text("type")
    return (Opaque(protocol=NAME, type=str(kind), value=fields.whole()),)


def encode_output(parts: tuple[Part, ...], ctx: Context) -> list[Json]:
    """All steps of an answer."""
    steps: list[Json] = []
    open_step: Json | None = None
    for part in parts:
        if not is_content(part):
            open_step = None
            steps += encode_part_steps(part, ctx)
            continue
        content = encode_part(part, ctx)
        if content is None:
            continue
        rest = step_of(part)
        if open_step is None or rest is not None:
            open_step = {"type": MODEL, "content": [], **(rest or {})}
            steps.append(open_step)
        open_step["content"].append(content)
    return steps


# --- one step -------------------------------------------------------------------------------------


def _decode_other(fields: Fields) -> Part:
    """A step that is a part by itself; a type unknown here is kept whole."""
    kind = fields.peek("type")
    decoder = _DECODERS.get(kind) if type(kind) is str else None
    if decoder is not None:
        return decoder(fields)
    whole = fields.whole()
    return Opaque(protocol=NAME, type=fields.text("type"), value=whole)


def encode_part_steps(part: Part, ctx: Context) -> Iterator[Json]:
    """A part that stands in no content as the steps that say it; none, with a note, if none do."""
    if isinstance(part, Opaque) and part.protocol == NAME:
        yield part.value
        return
    encoder = _ENCODERS.get(type(part))
    if encoder is None:
        cannot_carry(part, ctx)
        return
    if isinstance(part, ToolCall) and part.signature is not None and not _signs_itself(part):
        # State that stands on the call elsewhere stands before it here.
        yield {"type": THOUGHT, "signature": part.signature}
    yield encoder(part, ctx)


def decode_thought(fields: Fields) -> Reasoning:
    """What the model thought: its state, and a summary if that was asked for."""
    fields.constant("type", THOUGHT)
    summary, signature = _decode_summary(fields), _signature(fields)
    if not summary and signature is None and not fields.document.ctx.in_protocol:
        fields.note("field-minor", "", "a thought that says nothing")
    return Reasoning(summary=summary, signature=signature, extras=fields.rest())


def _encode_thought(part: Reasoning, _ctx: Context) -> Json:
    wire: Json = {"type": THOUGHT}
    if part.signature is not None:
        wire["signature"] = part.signature
    pieces = (*part.summary, part.text) if part.text else part.summary
    if pieces and "summary" not in part.extras.get(NAME, {}):
        wire["summary"] = _summary(pieces)
    return merge(wire, part.extras, NAME)


def _decode_summary(fields: Fields) -> tuple[str, ...]:
    """The texts of a summary; a list that has anything else in it also stays as it is."""
    value = fields.peek("summary")
    if type(value) is not list or not value:
        fields.maybe_list("summary")
        return ()
    texts = tuple(
        each["text"] for each in value if isinstance(each, dict) and type(each.get("text")) is str
    )
    if value == _summary(texts):
        fields.take("summary")
    return texts


def _summary(texts: tuple[str, ...]) -> list[Json]:
    return [{"type": "text", "text": text} for text in texts]


def _signature(fields: Fields) -> str | None:
    # An empty one is none, and stays as it is.
    return None if fields.peek("signature") == "" else fields.maybe_text("signature")


def decode_call(fields: Fields) -> ToolCall:
    """A call that the client is to make."""
    fields.constant("type", CALL)
    call_id, made = _call_id(fields, "id")
    given, signature = take_arguments(fields, "arguments"), _signature(fields)
    found = {"id": not made, "arguments": given is not None}
    without = tuple(key for key, is_there in found.items() if not is_there)
    variants: Json = {"without": without} if without else {}
    if signature is not None:
        variants["signed"] = True
    return ToolCall(
        id=call_id,
        name=fields.text("name"),
        arguments=given or "{}",
        id_made=made,
        signature=signature,
        extras=with_variants(fields.rest(), variants),
    )


def _encode_call(part: ToolCall, ctx: Context) -> Json:
    wire: Json = {"type": CALL}
    without = () if ctx.foreign(NAME) else variants_of(part).get("without", ())
    if "id" not in without:
        wire["id"] = part.id
    wire["name"] = part.name
    arguments = arguments_object(part, ctx)
    if arguments or "arguments" not in without:
        wire["arguments"] = arguments
    if part.signature is not None and _signs_itself(part):
        wire["signature"] = part.signature
    return merge(wire, part.extras, NAME)


def _signs_itself(part: ToolCall) -> bool:
    """Whether the state stands on the call, as it did until the summer of 2026."""
    return "signed" in variants_of(part)


def _call_id(fields: Fields, key: str) -> tuple[str, bool]:
    """The id that pairs a call with its result, and whether it had to be made."""
    given = None if fields.peek(key) == "" else fields.maybe_text(key)
    if given is not None:
        return given, False
    fields.note("id-made", key)
    return fields.document.ctx.new_id("call_"), True


# --- results --------------------------------------------------------------------------------------


def _decode_result(fields: Fields) -> ToolResult:
    fields.constant("type", RESULT)
    call_id, made = _call_id(fields, "call_id")
    parts, wire_form = _decode_answer(fields)
    return ToolResult(
        id=call_id,
        parts=parts,
        name=fields.maybe_text("name"),
        is_error=fields.maybe_bool("is_error"),
        id_made=made,
        wire_form=wire_form,
        extras=kept(fields),
    )


def _decode_answer(fields: Fields) -> tuple[tuple[Part, ...], str]:
    """What a tool said, and the form of that: any value that is no text or content as JSON."""
    value = fields.peek("result")
    if value is None or value == []:
        return (), ""
    if type(value) is str:
        return (Text(text=fields.text("result")),), ""
    fields.take("result")
    if _are_contents(value):
        return decode_content(value, fields, "result"), NAME
    if isinstance(value, dict) and value.keys() == {"content"} and _are_contents(value["content"]):
        inner = Fields(value, fields.document, fields, "result")
        return decode_content(value["content"], inner, "content"), _WRAPPED
    return (Text(text=jsontext.text(value)),), _OBJECT


def _are_contents(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) and type(each.get("type")) is str for each in value)
    )


def _encode_result(part: ToolResult, ctx: Context) -> Json:
    own = part.extras.get(NAME)
    wire: Json = {"type": RESULT}
    if own is None or not part.id_made or ctx.foreign(NAME):
        wire["call_id"] = part.id
    if part.name is not None:
        wire["name"] = part.name
    if part.parts or own is None:
        wire["result"] = _encode_answer(part, ctx)
    if part.is_error is not None:
        wire["is_error"] = part.is_error
    return merge(wire, part.extras, NAME)


def _encode_answer(part: ToolResult, ctx: Context) -> Any:
    only = part.parts[0] if len(part.parts) == 1 else None
    if isinstance(only, Text) and not (only.citations or only.extras):
        value = _json(only.text) if part.wire_form == _OBJECT else None
        if value is not None:
            return value
        if part.wire_form not in (NAME, _WRAPPED):
            return only.text
    content = encode_content(part.parts, ctx)
    if not content:
        return ""
    return {"content": content} if part.wire_form == _WRAPPED else content


def _json(text: str) -> Any:
    try:
        return jsontext.decode(text)
    except DecodeError:
        return None


_DECODERS: Final[Mapping[str, Callable[[Fields], Reasoning | ToolCall | ToolResult]]] = {
    THOUGHT: decode_thought,
    CALL: decode_call,
    RESULT: _decode_result,
}
_ENCODERS: Final[Mapping[type[Any], Callable[[Any, Context], Json]]] = {
    Reasoning: _encode_thought,
    ToolCall: _encode_call,
    ToolResult: _encode_result,
}


def are_steps(values: list[Any]) -> bool:
    """Whether a list holds steps or turns rather than contents."""
    first = values[0] if values else None
    kind = first.get("type") if isinstance(first, dict) else None
    return not (isinstance(kind, str) and kind in CONTENTS)
