"""Tool calling in small functions, for code that talks to providers itself.

    calls = parse_tool_calls(response, "openai")
    outputs = [ToolOutput(call.id, run(call.name, call.input)) for call in calls]
    messages += build_tool_result_messages(calls, outputs, "openai", response=response)

A provider is any protocol by its own name, or the name of a provider that speaks it. Reading calls
is the business of `toolglot.parsers`; here are definitions, results, and a middleware that does
both around a provider.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from toolglot import ir
from toolglot.adapt import adapt_request
from toolglot.adapt.calls.ids import with_prefix
from toolglot.adapt.tools.tool_rules import map_arguments
from toolglot.context import Context, Options
from toolglot.errors import ToolglotError
from toolglot.ir import ToolCall
from toolglot.parsers import (
    ToolParser,
    decoded_response,
    get_parser,
    protocol_of,
    validated_calls,
)
from toolglot.profiles import PROVIDERS
from toolglot.receipt import Receipt
from toolglot.registry import PROTOCOLS, ProtocolModule
from toolglot.rules import ToolRules
from toolglot.translate import Body
from toolglot.wire import jsontext
from toolglot.wire.json_values import member
from toolglot.wire.message import WireRequest, read_body


class UnmatchedOutputError(ToolglotError, ValueError):
    """An output names a call that was not made."""


# --- calls ----------------------------------------------------------------------------------------


def translate_id(id: str, provider: str) -> str:  # noqa: A002 - as the member is called
    """An id that begins as those of a provider do: `toolu_x` is `call_x` elsewhere.

    Ids are translated so only where that is asked for (`ids="prefix"`); providers take any.
    """
    prefix = protocol_of(provider).SURFACE.calls.id_prefix
    return id if prefix is None else with_prefix(id, prefix)


def map_tool_call(call: ToolCall, rules: ToolRules, *, back: bool = False) -> ToolCall:
    """A call under the names that rules give its tool and parameters, or under its own again."""
    rename = {new: old for old, new in rules.rename.items()} if back else rules.rename
    known = rename.get(call.name, call.name) if back else call.name
    mapping = rules.parameters.get(known, {})
    keys = {new: old for old, new in mapping.items()} if back else mapping
    return replace(
        call, name=rename.get(call.name, call.name), arguments=map_arguments(call.arguments, keys)
    )


# --- definitions ----------------------------------------------------------------------------------


class FormattedTools(list[ir.Json]):
    """Definitions for a provider: a list, and what became of the tools that were given."""

    __slots__ = ("_ctx", "receipt")

    def __init__(self, tools: Iterable[ir.Json], ctx: Context) -> None:
        super().__init__(tools)
        self._ctx = ctx
        about = ctx.setting("tools")
        self.receipt = Receipt(tuple(n for n in ctx.receipt() if n.path.startswith(about)))
        """What was changed, or left out because the provider has no such tools."""

    def restore(self, call: ToolCall) -> ToolCall:
        """A call of one of these, as its tool was declared: under its own name, in its own form."""
        return self._ctx.undo.call(call)


def format_tools(tools: Sequence[ir.Json], provider: str, **options: Any) -> FormattedTools:
    """Tool definitions for a provider, from those of any provider.

    They are adapted as those of a request are, with the options of a translation: freeform tools
    and namespaces become functions where there are none, schemas are narrowed, names are aliased.
    """
    target = protocol_of(provider)
    source = _protocol_of_tools(tools, target)
    chosen = Options(**{"prompt_cache": "off", **options})
    ctx = Context(chosen, source=source.SURFACE, target=target.SURFACE)
    if source is target:
        return FormattedTools(tools, ctx)
    request = _request_with(tools, source, ctx)
    adapted = adapt_request(request, ctx)
    if not target.SURFACE.tools.strict_default:
        functions = (tool for tool in request.tools if isinstance(tool, ir.FunctionTool))
        said = {tool.name for tool in functions if tool.strict is not None}
        adapted = replace(adapted, tools=tuple(_unsaid(tool, said) for tool in adapted.tools))
    body = target.encode_request(adapted, ctx).body
    return FormattedTools(member(body, *_tools_at(target)) or [], ctx)


def _unsaid(tool: ir.Tool, said: Container[str]) -> ir.Tool:
    """A tool that does not say `strict: false` if its definition did not, where that is the default
    anyway. In a request it is said, because some servers have another one.
    """
    if isinstance(tool, ir.FunctionTool) and tool.strict is False and tool.name not in said:
        return replace(tool, strict=None)
    return tool


def is_compatible(tool: ir.Json, target: str) -> tuple[bool, list[str]]:
    """Whether a provider can take a tool, and what would change or why not."""
    codec = protocol_of(target)
    source = _protocol_of_tools([tool], codec)
    ctx = Context(source=source.SURFACE, target=codec.SURFACE)
    request = _request_with([tool], source, ctx)
    adapted = request if source is codec else adapt_request(request, ctx)
    about = source.SURFACE.settings["tools"]
    reasons = [note.message for note in ctx.receipt() if note.path.startswith(about)]
    return bool(adapted.tools), reasons


def _protocol_of_tools(tools: Sequence[ir.Json], target: ProtocolModule) -> ProtocolModule:
    """The protocol that definitions are written in, by their members; else the target's."""
    keys = {key for tool in tools for key in tool}
    return next((each for each in PROTOCOLS.values() if each.CALLS.tool_key in keys), target)


def _request_with(tools: Sequence[ir.Json], codec: ProtocolModule, ctx: Context) -> ir.Request:
    declared: Any = list(tools)
    for key in reversed(_tools_at(codec)):
        declared = {key: declared}
    body = {"model": "any", codec.SURFACE.messages.path: [], **declared}
    path = codec.SURFACE.path.replace("{model}", "any")
    return codec.decode_request(WireRequest(body=body, path=path), ctx)


def _tools_at(codec: ProtocolModule) -> list[str]:
    """Where a request of a protocol declares its tools."""
    return codec.SURFACE.settings["tools"].split(".")


def declared_tools(request: ir.Json) -> Any:
    """The tools that a request of whatever protocol declares, as it does; None: it has none."""
    places = dict.fromkeys(tuple(_tools_at(codec)) for codec in PROTOCOLS.values())
    return next((found for keys in places if (found := member(request, *keys))), None)


# --- results --------------------------------------------------------------------------------------


class ToolOutput(Struct, frozen=True):
    """What a tool answered: text, or a value that is written as JSON once."""

    id: str
    output: Any
    is_error: bool = False

    def to_canonical(self) -> ir.Json:
        """The canonical form of a result."""
        return {"call_id": self.id, "content": _as_text(self.output), "is_error": self.is_error}


def format_tool_result(
    id: str,  # noqa: A002 - as the member is called
    name: str,
    result: Any,
    provider: str,
    is_error: bool = False,  # noqa: FBT001, FBT002 - callers give it by position
) -> ir.Json:
    """The message or item that gives one result to a provider."""
    codec = protocol_of(provider)
    return _messages([_result(ToolOutput(id, result, is_error), name, codec)], codec)[0]


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
    codec = protocol_of(protocol)
    names = {call.id: call.name for call in calls}
    results = []
    for output in outputs:
        if output.id not in names:
            known = ", ".join(names) or "none"
            raise UnmatchedOutputError(f"there is no call {output.id!r}; calls: {known}")
        results.append(_result(output, names[output.id], codec))
    turn = _turn(response, codec) if response is not None else []
    return [*turn, *_messages(results, codec)]


def _result(output: ToolOutput, name: str, codec: ProtocolModule) -> ir.ToolResult:
    return ir.ToolResult(
        id=output.id,
        name=name,
        parts=(ir.Text(text=_as_text(output.output)),),
        is_error=True if output.is_error else None,
        id_made=codec.SURFACE.calls.matched_by == "name",
    )


def _turn(response: Body, codec: ProtocolModule) -> list[ir.Json]:
    """The model's own messages or items, byte for byte, of a response that can be read."""
    body = codec.CALLS.whole(read_body(response))
    decoded_response(body, codec)
    return codec.CALLS.messages(body)


def _messages(results: Sequence[ir.ToolResult], codec: ProtocolModule) -> list[ir.Json]:
    if not results:
        return []
    ctx = Context(source=codec.SURFACE, target=codec.SURFACE)
    message = ir.Message(role="user", parts=tuple(results))
    body = codec.encode_request(ir.Request(model="any", messages=(message,)), ctx).body
    return list(body[codec.SURFACE.messages.path])


def _as_text(result: Any) -> str:
    return result if isinstance(result, str) else jsontext.text(result)


# --- the middleware -------------------------------------------------------------------------------

_FORMS: Final[Mapping[str, Callable[[ToolCall], ir.Json]]] = {"anthropic": ToolCall.to_anthropic}
"""The forms that clients ask for by name; all others get that of OpenAI."""


class ToolResponse(Struct, frozen=True, kw_only=True):
    """A response with its calls: `tool_calls` are the canonical ones, valid and with ids."""

    body: Any
    tool_calls: tuple[ToolCall, ...]
    output_format: str = "openai"

    @property
    def formatted(self) -> list[ir.Json]:
        """The calls in the form that was asked for."""
        return self.get_tool_calls(self.output_format)

    def get_tool_calls(self, output_format: str) -> list[ir.Json]:
        """The calls for a client: `anthropic` blocks, or for anything else entries of OpenAI."""
        return [_FORMS.get(output_format, ToolCall.to_openai)(call) for call in self.tool_calls]

    def canonical(self) -> list[ir.Json]:
        """The calls in the canonical form."""
        return [call.to_canonical() for call in self.tool_calls]


class ToolingMiddleware:
    """Stands between a client and a provider.

    A request gets its tools in the provider's form; a response is parsed, its calls are validated,
    and they can be had in any form. Nothing is changed in place. Where a parser was registered for
    a provider that is not known otherwise, tools are sent as they are.
    """

    __slots__ = ("_parser", "_provider", "_validate")

    def __init__(
        self,
        provider: str,
        *,
        parser: ToolParser | None = None,
        validate: Callable[[Sequence[ToolCall]], Sequence[ToolCall]] = validated_calls,
    ) -> None:
        self._provider = provider
        self._parser = parser or get_parser(provider)
        self._validate = validate

    @property
    def _is_known(self) -> bool:
        return self._provider in PROTOCOLS or self._provider in PROVIDERS

    def process_request(self, request: ir.Json) -> ir.Json:
        """The request with its tools, of whatever provider, as this provider wants them."""
        tools = declared_tools(request)
        if not tools or not self._is_known:
            return request
        outer, *inner = _tools_at(protocol_of(self._provider))
        formatted: Any = format_tools(tools, self._provider)
        for key in inner:
            formatted = {**(member(request, outer) or {}), key: formatted}
        return {**request, outer: formatted}

    def process_response(
        self, response: Body, output_format: str = "openai", *, request: ir.Json | None = None
    ) -> ToolResponse:
        """The response with its calls, as they are after validation.

        With the client's `request`, calls are as it declared their tools, which may have had to be
        declared to the provider in another form.
        """
        calls = self._parser.parse(response)
        tools = declared_tools(request) if request else None
        if tools and self._is_known:
            calls = [*map(format_tools(tools, self._provider).restore, calls)]
        calls = self._validate(calls)
        return ToolResponse(body=response, tool_calls=tuple(calls), output_format=output_format)
