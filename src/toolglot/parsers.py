"""Tool calls out of responses: one parser for every provider, and any of your own.

    calls = parse_tool_calls(response, "openai")

    parser = get_parser("anthropic")
    calls = parser.parse(response)

A provider answers in the protocol that it speaks, so one parser does for all of them. A parser of
your own counts wherever a provider is named, after `register_parser`.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from msgspec.structs import replace

from toolglot import ir
from toolglot.context import Context
from toolglot.dialects.dialect import Dialect
from toolglot.dialects.reader import Form, NotACall, Reader, Steps, Tools
from toolglot.dialects.table import DIALECTS, register_dialect
from toolglot.dialects.text import TextDecoder, parse_text
from toolglot.dialects.writers import Unwritable, WantedCall, Writer
from toolglot.errors import DecodeError, ToolglotError
from toolglot.ir import ToolCall
from toolglot.profiles import PROVIDERS, UnknownProviderError, get_profile
from toolglot.registry import PROTOCOLS, ProtocolModule, get_protocol
from toolglot.translate import Body, decode_response
from toolglot.wire import jsontext
from toolglot.wire.message import read_body

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
    """The parser for a provider or protocol, or an `UnknownProviderError`."""
    if provider in _registered:
        return _registered[provider]
    if provider not in PROVIDERS and provider not in PROTOCOLS:
        raise UnknownProviderError("parser", provider)
    return ProtocolParser(provider)


def protocol_of(provider: str) -> ProtocolModule:
    """The protocol of that name, or the one that a provider usually speaks."""
    return get_protocol(provider if provider in PROTOCOLS else PROVIDERS.get(provider, provider))


# --- parsing --------------------------------------------------------------------------------------


def parse_tool_calls(response: Body, provider: str, *, strict: bool = False) -> list[ToolCall]:
    """The tool calls in a provider's response, in order; none is an empty list.

    `strict` refuses calls in a response that does not say it stopped for them, and arguments that
    are no JSON; otherwise one bad call never harms the others.
    """
    if provider in _registered:
        calls = list(_registered[provider].parse(response))
    else:
        codec = protocol_of(provider)
        decoded = decoded_response(response, codec)
        calls = _calls_of(decoded)
        if strict and calls:
            _check_stop(decoded)
    if strict:
        _check_arguments(calls)
    return calls


class ProtocolParser:
    """Reads a provider's calls in the protocol that it speaks, and failing that, in its text.

    A response may be a whole one, a message of one, a bare call or the bare text of a model. Calls
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
        return _calls_of(decoded) or self._from_text(_text_of(decoded))

    def format(self) -> str:
        return get_profile(self._provider).tools.format if self._provider in PROVIDERS else "json"

    def provider_id(self) -> str:
        return self._provider

    def _from_text(self, text: str) -> list[ToolCall]:
        known = get_profile(self._provider).tools.dialects if self._provider in PROVIDERS else ()
        return next(filter(None, (_written(text, dialect) for dialect in known)), [])


def decoded_response(response: Body, codec: ProtocolModule) -> ir.Response:
    """A response, of which a piece may do; one that tells an error is a `DecodeError`."""
    decoded = decode_response(codec.CALLS.whole(read_body(response)), source=codec.NAME)
    if isinstance(decoded, ir.ApiError):
        raise DecodeError("error", decoded.message)
    return decoded


def _calls_of(response: ir.Response) -> list[ToolCall]:
    parts = (part for choice in response.choices for part in choice.parts)
    return [_readable(part) for part in parts if isinstance(part, ToolCall)]


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
        return replace(call, raw_input=call.arguments, invalid=_UNREADABLE.format(error))
    return call


def _text_of(response: ir.Response) -> str:
    parts = (part for choice in response.choices for part in choice.parts)
    return "".join(part.text for part in parts if isinstance(part, ir.Text))


def _plain_text(response: Body) -> str | None:
    """A response that is text and not JSON."""
    if isinstance(response, dict):
        return None
    text = response if isinstance(response, str) else bytes(response).decode("utf-8", "replace")
    return None if text.lstrip().startswith(("{", "[")) else text


def _written(text: str, dialect: str) -> list[ToolCall]:
    """The calls that a model wrote into a text."""
    if dialect in _registered:
        return list(_registered[dialect].parse(text))
    if dialect not in DIALECTS:
        return []
    return [
        ToolCall(id=call.id, name=call.name, arguments=call.arguments, raw_input=call.raw)
        for call in parse_text(text, dialect=dialect).calls
    ]


def _check_stop(response: ir.Response) -> None:
    stop = response.choices[0].stop
    if stop is None or stop.kind != "tool_calls" or stop.raw == "stop":
        raise DecodeError(
            "stop_reason", "there are tool calls, but the response did not stop for them"
        )


def _check_arguments(calls: Iterable[ToolCall]) -> None:
    for index, call in enumerate(calls):
        try:
            jsontext.peek(call.arguments)
        except ValueError as error:
            raise DecodeError(f"tool_calls[{index}].arguments", f"not JSON: {error}") from None


# --- detecting ------------------------------------------------------------------------------------


def detect(text: str, tools: Iterable[Any] | None = None) -> str | None:
    """Whose call is the first in a text: a protocol's if it is a response, else a dialect's.

    Failing these, a registered parser's that finds calls in it. None if there is no call. Words
    that look like a mark decide nothing: the call must be there, and of one of the `tools` if these
    are given.
    """
    if text.lstrip().startswith("{"):
        try:
            body = jsontext.peek(text)
        except ValueError:
            body = None
        for name, codec in PROTOCOLS.items():
            if codec.CALLS.has_call(body):
                return name
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

_UNREADABLE: Final = "failed to parse tool arguments: {}"


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
            return replace(call, invalid=_UNREADABLE.format(why))
        call = replace(call, arguments=call.raw_input.strip())
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


def _why_unreadable(text: str) -> str:
    """What keeps a text from being arguments; nothing does if it is a JSON object."""
    try:
        return "" if isinstance(jsontext.peek(text), dict) else "it is no JSON object"
    except ValueError as error:
        return str(error)


def _new_id(call: ToolCall, taken: Container[str]) -> str:
    seed = f"{call.name}\0{call.arguments}\0{call.raw_input}".encode("utf-8", "replace")
    ctx = Context(seed=seed)
    while (made := ctx.new_id("call_")) in taken:
        pass
    return made
