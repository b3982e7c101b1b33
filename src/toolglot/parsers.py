"""Parsers by provider, and a middleware that puts them around a provider.

    parser = get_parser("anthropic")
    calls = parser.parse(response)

    tooling = ToolingMiddleware("anthropic")
    request = tooling.process_request(request)      # tools as that provider wants them
    answer = tooling.process_response(provider.send(request))
    answer.get_tool_calls("openai")

Every provider answers in the protocol that it speaks, so one parser does for all of them. Calls
that a model wrote into its text are looked for only where the answer holds none of its own, by what
stands in `TEXT_PARSERS`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any, Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from toolglot import ir
from toolglot.calls import ToolCall, format_tools, parse_tool_calls, validate_tool_calls
from toolglot.dialects.table import DIALECTS
from toolglot.dialects.text import TextDecoder, parse_text
from toolglot.errors import DecodeError
from toolglot.profiles import PROVIDERS, Profile, UnknownProviderError, get_profile
from toolglot.translate import Body, decode_response
from toolglot.wire import jsontext
from toolglot.wire.message import read_body


class ToolParser(Protocol):
    """Reads the calls in a provider's answers."""

    def parse(self, response: Body) -> list[ToolCall]:
        """The calls, in order; none is an empty list."""
        ...

    def format(self) -> str:
        """How calls are written: `json`, `xml` or `custom`."""
        ...

    def provider_id(self) -> str:
        """Whose answers these are."""
        ...


TextParser = Callable[[str], list[ToolCall]]
"""Reads the calls that a model wrote into a text; each keeps its own piece as `raw_input`."""


def _written(dialect: str, text: str) -> list[ToolCall]:
    calls = parse_text(text, dialect=dialect).calls
    return [
        ToolCall(id=call.id, name=call.name, arguments=call.arguments, raw_input=call.raw)
        for call in calls
    ]


TEXT_PARSERS: Final[dict[str, TextParser]] = {
    dialect: partial(_written, dialect) for dialect in DIALECTS
}
"""By dialect. A provider's own dialects, in the order of its profile, are tried on its texts."""

_AROUND_CALL: Final[Mapping[str, tuple[tuple[str, str | None], Callable[[ir.Json], ir.Json]]]] = {
    "anthropic": (("type", "tool_use"), lambda call: {"content": [call]}),
    "openai-chat": (("function", None), lambda call: {"role": "assistant", "tool_calls": [call]}),
    "openai-responses": (("call_id", None), lambda call: {"output": [call]}),
    "gemini": (
        ("functionCall", None),
        lambda call: {"candidates": [{"content": {"role": "model", "parts": [call]}}]},
    ),
    "ollama": (("function", None), lambda call: {"role": "assistant", "tool_calls": [call]}),
}
"""By protocol: the member that gives away a bare call (and its value), and the answer around it."""


class NativeParser:
    """Reads the calls of a provider in the protocol that it speaks."""

    __slots__ = ("_profile", "_protocol", "_provider")

    def __init__(self, provider: str, protocol: str, profile: Profile) -> None:
        self._provider = provider
        self._protocol = protocol
        self._profile = profile

    def parse(self, response: Body) -> list[ToolCall]:
        """The calls in an answer, in a message of one, or the one call given bare."""
        text = _plain_text(response)
        if text is not None:
            return self._from_text(text, DecodeError("", "not JSON, and no call was found in it"))
        body = self._answer(read_body(response))
        calls = parse_tool_calls(body, self._protocol)
        if not calls and TEXT_PARSERS:
            return self._from_text(_text_of(body, self._protocol))
        return [_with_raw_input(call) for call in calls]

    def format(self) -> str:
        """How calls are written."""
        return self._profile.tools.format

    def provider_id(self) -> str:
        """Whose answers these are."""
        return self._provider

    def _answer(self, body: ir.Json) -> ir.Json:
        (key, value), around = _AROUND_CALL[self._protocol]
        found = body.get(key)
        return around(body) if found is not None and value in (None, found) else body

    def _from_text(self, text: str, failure: DecodeError | None = None) -> list[ToolCall]:
        for dialect in self._profile.tools.dialects:
            parse = TEXT_PARSERS.get(dialect)
            calls = parse(text) if parse else []
            if calls:
                return calls
        if failure is not None:
            raise failure
        return []


def _plain_text(response: Body) -> str | None:
    """An answer that is text and not JSON."""
    if isinstance(response, dict):
        return None
    text = response if isinstance(response, str) else bytes(response).decode("utf-8", "replace")
    return None if text.lstrip().startswith(("{", "[")) else text


def _text_of(body: ir.Json, protocol: str) -> str:
    decoded = decode_response(body, source=protocol)
    if isinstance(decoded, ir.ApiError):
        return ""
    parts = (part for choice in decoded.choices for part in choice.parts)
    return "".join(part.text for part in parts if isinstance(part, ir.Text))


def _with_raw_input(call: ToolCall) -> ToolCall:
    """Arguments that cannot be read are kept as this call's own text."""
    try:
        jsontext.peek(call.arguments)
    except ValueError as error:
        why = f"failed to parse tool arguments: {error}"
        return replace(call, raw_input=call.arguments, invalid=why)
    return call


# --- finding out ----------------------------------------------------------------------------------

_CALLS: Final[Mapping[str, tuple[str | tuple[str, str], ...]]] = {
    "openai-chat": ("choices", "message", "tool_calls", "function"),
    "ollama": ("message", "tool_calls", "function"),
    "anthropic": ("content", ("type", "tool_use")),
    "openai-responses": ("output", ("type", "function_call")),
    "gemini": ("candidates", "content", "parts", "functionCall"),
}
"""By protocol: where an answer holds a call, and what shows that. Lists are looked into."""
_PIECE: Final = 4096


def detect(text: str, tools: Iterable[Any] | None = None) -> str | None:
    """What a text is in, by its first call: a protocol if it is an answer of one, else a dialect.

    None if there is no call in it. Words that look like a mark decide nothing: the call must be
    there, and of one of the `tools` if these are given.
    """
    if text.lstrip().startswith("{"):
        try:
            body = jsontext.peek(text)
        except ValueError:
            body = None
        for protocol, path in _CALLS.items():
            if _holds(body, path):
                return protocol
    decoder = TextDecoder("auto", tools)
    for start in range(0, len(text), _PIECE):
        decoder.feed(text[start : start + _PIECE])
        if decoder.dialect is not None:
            return decoder.dialect
    decoder.close()
    return decoder.dialect


def _holds(value: Any, path: tuple[str | tuple[str, str], ...]) -> bool:
    if isinstance(value, list):
        return any(_holds(each, path) for each in value)
    if not path:
        return isinstance(value, dict)
    if not isinstance(value, dict):
        return False
    step, *rest = path
    if isinstance(step, tuple):
        return value.get(step[0]) == step[1]
    return _holds(value.get(step), tuple(rest))


# --- the registry ---------------------------------------------------------------------------------

_lock: Final = Lock()
_parsers: dict[str, ToolParser] = {}


def get_parser(provider: str) -> ToolParser:
    """The parser for a provider, or an `UnknownProviderError`."""
    found = _parsers.get(provider)
    if found is not None:
        return found
    protocol = PROVIDERS.get(provider)
    if protocol is None:
        raise UnknownProviderError("parser", provider)
    return NativeParser(provider, protocol, get_profile(provider))


def register_parser(provider: str, parser: ToolParser) -> None:
    """Add a parser, or put it in the place of another."""
    with _lock:
        _parsers[provider] = parser


def unregister_parser(provider: str) -> None:
    """Forget a registered parser; what stood there before is there again."""
    with _lock:
        _parsers.pop(provider, None)


# --- the middleware -------------------------------------------------------------------------------


class ToolResponse(Struct, frozen=True, kw_only=True):
    """An answer with its calls: `tool_calls` are the canonical ones, valid and with ids."""

    body: Any
    tool_calls: tuple[ToolCall, ...]
    output_format: str = "openai"

    @property
    def formatted(self) -> list[ir.Json]:
        """The calls in the form that was asked for."""
        return self.get_tool_calls(self.output_format)

    def get_tool_calls(self, output_format: str) -> list[ir.Json]:
        """The calls for a client: `anthropic` blocks, or for anything else entries of OpenAI."""
        if output_format == "anthropic":
            return [call.to_anthropic() for call in self.tool_calls]
        return [call.to_openai() for call in self.tool_calls]

    def canonical(self) -> list[ir.Json]:
        """The calls in the canonical form."""
        return [call.to_canonical() for call in self.tool_calls]


Validate = Callable[[Sequence[ToolCall]], Sequence[ToolCall]]


class ToolingMiddleware:
    """Stands between a client and a provider.

    A request is normalised and its tools are written for the provider; an answer is parsed, its
    calls are validated, and they are given out in any form. Nothing is changed in place.
    """

    __slots__ = ("_parser", "_provider", "_validate")

    def __init__(
        self,
        provider: str,
        *,
        parser: ToolParser | None = None,
        validate: Validate = validate_tool_calls,
    ) -> None:
        self._provider = provider
        self._parser = parser or get_parser(provider)
        self._validate = validate

    def process_request(self, request: ir.Json) -> ir.Json:
        """The request with its tools, of whatever provider, as this provider wants them."""
        tools = request.get("tools")
        if not tools:
            return request
        return {**request, "tools": format_tools(tools, self._provider)}

    def process_response(self, response: Body, output_format: str = "openai") -> ToolResponse:
        """The answer with its calls, as they are after validation."""
        calls = self._validate(self._parser.parse(response))
        return ToolResponse(body=response, tool_calls=tuple(calls), output_format=output_format)
