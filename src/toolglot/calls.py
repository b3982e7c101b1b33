"""Tool calling in five small functions, for code that talks to providers itself.

    calls = parse_tool_calls(response, "openai")
    outputs = [ToolOutput(call.id, run(call.name, call.input)) for call in calls]
    messages += build_tool_result_messages(calls, outputs, "openai", response=response)

Everything goes through the interlingua, so a provider here is any protocol by its own name or by
the name of a provider that speaks it.
"""

from collections.abc import Container, Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from toolglot import ir
from toolglot.adapt import adapt_request
from toolglot.adapt.calls.ids import with_prefix
from toolglot.adapt.tools.tool_rules import map_arguments
from toolglot.context import Context
from toolglot.errors import DecodeError, ToolglotError
from toolglot.profiles import PROVIDERS
from toolglot.registry import PROTOCOLS, Codec, get_protocol
from toolglot.rules import ToolRules
from toolglot.translate import Body, decode_response
from toolglot.wire import jsontext
from toolglot.wire.message import WireRequest, read_body
from toolglot.wire.parts import arguments_object

_TOOL_KEYS: Final = (
    ("input_schema", "anthropic"),
    ("functionDeclarations", "gemini"),
    ("function", "openai-chat"),
    ("name", "openai-responses"),
)
"""A key that gives away the protocol of a tool definition; the first that is there."""

_AROUND_MESSAGE: Final = {"openai-chat": ("choices", "message"), "ollama": ("message",)}
"""The keys around the message in a response, where there are any."""


_TURNS: Final = {
    "anthropic": ("content",),
    "openai-chat": ("choices", "message"),
    "openai-responses": ("output",),
    "gemini": ("candidates", "content"),
    "ollama": ("message",),
}
"""Where a response holds what goes back into the history; the first of several choices."""

_BARE_CONTENT: Final = frozenset({"anthropic"})
"""Whose responses hold the content of a message, but not around it what a history wants."""


class UnmatchedOutputError(ToolglotError, ValueError):
    """An output names a call that was not made."""


class InvalidCallError(ToolglotError, ValueError):
    """A call that nobody can answer."""


class ToolCall(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call: `arguments` is the JSON text, `input` the value in it.

    `raw_input` is what a model wrote where that had to be read first; `invalid` says why it could
    not be.
    """

    id: str
    name: str
    arguments: str = "{}"
    type: str = "function"
    raw_input: str = ""
    invalid: str = ""

    @property
    def input(self) -> Any:
        """The arguments as a value; wrapped under `$invalid` if they are no JSON."""
        return arguments_object(
            ir.ToolCall(id=self.id, name=self.name, arguments=self.arguments), Context()
        )

    def to_anthropic(self) -> ir.Json:
        """A `tool_use` block."""
        return {"type": "tool_use", "id": self.id, "name": self.name, "input": self.input}

    def to_openai(self) -> ir.Json:
        """An entry of `tool_calls`."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}

    def to_generic(self) -> ir.Json:
        """The plain form for clients of no standard."""
        return {"tool_call_id": self.id, "tool_name": self.name, "parameters": self.input}

    def to_canonical(self) -> ir.Json:
        """The canonical form: arguments as an object; what there may be besides, only if it is."""
        wire = {"id": self.id, "name": self.name, "arguments": self.input, "type": self.type}
        more = {"raw_input": self.raw_input, "invalid": self.invalid}
        return wire | {key: value for key, value in more.items() if value}


class ToolOutput(Struct, frozen=True):
    """What a tool answered: text, or a value that is written as JSON once."""

    id: str
    output: Any
    is_error: bool = False

    def to_canonical(self) -> ir.Json:
        """The canonical form of a result."""
        return {"call_id": self.id, "content": _as_text(self.output), "is_error": self.is_error}


def parse_tool_calls(response: Body, provider: str, *, strict: bool = False) -> list[ToolCall]:
    """The tool calls in a provider's response, in order; none is an empty list.

    `strict` refuses calls in a response that does not say it stopped for them, and arguments that
    are no JSON; otherwise one bad call never harms the others.
    """
    codec = _codec(provider)
    decoded = decode_response(_whole(response, codec), source=codec.NAME)
    if isinstance(decoded, ir.ApiError):
        raise DecodeError("error", decoded.message)
    calls = [
        part for choice in decoded.choices for part in choice.parts if isinstance(part, ir.ToolCall)
    ]
    if strict:
        _check(decoded, calls)
    return [
        ToolCall(id=call.id, name=call.name, arguments=call.arguments or "{}", type=call.kind)
        for call in calls
    ]


def validate_tool_call(call: ToolCall, *, taken: Container[str] = ()) -> ToolCall:
    """A call that can be run: with a name, an id that none of `taken` is, and arguments.

    A call without a name is refused. One without an id gets one, the same for the same call. What
    cannot be read of `raw_input` stays there, with the reason under `invalid`.
    """
    if not call.name:
        raise InvalidCallError("tool call missing name")
    if not call.id:
        call = replace(call, id=_new_id(call, taken))
    if call.raw_input and call.arguments in ("", "{}") and not call.invalid:
        why = _why_unreadable(call.raw_input)
        if why:
            return replace(call, invalid=f"failed to parse tool arguments: {why}")
        call = replace(call, arguments=call.raw_input.strip())
    return call


def _why_unreadable(text: str) -> str:
    """What keeps a text from being arguments; nothing does if it is a JSON object."""
    try:
        return "" if isinstance(jsontext.peek(text), dict) else "it is no JSON object"
    except ValueError as error:
        return str(error)


def validate_tool_calls(calls: Iterable[ToolCall]) -> list[ToolCall]:
    """Calls that can be run, each with an id of its own; see `validate_tool_call`."""
    given = list(calls)
    taken = {call.id for call in given}
    valid: list[ToolCall] = []
    for call in given:
        valid.append(validate_tool_call(call, taken=taken))
        taken.add(valid[-1].id)
    return valid


def _new_id(call: ToolCall, taken: Container[str]) -> str:
    ctx = Context(
        seed=f"{call.name}\0{call.arguments}\0{call.raw_input}".encode("utf-8", "replace")
    )
    while (made := ctx.new_id("call_")) in taken:
        pass
    return made


def translate_id(id: str, provider: str) -> str:  # noqa: A002 - the seeds' word
    """An id that begins as those of a provider do: `toolu_x` is `call_x` elsewhere.

    Ids are translated so only where that is asked for (`ids="prefix"`); providers take any.
    """
    prefix = _codec(provider).SURFACE.id_prefix
    return id if prefix is None else with_prefix(id, prefix)


def format_tools(tools: Sequence[ir.Json], provider: str) -> list[ir.Json]:
    """Tool definitions for a provider, from those of any provider."""
    codec = _codec(provider)
    own = _codec_of(tools)
    if own is codec:
        return list(tools)
    key = own.SURFACE.messages
    request = own.decode_request(
        WireRequest(body={"model": "any", key: [], "tools": list(tools)}, path="/models/any:"),
        Context(),
    )
    return list(codec.encode_request(request, Context()).body.get("tools", []))


def is_compatible(tool: ir.Json, target: str) -> tuple[bool, list[str]]:
    """Whether a provider can take a tool, and what would change or why not."""
    codec = _codec(target)
    own = _codec_of([tool])
    ctx = Context(source=own.SURFACE, target=codec.SURFACE)
    body = {"model": "any", own.SURFACE.messages: [], "tools": [tool]}
    request = own.decode_request(WireRequest(body=body, path="/models/any:"), ctx)
    adapted = request if own is codec else adapt_request(request, ctx)
    reasons = [note.message for note in ctx.receipt() if note.path.startswith("tools")]
    return bool(adapted.tools), reasons


def map_tool_call(call: ToolCall, rules: ToolRules, *, back: bool = False) -> ToolCall:
    """A call under the names that rules give its tool and parameters, or under its own again."""
    rename = {new: old for old, new in rules.rename.items()} if back else rules.rename
    known = rename.get(call.name, call.name) if back else call.name
    mapping = rules.parameters.get(known, {})
    keys = {new: old for old, new in mapping.items()} if back else mapping
    return replace(
        call, name=rename.get(call.name, call.name), arguments=map_arguments(call.arguments, keys)
    )


def format_tool_result(
    id: str,  # noqa: A002 - the seed's word
    name: str,
    result: Any,
    provider: str,
    is_error: bool = False,  # noqa: FBT001, FBT002 - the seed's signature
) -> ir.Json:
    """The message or item that gives one result to a provider."""
    part = ir.ToolResult(
        id=id,
        name=name,
        parts=(ir.Text(text=_as_text(result)),),
        is_error=True if is_error else None,
        id_made=_codec(provider).SURFACE.calls_by == "name",
    )
    return _messages((part,), _codec(provider))[0]


def build_tool_result_messages(
    calls: Sequence[ToolCall],
    outputs: Iterable[ToolOutput],
    protocol: str,
    *,
    response: Body | None = None,
) -> list[ir.Json]:
    """What to append to the conversation: the results, after the model's own turn if it is given.

    The turn is repeated as the provider wrote it, reasoning included.
    """
    codec = _codec(protocol)
    names = {call.id: call.name for call in calls}
    parts = tuple(_result(output, names, codec) for output in outputs)
    turn = _turn(response, codec) if response is not None else []
    return [*turn, *_messages(parts, codec)]


def _result(output: ToolOutput, names: dict[str, str], codec: Codec) -> ir.ToolResult:
    if output.id not in names:
        raise UnmatchedOutputError(
            f"there is no call {output.id!r}; calls: {', '.join(names) or 'none'}"
        )
    return ir.ToolResult(
        id=output.id,
        name=names[output.id],
        parts=(ir.Text(text=_as_text(output.output)),),
        is_error=True if output.is_error else None,
        id_made=codec.SURFACE.calls_by == "name",
    )


def _turn(response: Body, codec: Codec) -> list[ir.Json]:
    """The model's own messages or items, byte for byte, of a response that can be read."""
    body = read_body(_whole(response, codec))
    decoded = decode_response(body, source=codec.NAME)
    if isinstance(decoded, ir.ApiError):
        raise DecodeError("error", decoded.message)
    turn: Any = body
    for key in _TURNS[codec.NAME]:
        turn = (turn[0] if turn else {}) if isinstance(turn, list) else turn
        turn = turn.get(key) or {}
    if codec.NAME in _BARE_CONTENT:
        turn = {"role": "assistant", "content": turn or []}
    return list(turn) if isinstance(turn, list) else [turn] if turn else []


def _messages(parts: tuple[ir.ToolResult, ...], codec: Codec) -> list[ir.Json]:
    return _encoded((ir.Message(role="user", parts=parts),), codec) if parts else []


def _encoded(messages: tuple[ir.Message, ...], codec: Codec) -> list[ir.Json]:
    ctx = Context(source=codec.SURFACE, target=codec.SURFACE)
    body = codec.encode_request(ir.Request(model="any", messages=messages), ctx).body
    return list(body[codec.SURFACE.messages])


def _codec(provider: str) -> Codec:
    name = provider if provider in PROTOCOLS else PROVIDERS.get(provider, provider)
    return get_protocol(name)


def _codec_of(tools: Sequence[ir.Json]) -> Codec:
    """The protocol that definitions are written in, by the keys of the first one."""
    first = tools[0] if tools else {}
    return get_protocol(next((name for key, name in _TOOL_KEYS if key in first), "openai-chat"))


def _whole(response: Body, codec: Codec) -> Body:
    """A response; a bare assistant message is taken for one."""
    body = read_body(response)
    keys = _AROUND_MESSAGE.get(codec.NAME)
    if keys is None or keys[0] in body or "role" not in body:
        return body
    return {keys[0]: [{"message": body}]} if len(keys) > 1 else {keys[0]: body}


def _check(response: ir.Response, calls: list[ir.ToolCall]) -> None:
    stop = response.choices[0].stop
    if calls and (stop is None or stop.kind != "tool_calls" or stop.raw == "stop"):
        raise DecodeError(
            "stop_reason", "there are tool calls, but the response did not stop for them"
        )
    for index, call in enumerate(calls):
        try:
            jsontext.peek(call.arguments)
        except ValueError as error:
            raise DecodeError(f"tool_calls[{index}].arguments", f"not JSON: {error}") from None


def _as_text(result: Any) -> str:
    return result if isinstance(result, str) else jsontext.text(result)
