"""Tool calls out of responses: one parser for every provider, and any of your own.

    calls = parse_tool_calls(response, "openai")

    parser = get_parser("anthropic")
    calls = parser.parse(response)

A provider answers in the protocol that it speaks, so one parser does for all of them; another reads
a dialect, by its name. A parser of your own counts wherever a provider is named, after
`register_parser`.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from msgspec.structs import replace

from toolglot import ir
from toolglot.adapt.calls.validate import (
    NO_NAME,
    UNREADABLE,
    new_call_id,
    read_raw_input,
)
from toolglot.context import Context
from toolglot.dialects.dialect import Dialect
from toolglot.dialects.reader import Form, NotACall, Reader, Steps, Tools
from toolglot.dialects.table import DIALECTS, register_dialect
from toolglot.dialects.text import TextDecoder, parse_text
from toolglot.dialects.writers import Unwritable, WantedCall, Writer
from toolglot.errors import DecodeError, ToolglotError
from toolglot.events import Growing, PartDelta, PartStarted, fold
from toolglot.ir import ToolCall
from toolglot.profiles import PROVIDERS, UnknownProviderError, get_profile
from toolglot.registry import PROTOCOLS, ProtocolModule, get_protocol, protocol_name
from toolglot.translate import Body, decode_response
from toolglot.wire import jsontext
from toolglot.wire.message import plain_body
from toolglot.wire.ndjson import NdjsonDecoder
from toolglot.wire.sse import SseDecoder

_PIECE: Final = 4096
"""Characters of a text that are read at once until its dialect is known."""


class InvalidCallError(ToolglotError, ValueError):
    """A call that nobody can answer."""


class ToolParser(Protocol):
    """Reads the calls in a provider's responses."""

    def parse(self, response: Body) -> Sequence[ToolCall]:
        """The calls, in order; a response that cannot be read is a `ValueError`."""
        ...

    def format(self) -> str:
        """How calls are written: `json`, `xml` or `custom`."""
        ...

    def provider_id(self) -> str:
        """Whose responses these are."""
        ...


# --- the registry ---------------------------------------------------------------------------------

_registered: Final[dict[str, ToolParser]] = {}


def register_parser(name: str, parser: ToolParser) -> None:
    """Use a parser for a provider, or for a dialect that its models write, in place of any other.

    It then counts in `parse_tool_calls`, `get_parser`, `detect` and `ToolingMiddleware`. One that
    reads text, as its `format()` says, is also a dialect of that name, for translation.
    """
    if name not in _registered and name not in DIALECTS and parser.format() != "json":
        register_dialect(
            Dialect(
                name=name,
                models=f"read by the parser {name}",
                forms=(ParserForm(parser=name),),
                write=ReadOnlyWriter(),
                example=f"what the parser {name} reads",
                auto=False,
            )
        )
    _registered[name] = parser


@dataclass(frozen=True, kw_only=True)
class ParserForm(Form):
    """A whole text, given to a registered parser when it has ended.

    What a call has as its `raw_input` is cut out of the text; without that, the call takes all of
    it.
    """

    openers: tuple[str, ...] = ()
    at: str = "begin"
    parser: str

    def read(self, reader: Reader, opener: str) -> Steps[None]:  # noqa: ARG002 - there is none
        while (yield from reader.more()):
            pass
        try:
            calls = _registered[self.parser].parse(reader.buf[reader.pos :])
        except (KeyError, ValueError):
            calls = ()
        if not calls:
            raise NotACall
        end = len(reader.buf)
        for call in calls:
            found = reader.buf.find(call.raw_input, reader.pos) if call.raw_input else -1
            if found >= 0:
                reader.pos = found
                reader.give_back()
            reader.pos = found + len(call.raw_input) if found >= 0 else end
            reader.offer(call.name, call.arguments, call.id)
        reader.pos = end
        reader.give_back()


@dataclass(frozen=True, kw_only=True)
class ReadOnlyWriter(Writer):
    """A parser cannot write."""

    def body(self, call: WantedCall, *, careful: bool) -> str:  # noqa: ARG002
        raise Unwritable("a registered parser only reads calls")


def get_parser(provider: str) -> ToolParser:
    """The parser for a provider, a protocol or a dialect, or an `UnknownProviderError`."""
    if provider in _registered:
        return _registered[provider]
    if provider in PROVIDERS or provider in PROTOCOLS:
        return ProtocolParser(provider)
    if provider in DIALECTS:
        return DialectParser(provider)
    raise UnknownProviderError("parser", provider)


def protocol_of(provider: str) -> ProtocolModule:
    """The protocol of that name, or the one that a provider usually speaks."""
    return get_protocol(protocol_name(provider))


# --- parsing --------------------------------------------------------------------------------------


def parse_tool_calls(response: Body, provider: str, *, strict: bool = False) -> list[ToolCall]:
    """The tool calls in a provider's response, in order; none is an empty list.

    `strict` refuses calls in a response that does not say it stopped for them, and arguments that
    are no JSON object; otherwise one bad call never harms the others.
    """
    if provider in _registered or (provider in DIALECTS and not _is_spoken(provider)):
        calls = list(get_parser(provider).parse(response))
    else:
        codec = protocol_of(provider)
        decoded = decoded_response(response, codec)
        calls = _calls_of(decoded)
        if strict and calls:
            _check_stop(decoded)
    if strict:
        _check_arguments(calls)
    return calls


def _is_spoken(provider: str) -> bool:
    """Whether a name is that of a protocol, or of a provider that speaks one."""
    return provider in PROTOCOLS or provider in PROVIDERS


class DialectParser:
    """Reads calls in a dialect, out of the text of a model or of a response of any protocol."""

    __slots__ = ("_dialect",)

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect

    def parse(self, response: Body) -> list[ToolCall]:
        text = _plain_text(response)
        if text is None:
            read = _read_any(plain_body(response))
            text = _text_of(read[1]) if read is not None else _as_text(response)
        return _written(text, self._dialect)

    def format(self) -> str:
        return "xml" if DIALECTS.find(self._dialect).example.lstrip().startswith("<") else "custom"

    def provider_id(self) -> str:
        return self._dialect


class ProtocolParser:
    """Reads a provider's calls in the protocol that it speaks, and failing that, in its text.

    A response may be a whole one, a message of one, a bare call, a list of parts, a stream that was
    recorded, or the bare text of a model. Calls
    in a text are looked for only in the dialects of the provider's models, and only where the
    response holds no others.
    """

    __slots__ = ("_codec", "_provider")

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._codec = protocol_of(provider)

    def parse(self, response: Body) -> list[ToolCall]:
        text = _plain_text(response)
        if text is not None:
            calls = self._from_text(text)
            if not calls:
                raise DecodeError("", "not JSON, and no call was found in it")
            return calls
        decoded = decoded_response(response, self._codec)
        return _calls_of(decoded) or self._from_text(_text_of(_parts_of(decoded)))

    def format(self) -> str:
        return get_profile(self._provider).tools.format if self._provider in PROVIDERS else "json"

    def provider_id(self) -> str:
        return self._provider

    def _from_text(self, text: str) -> list[ToolCall]:
        known = get_profile(self._provider).tools.dialects if self._provider in PROVIDERS else ()
        return next(filter(None, (_written(text, dialect) for dialect in known)), [])


def decoded_response(response: Body, codec: ProtocolModule) -> ir.Response:
    """A response, of which a piece may do, or a stream; if it tells an error, a `DecodeError`."""
    response = plain_body(response)
    if not isinstance(response, (dict, list)) and _is_stream(response):
        decoder = codec.StreamDecoder(Context(source=codec.SURFACE))
        data = _as_text(response).encode("utf-8", "surrogatepass")
        decoded = fold([*decoder.feed(data), *decoder.close()])
    else:
        value = response if isinstance(response, (dict, list)) else jsontext.decode(response)
        if isinstance(value, list) and not (value and all(isinstance(e, dict) for e in value)):
            raise DecodeError("", "expected object, got array")
        if isinstance(value, (dict, list)):
            value = codec.CALLS.whole(value)
        decoded = _text_message(value) or decode_response(value, source=codec.NAME)
    if isinstance(decoded, ir.ApiError):
        raise DecodeError("error", decoded.message)
    return decoded


def _text_message(value: Any) -> ir.Response | None:
    """A message that is nothing but a text, which is how a history may have it."""
    if not isinstance(value, dict) or value.keys() != {"role", "content"}:
        return None
    text = value["content"]
    if not isinstance(text, str):
        return None
    return ir.Response(id="", model="", choices=(ir.Choice(parts=(ir.Text(text=text),)),))


def _parts_of(response: ir.Response) -> list[ir.Part]:
    return [part for choice in response.choices for part in choice.parts]


def _calls_of(response: ir.Response) -> list[ToolCall]:
    return [_readable(part) for part in _parts_of(response) if isinstance(part, ToolCall)]


def _readable(call: ToolCall) -> ToolCall:
    """A call with arguments; if these are no JSON, they are its raw input, with the reason.

    What only its own protocol reads is left out, so that equal calls are equal.
    """
    call = replace(call, extras=ir.NO_EXTRAS) if call.extras else call
    if call.type != "function":
        return call
    if not call.arguments:
        return replace(call, arguments="{}")
    try:
        jsontext.peek(call.arguments)
    except ValueError as error:
        return replace(call, raw_input=call.arguments, invalid=UNREADABLE.format(error))
    return call


def _text_of(parts: Iterable[ir.Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, ir.Text))


def _plain_text(response: Body) -> str | None:
    """A response that is a model's text: no JSON, and no stream."""
    response = plain_body(response)
    if isinstance(response, (dict, list)) or _is_stream(response):
        return None
    text = _as_text(response)
    if text.lstrip().startswith("["):
        # Some dialects begin so, too.
        return None if _json_of(text) is not None else text
    return None if text.lstrip().startswith("{") else text


def _as_text(response: Any) -> str:
    if isinstance(response, (dict, list)):
        return jsontext.text(response)
    return response if isinstance(response, str) else bytes(response).decode("utf-8", "replace")


def _json_of(text: str) -> Any:
    """The value of a JSON text; None if it is none."""
    try:
        return jsontext.peek(text)
    except ValueError:
        return None


_STREAM: Final = re.compile(r"\s*(?::[^\n]*\n\s*)*(?:event|data|id|retry):")
"""How a stream of server-sent events begins."""


def _is_stream(response: Any) -> bool:
    text = _as_text(response)
    return _STREAM.match(text) is not None or _has_lines(text)


def _has_lines(text: str) -> bool:
    """Whether a text is several lines of JSON objects."""
    first, _, rest = text.strip().partition("\n")
    return first[:1] == "{" == rest[:1] and isinstance(_json_of(first), dict)


def _stream_values(text: str) -> Iterator[ir.Json]:
    """The objects in a stream, of events or of lines."""
    data = text.encode("utf-8", "surrogatepass")
    decoder = SseDecoder() if _STREAM.match(text) else NdjsonDecoder()
    pieces = [*decoder.feed(data), *decoder.close()]
    for piece in pieces:
        value = _json_of(bytes(piece[1] if isinstance(piece, tuple) else piece).decode())
        if isinstance(value, dict):
            yield value


def _read_any(response: Any) -> tuple[str, Sequence[ir.Part]] | None:
    """A response of whatever protocol, with the name of that; None if it is none.

    A stream may have been cut: what came of it counts.
    """
    name = _protocol_of_response(response)
    if not name:
        return None
    codec = get_protocol(name)
    try:
        if not isinstance(response, (dict, list)) and _is_stream(response):
            return name, _parts_of_stream(response, codec)
        return name, _parts_of(decoded_response(response, codec))
    except ToolglotError:
        return None


def _parts_of_stream(response: Any, codec: ProtocolModule) -> list[ir.Part]:
    decoder = codec.StreamDecoder(Context(source=codec.SURFACE))
    parts: dict[int, Growing] = {}
    for event in decoder.feed(_as_text(response).encode("utf-8", "surrogatepass")):
        if isinstance(event, PartStarted):
            parts[event.index] = Growing(event)
        elif isinstance(event, PartDelta):
            parts[event.index].add(event)
    return [part.finish() for part in parts.values()]


def _protocol_of_response(response: Any) -> str:
    """The protocol of a response or stream, or of a piece with a call in it; empty if of none."""
    if not isinstance(response, (dict, list)) and _is_stream(response):
        values = list(_stream_values(_as_text(response)))
        return next((n for v in values for n, c in PROTOCOLS.items() if c.API.is_event(v)), "")
    value = response if isinstance(response, (dict, list)) else _json_of(_as_text(response))
    if isinstance(value, dict):
        named = ((n, c.CALLS.has_call(value) or c.API.is_response(value)) for n, c in _codecs())
        found = next((name for name, fits in named if fits), "")
        if found:
            return found
    return next((name for name, codec in _codecs() if codec.CALLS.has_call_in_piece(value)), "")


def _codecs() -> Iterable[tuple[str, ProtocolModule]]:
    return PROTOCOLS.items()


def _written(text: str, dialect: str) -> list[ToolCall]:
    """The calls that a model wrote into a text."""
    if dialect in _registered:
        return list(_registered[dialect].parse(text))
    if dialect not in DIALECTS:
        return []
    return [
        ToolCall(
            id=call.id,
            name=call.name,
            arguments=call.arguments,
            raw_input=call.raw,
            type="bash" if call.name == _SHELL and _COMMAND.fullmatch(call.raw) else "function",
        )
        for call in parse_text(text, dialect=dialect).calls
    ]


_SHELL: Final = "bash"
_COMMAND: Final = re.compile(r"\s*<[\w.:-]+>[^<]*</[\w.:-]+>\s*")
"""A call that is a command alone, without a name."""


def _check_stop(response: ir.Response) -> None:
    stop = response.choices[0].stop
    if stop is None or stop.kind != "tool_calls" or stop.raw == "stop":
        raise DecodeError(
            "stop_reason", "there are tool calls, but the response did not stop for them"
        )


def _check_arguments(calls: Iterable[ToolCall]) -> None:
    for index, call in enumerate(calls):
        path = f"tool_calls[{index}].arguments"
        try:
            value = jsontext.peek(call.arguments)
        except ValueError as error:
            raise DecodeError(path, f"not JSON: {error}") from None
        if not isinstance(value, dict) and call.type != "custom":
            raise DecodeError(path, "no JSON object")


# --- detecting ------------------------------------------------------------------------------------


def detect(text: str, tools: Iterable[Any] | None = None) -> str | None:
    """Whose call is the first in a text: a protocol's if it is a response, else a dialect's.

    A response may be a whole one, a message, a call, a part or a list of these, or a recorded
    stream. Failing these, a registered parser's that finds calls in it. None if there is no call.
    Words that look like a mark decide nothing: the call must be there, and of one of the `tools` if
    these are given in a text.
    """
    text = _as_text(plain_body(text))
    read = _read_any(text) if text.lstrip().startswith(("{", "[")) or _is_stream(text) else None
    if read is not None:
        name, parts = read
        if any(isinstance(part, ToolCall) for part in parts):
            return name
        text = _text_of(parts)
    tools = None if tools is None else list(tools)
    return _dialect_of(text, tools) or _parser_for(text, tools)


def _dialect_of(text: str, tools: Iterable[Any] | None) -> str | None:
    decoder = TextDecoder("auto", tools)
    for start in range(0, len(text), _PIECE):
        decoder.feed(text[start : start + _PIECE])
        if decoder.dialect is not None:
            return decoder.dialect
    decoder.close()
    return decoder.dialect


def _parser_for(text: str, tools: Iterable[Any] | None) -> str | None:
    declared = Tools(tools)
    for name, parser in list(_registered.items()):
        try:
            calls = parser.parse(text)
        except ValueError:
            continue
        if any(declared.resolve(call.name) for call in calls):
            return name
    return None


# --- validating -----------------------------------------------------------------------------------


def validate_tool_call(call: ToolCall, *, taken: Container[str] = ()) -> ToolCall:
    """A call that can be run: with a name, an id that none of `taken` is, and arguments.

    A call without a name is refused. One without an id gets one, the same for the same call.
    `raw_input` is read as JSON, then as XML; what cannot be read stays there, with the reason under
    `invalid`.
    """
    if not call.name:
        raise InvalidCallError(NO_NAME)
    if not call.id:
        call = replace(call, id=new_call_id(call, taken))
    if call.raw_input and call.arguments in ("", "{}") and not call.invalid:
        text, why = read_raw_input(call.raw_input)
        call = replace(call, arguments=text, invalid=why)
    return call


def validated_calls(calls: Iterable[ToolCall]) -> list[ToolCall]:
    """Calls that can be run, each with an id of its own; see `validate_tool_call`."""
    given = list(calls)
    taken = {call.id for call in given}
    valid: list[ToolCall] = []
    for call in given:
        valid.append(validate_tool_call(call, taken=taken))
        taken.add(valid[-1].id)
    return valid
