"""Requests of Ollama, both ways."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final, cast

from toolglot.context import Context
from toolglot.ir import (
    Json,
    Message,
    OutputFormat,
    ReasoningSettings,
    Request,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from toolglot.protocols.ollama.parts import decode_parts, decode_result, encode_parts, encode_result
from toolglot.protocols.ollama.surface import NAME, OPTIONS, SETTINGS, SURFACE
from toolglot.protocols.ollama.tools import decode_tools, encode_tools
from toolglot.wire.fields import Fields, WireDocument, kind_of, merge, read_settings, write_settings
from toolglot.wire.message import WireRequest

_FORMAT: Final = {"": "text", "json": "json"}
_FORMAT_FROM: Final = {kind: word for word, kind in _FORMAT.items()}


def decode_request(wire: WireRequest, ctx: Context) -> Request:
    """The interlingua of a request."""
    fields = Fields(wire.body, WireDocument(ctx, NAME, SURFACE.minor))
    model = fields.text("model")
    calls = _Calls(wire.body)
    messages = tuple(_decode_message(each, calls) for each in fields.each("messages"))
    tools = decode_tools(fields)
    options, wire_form = _decode_options(fields)
    return Request(
        model=model,
        messages=messages,
        tools=tools,
        reasoning=_decode_think(fields),
        output=_decode_format(fields),
        **read_settings(fields, SETTINGS),
        **options,
        wire_form=wire_form,
        extras=fields.rest(),
    )


def encode_request(request: Request, ctx: Context) -> WireRequest:
    """The wire form of a request."""
    body: Json = {"model": request.model}
    messages = request.messages
    if request.system is not None:
        messages = (request.system, *messages)
    if messages or ctx.foreign(NAME):
        # A request without messages loads the model.
        body["messages"] = [wire for each in messages for wire in _encode_message(each, ctx)]
    tools = encode_tools(request.tools, ctx)
    if tools:
        body["tools"] = tools
    write_settings(body, request, SETTINGS)
    _encode_think(body, request.reasoning)
    _encode_format(body, request.output)
    _encode_options(body, request)
    return WireRequest(body=merge(body, request.extras, NAME), path=SURFACE.path)


# --- messages -------------------------------------------------------------------------------------


class _Calls:
    """The calls of a conversation: names those without an id, and finds them for their results."""

    __slots__ = ("_answered", "_asking", "_body", "_count", "_given", "_open")

    def __init__(self, body: Json) -> None:
        self._body = body
        self._given: set[str] | None = None
        self._answered: set[str] | None = None
        self._open: list[ToolCall] = []
        self._count = 0
        self._asking = False

    def new_id(self) -> str:
        """An id by the place in the conversation, so that it is the same in the next turn."""
        if self._given is None:
            self._given = set(_given_ids(self._body))
        while (made := f"call_{self._count}") in self._given:
            self._count += 1
        self._count += 1
        return made

    def ask(self, calls: list[ToolCall]) -> None:
        """Remember the calls of an assistant message; a new turn forgets those of the last."""
        if not self._asking:
            self._open.clear()
        self._asking = True
        self._open.extend(calls)

    def answer(self, given: str | None, name: str | None) -> str:
        """The id of the call that a result answers: the one given, else the first of that name.

        Servers pair by order alone, and some clients (LiteLLM) return ids with results only.
        """
        self._asking = False
        for index, call in enumerate(self._open):
            if call.id == given if given else not name or call.name == name:
                del self._open[index]
                return call.id
        if given is None:
            return self.new_id()
        for index, call in enumerate(self._open):
            if (not name or call.name == name) and not self._is_answered(call):
                del self._open[index]
                return call.id
        return given

    def _is_answered(self, call: ToolCall) -> bool:
        """Whether some result names the id of a call."""
        if call.id_made:
            return False
        if self._answered is None:
            self._answered = set(_answered_ids(self._body))
        return call.id in self._answered

    def other(self) -> None:
        """Somebody else spoke."""
        self._asking = False


def _given_ids(body: Json) -> Iterator[str]:
    for message in body["messages"]:
        if isinstance(message, dict):
            calls = message.get("tool_calls")
            for call in calls if isinstance(calls, list) else ():
                if isinstance(call, dict) and isinstance(call.get("id"), str):
                    yield call["id"]
    yield from _answered_ids(body)


def _answered_ids(body: Json) -> Iterator[str]:
    for message in body["messages"]:
        if isinstance(message, dict) and isinstance(message.get("tool_call_id"), str):
            yield message["tool_call_id"]


def _decode_message(fields: Fields, calls: _Calls) -> Message:
    role = fields.text("role")
    if role == "tool":
        return Message(role="user", parts=(decode_result(fields, calls.answer),))
    if role not in ("system", "user", "assistant"):
        fields.fail("role", f"expected system, user, assistant or tool, got {role!r}")
    parts, wire_form = decode_parts(fields, calls.new_id)
    if role == "assistant":
        calls.ask([part for part in parts if isinstance(part, ToolCall)])
    else:
        calls.other()
        if not parts and not wire_form:
            parts = (Text(text=""),)
    return Message(role=cast("Role", role), parts=parts, wire_form=wire_form, extras=fields.rest())


def _encode_message(message: Message, ctx: Context) -> list[Json]:
    """The results of a message each on its own, before whatever else is in it."""
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    wires = [encode_result(part, ctx) for part in results]
    if results and len(results) == len(message.parts):
        return wires
    parts = tuple(part for part in message.parts if not isinstance(part, ToolResult))
    role = "system" if message.role == "developer" else message.role
    where = partial(ctx.where_turn, message)
    wire: Json = {"role": role, **encode_parts(parts, message.wire_form, ctx, where)}
    wires.append(merge(wire, message.extras, NAME))
    return wires


# --- thinking and structured output ---------------------------------------------------------------


def _decode_think(fields: Fields) -> ReasoningSettings | None:
    think = fields.take("think")
    if think is None:
        return None
    if type(think) is bool:
        return ReasoningSettings(enabled=think)
    if type(think) is not str:
        fields.fail("think", f"expected boolean or string, got {kind_of(think)}")
    return ReasoningSettings(effort=think)


def _encode_think(body: Json, settings: ReasoningSettings | None) -> None:
    if settings is None:
        return
    if settings.enabled is not False and settings.effort is not None:
        body["think"] = settings.effort
    elif settings.enabled is not None:
        body["think"] = settings.enabled


def _decode_format(fields: Fields) -> OutputFormat | None:
    wire = fields.take("format")
    if wire is None:
        return None
    if type(wire) is dict:
        return OutputFormat(kind="schema", schema=wire)
    if type(wire) is not str or wire not in _FORMAT:
        fields.fail("format", "expected json or a schema")
    return OutputFormat(kind=cast("Any", _FORMAT[wire]))


def _encode_format(body: Json, output: OutputFormat | None) -> None:
    if output is None:
        return
    if output.kind == "schema" and output.schema is not None:
        body["format"] = output.schema
    else:
        body["format"] = _FORMAT_FROM.get(output.kind, "json")


# --- options --------------------------------------------------------------------------------------


def _decode_options(fields: Fields) -> tuple[Json, str]:
    """The settings under `options`, and the wire form: this protocol's name for a bare `stop`."""
    options = fields.maybe_fields("options")
    if options is None:
        return {}, ""
    found = read_settings(options, OPTIONS)
    limit = options.peek("num_predict")
    if not isinstance(limit, (int, float)) or limit >= 0:
        found["max_tokens"] = options.maybe_int("num_predict")
    bare = type(options.peek("stop")) is str
    found["stop"] = (options.text("stop"),) if bare else options.maybe_texts("stop")
    fields.absorb(options)
    return found, NAME if bare else ""


def _encode_options(body: Json, request: Request) -> None:
    options: Json = {}
    write_settings(options, request, OPTIONS)
    if request.max_tokens is not None:
        options["num_predict"] = request.max_tokens
    if request.stop is not None:
        bare = request.wire_form == NAME and len(request.stop) == 1
        options["stop"] = request.stop[0] if bare else list(request.stop)
    if options:
        body["options"] = options
