"""The same thing said in every protocol, for tests over all pairs of them."""

from typing import Any

from toolglot import (
    PROTOCOLS,
    Context,
    Receipt,
    WireRequest,
    WireResponse,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    get_protocol,
    ir,
    translate_request,
    translate_response,
)

NAMES = tuple(PROTOCOLS)
PAIRS = tuple((a, b) for a in NAMES for b in NAMES if a != b)
TRIO = ("anthropic", "openai-chat", "openai-responses")
TRIO_PAIRS = tuple((a, b) for a in TRIO for b in TRIO if a != b)


def path_to(name: str) -> str:
    """The path of a request, for the protocols that keep the model there."""
    return PROTOCOLS[name].SURFACE.path.replace("{model}", "some-model")


def user(*parts: ir.Part | str) -> ir.Message:
    """What a user says; a string is a text."""
    return ir.Message(role="user", parts=_parts(parts))


def assistant(*parts: ir.Part | str) -> ir.Message:
    """What a model said."""
    return ir.Message(role="assistant", parts=_parts(parts))


def call(name: str, arguments: str = "{}", id: str = "call_1") -> ir.ToolCall:  # noqa: A002
    """A call of a tool."""
    return ir.ToolCall(id=id, name=name, arguments=arguments)


def result(text: str, id: str = "call_1", **more: Any) -> ir.ToolResult:  # noqa: A002
    """The answer of a tool, in words."""
    return ir.ToolResult(id=id, parts=(ir.Text(text=text),), **more)


def tool(name: str, **more: Any) -> ir.FunctionTool:
    """A tool without parameters."""
    return ir.FunctionTool(name=name, parameters={"type": "object", "properties": {}}, **more)


def asking(*messages: ir.Message, **more: Any) -> ir.Request:
    """A request in the interlingua."""
    return ir.Request(model="some-model", messages=messages, **more)


def answer(*parts: ir.Part | str, stop: Any = None, **more: Any) -> ir.Response:
    """A response in the interlingua; it stopped for its calls, if it has any."""
    found = _parts(parts)
    called = any(isinstance(part, ir.ToolCall) for part in found)
    kind = stop or ("tool_calls" if called else "end")
    choice = ir.Choice(parts=found, stop=ir.StopReason(kind=kind))
    return ir.Response(id="resp_1", model="that-model", choices=(choice,), **more)


def _parts(parts: tuple[ir.Part | str, ...]) -> tuple[ir.Part, ...]:
    return tuple(ir.Text(text=part) if isinstance(part, str) else part for part in parts)


def said(request: ir.Request, name: str) -> Any:
    """A request as the body that a client of a protocol sends."""
    return encode_request(request, target=name).body


def carried(
    request: ir.Request, source: str, target: str, **options: Any
) -> tuple[WireRequest, Receipt]:
    """A request, said in one protocol and translated to another."""
    wire = encode_request(request, target=source)
    return translate_request(
        wire.body, source=source, target=target, path=wire.path or path_to(source), **options
    )


def heard(wire: WireRequest, name: str) -> ir.Request:
    """What a provider reads in a request."""
    return decode_request(wire.body, source=name, path=wire.path or path_to(name))


def across(request: ir.Request, source: str, target: str, **options: Any) -> ir.Request:
    """A request as the provider of another protocol reads it."""
    return heard(carried(request, source, target, **options)[0], target)


def home(request: ir.Request, source: str, target: str) -> ir.Request:
    """A request after the way to another protocol and back."""
    there, _ = carried(request, source, target)
    back, _ = translate_request(
        there.body, source=target, target=source, path=there.path or path_to(target)
    )
    return heard(back, source)


def shown(
    response: ir.Response | ir.ApiError, source: str, target: str, **options: Any
) -> tuple[WireResponse, Receipt]:
    """A response or error of one protocol as a client of another gets it."""
    wire = encode_response(response, target=source)
    return translate_response(
        wire.body,
        source=source,
        target=target,
        status=wire.status,
        headers=wire.headers,
        **options,
    )


def seen(response: ir.Response, source: str, target: str, **options: Any) -> ir.Response:
    """A response as a client of another protocol reads it."""
    wire, _ = shown(response, source, target, **options)
    decoded = decode_response(wire.body, source=target, status=wire.status)
    assert isinstance(decoded, ir.Response)
    return decoded


def parts_of(message: Any, kind: type[Any]) -> list[Any]:
    """The parts of one kind in a message, choice, request or response, in order."""
    if isinstance(message, ir.Request):
        return [part for each in message.messages for part in parts_of(each, kind)]
    if isinstance(message, ir.Response):
        return [part for each in message.choices for part in parts_of(each, kind)]
    return [part for part in message.parts if isinstance(part, kind)]


def words(message: Any) -> str:
    """All plain text in a message, request or response."""
    return "".join(part.text for part in parts_of(message, ir.Text))


def pair(source: str, target: str, **more: Any) -> Context:
    """A context for passes that need both surfaces."""
    surfaces = get_protocol(source).SURFACE, get_protocol(target).SURFACE
    return Context(source=surfaces[0], target=surfaces[1], **more)


def codes(receipt: Any) -> set[str]:
    """The codes of the notes in a receipt or context."""
    return set((receipt.receipt() if isinstance(receipt, Context) else receipt).codes())
