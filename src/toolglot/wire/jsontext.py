"""JSON text. The only module that knows a JSON library.

msgspec is fast and exact about integers, but it drops all but the last of duplicate keys without a
word, rounds long decimals, and refuses the lone surrogates that JavaScript clients emit. So
`decode` reads decimals itself and proves that no member was dropped: a member takes its colon
along, so the value has as many colons when it is written back. This holds for every spelling of the
same value, as long as no string has a colon that is written as an escape. Whatever is not proved
is read again by a slower, careful reader.
"""

import json
import re
import threading
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, Final, Protocol, TypeVar

import msgspec

from toolglot.errors import DecodeError

_T = TypeVar("_T")

_LENIENT: Final = msgspec.json.Decoder(Any)
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")
MAX_DEPTH: Final = 500
_TOO_DEEP: Final = "nested too deeply to be read"


class Notes(Protocol):
    """Collects notes: the part of a `Context` that reading JSON needs."""

    def note(self, code: str, path: str) -> None:
        """Add a note of a change."""
        ...


def decode(data: bytes | str, ctx: Notes | None = None) -> Any:
    """The value of a JSON text; whatever cannot be read exactly is a `DecodeError`."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    try:
        value = _EXACT.decode(raw)
        if not _is_whole(raw, value):
            value = _decode_carefully(data, ctx)
    except RecursionError:
        raise DecodeError("", _TOO_DEEP) from None
    except (msgspec.DecodeError, UnicodeError):
        value = _decode_carefully(data, ctx)
    return value


def peek(data: bytes | str) -> Any:
    """The value of a JSON text from a trusted or lenient place, or a `ValueError`."""
    try:
        return _LENIENT.decode(data)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except (msgspec.DecodeError, UnicodeError):
        try:
            return json.loads(  # noqa: TID251 - the one place
                data, parse_float=_number, parse_constant=_no_constant
            )
        except RecursionError:
            raise ValueError(_TOO_DEEP) from None
        except UnicodeError:
            raise ValueError("not UTF-8") from None
        except json.JSONDecodeError as error:
            raise ValueError(_place(error)) from None


def reader(shape: type[_T]) -> Callable[[bytes], _T | None]:
    """What reads JSON text of one shape, several times faster than `peek`; None: it has another."""
    read = msgspec.json.Decoder(shape).decode

    def found(data: bytes) -> _T | None:
        try:
            return read(data)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None

    return found


class Glance(msgspec.Struct, frozen=True):
    """What decides where a request goes, read without reading the rest."""

    model: Any = None
    stream: Any = None


_GLANCE: Final = msgspec.json.Decoder(Glance)
_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ELEMENTS: Final = msgspec.json.Decoder(list[msgspec.Raw])


def glance(data: bytes) -> Glance:
    """The model and streaming of a request; a `DecodeError` if it is no JSON object."""
    try:
        return _GLANCE.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        value = decode(data)
    if not isinstance(value, dict):
        raise DecodeError("", "expected a JSON object")
    return Glance(value.get("model"), value.get("stream"))


def splice(data: bytes, key: str, value: Any) -> bytes:
    """A JSON object with one member set; all others are unchanged."""
    return encode({**members(data), key: value})


def members(data: bytes | msgspec.Raw) -> dict[str, Any]:
    """The members of a JSON object, unread where that can be: `read` gives the value of one."""
    found: dict[str, Any] = _parted(data, _MEMBERS, dict, "object")
    return found


def has_repeated_members(data: bytes) -> bool:
    """Whether a JSON object has a member of its own twice; nothing is said of those inside it."""
    counts: list[int] = []

    def count(pairs: list[tuple[str, Any]]) -> None:
        counts.append(len(pairs))

    try:
        json.loads(data, object_pairs_hook=count)  # noqa: TID251 - the one place
    except (ValueError, RecursionError):
        raise DecodeError("", "it cannot be read exactly") from None
    # The outermost object ends last.
    return counts[-1] != len(members(data))


def elements(data: bytes | msgspec.Raw) -> list[Any]:
    """The elements of a JSON array, unread where that can be: `read` gives the value of one."""
    found: list[Any] = _parted(data, _ELEMENTS, list, "array")
    return found


def _parted(data: bytes | msgspec.Raw, decoder: Any, kind: type[Any], name: str) -> Any:
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        value = decode(bytes(data))
    if not isinstance(value, kind):
        raise DecodeError("", f"expected a JSON {name}")
    return value


def read(value: Any) -> Any:
    """The value of a member or an element."""
    return decode(bytes(value)) if isinstance(value, msgspec.Raw) else value


class Split(msgspec.Struct, frozen=True):
    """A JSON object in two texts: one of its members, and the object without it."""

    member: bytes
    rest: bytes


def split(data: bytes, key: str) -> Split | None:
    """A JSON object without one of its members; None if it has no such, or has a key twice."""
    try:
        members: dict[str, msgspec.Raw] = _MEMBERS.decode(data)
        if key not in members:
            return None
        whole = _is_compact(data, members) or _is_uniform(data, members)
        member = bytes(members.pop(key))
        rest = _ENCODER.encode(members)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if not whole and (
        data.count(b":") != member.count(b":") + 1 + rest.count(b":") or _has_escaped_colon(data)
    ):
        return None
    return Split(member, rest)


def _is_compact(data: bytes, members: dict[str, msgspec.Raw]) -> bool:
    """Whether an object is as short as one with these members can be, so that it has no others."""
    keys, count = "".join(members), len(members)
    if not (keys.isascii() and keys.replace("_", "").isalnum()):
        return False  # Other keys may be spelled in several ways.
    return len(data) == len(keys) + 4 * count + 1 + sum(map(len, members.values()))


_OPENING: Final = re.compile(rb'\{([ \n\r\t]*)"[^"\\]*"([ \n\r\t]*:[ \n\r\t]*)')
_BETWEEN: Final = re.compile(rb"[ \n\r\t]*,[ \n\r\t]*")
_CLOSING: Final = re.compile(rb"[ \n\r\t]*\}[ \n\r\t]*")


def _is_uniform(data: bytes, members: dict[str, msgspec.Raw]) -> bool:
    """Whether an object is these members with the same white space between all of them, as most
    programs write it, indented or not. Comparing costs half of what counting does.
    """
    opening = _OPENING.match(data)
    if opening is None:
        return False
    start, colon = opening.end(1), opening[2]
    comma = _BETWEEN.match(data, opening.end() + len(next(iter(members.values()))))
    text = (comma[0] if comma else b",").join(
        [b"%b%b%b" % (_ENCODER.encode(key), colon, value) for key, value in members.items()]
    )
    end = start + len(text)
    return data.startswith(text, start) and _CLOSING.fullmatch(data, end) is not None


def proved(data: bytes) -> Any:
    """The value of a JSON text that can be read exactly at once, or a `ValueError`."""
    try:
        value = _EXACT.decode(data)
        if _is_whole(data, value):
            return value
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    raise ValueError("it must be read with care")


def exact(data: str) -> Any:
    """Like `peek`, with every decimal number as it is written: `3.10` keeps its zero."""
    try:
        return json.loads(  # noqa: TID251 - the one place
            data, parse_float=Decimal, parse_constant=_no_constant
        )
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except InvalidOperation:
        raise ValueError("a number is out of range") from None


def encode(value: Any) -> bytes:
    """The JSON text of a value: compact, keys in their order."""
    try:
        return _ENCODER.encode(value)
    except RecursionError:
        raise DecodeError("", "nested too deeply to be written") from None
    except UnicodeEncodeError:
        return _encode_carefully(value)


def written(value: Any) -> Any:
    """A value that is written already, to be a part of others."""
    return msgspec.Raw(encode(value))


def writer(head: bytes, tail: bytes) -> Callable[[Any], bytes]:
    """What writes a value as JSON text between others that stay."""
    write = _ENCODER.encode

    def written(value: Any) -> bytes:
        try:
            return b"".join((head, write(value), tail))
        except UnicodeEncodeError:
            return b"".join((head, _encode_carefully(value), tail))

    return written


def text(value: Any) -> str:
    """Like `encode`, as a string."""
    return encode(value).decode()


def spaced(value: Any) -> str:
    """The JSON text of a value on one line, with a space after each comma and colon."""
    data = encode(value)
    try:
        return msgspec.json.format(data, indent=0).decode()
    except msgspec.DecodeError:
        return data.decode()


def pretty(value: Any) -> bytes:
    """The JSON text of a value, indented for people unless it holds lone surrogates."""
    data = encode(value)
    try:
        return msgspec.json.format(data, indent=2)
    except msgspec.DecodeError:
        return data


def _is_whole(raw: bytes, value: Any) -> bool:
    """Whether no member was dropped when a text was read."""
    # A buffer that is kept saves a third of this for long texts: no memory is asked for.
    written = _BUFFERS.__dict__.setdefault("written", bytearray())
    _ENCODER.encode_into(value, written)
    whole = raw == written or (
        raw.count(b":") == written.count(b":") and not _has_escaped_colon(raw)
    )
    if len(written) > _LONGEST_KEPT:
        del _BUFFERS.written
    return whole


_BUFFERS: Final = threading.local()
_LONGEST_KEPT: Final = 2**22


def _has_escaped_colon(raw: bytes) -> bool:
    return b"\\u003" in raw and (b"\\u003a" in raw or b"\\u003A" in raw)


class _Twice(dict[str, Any]):
    """An object in which a key came twice."""

    key: str = ""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    seen: set[str] = set()
    twice = _Twice(value)
    for key, _ in pairs:
        if key in seen:
            twice.key = key
            break
        seen.add(key)
    return twice


def _number(digits: str) -> float | Decimal:
    value = float(digits)
    if repr(value) == digits:
        return value
    try:
        exact = Decimal(digits)
    except InvalidOperation:
        raise ValueError("a number is out of range") from None
    return value if Decimal(repr(value)) == exact else exact


_EXACT: Final = msgspec.json.Decoder(Any, float_hook=_number)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _decode_carefully(data: bytes | str, ctx: Notes | None) -> Any:
    try:
        source = data if isinstance(data, str) else bytes(data).decode()
        value = json.loads(  # noqa: TID251 - the one place
            source, object_pairs_hook=_pairs, parse_float=_number, parse_constant=_no_constant
        )
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise DecodeError("", f"not UTF-8: byte {error.start} is 0x{byte:02x}") from None
    except RecursionError:
        raise DecodeError("", _TOO_DEEP) from None
    except json.JSONDecodeError as error:
        raise DecodeError("", f"not JSON: {_place(error)}") from None
    except ValueError as error:
        raise DecodeError("", f"not JSON: {error}") from None
    _inspect(value, ctx)
    return value


def _place(error: json.JSONDecodeError) -> str:
    return f"{error.msg} in line {error.lineno}, column {error.colno}"


def _inspect(value: Any, ctx: Notes | None) -> None:
    """Reject duplicate keys and note lone surrogates, each with its path."""
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, dict):
            if isinstance(node, _Twice):
                raise DecodeError(_member(path, node.key), "the key is there twice")
            members = [(_member(path, key), child) for key, child in node.items()]
            if ctx is not None:
                for (where, _), key in zip(members, node, strict=True):
                    if not _is_unicode(key):
                        ctx.note("surrogate-kept", where)
            stack.extend(reversed(members))
        elif isinstance(node, list):
            stack.extend(
                (f"{path}[{index}]", node[index]) for index in range(len(node) - 1, -1, -1)
            )
        elif ctx is not None and isinstance(node, str) and not _is_unicode(node):
            ctx.note("surrogate-kept", path)


def _member(path: str, key: str) -> str:
    if not _is_unicode(key):
        key = key.encode("utf-8", "backslashreplace").decode()
    return f"{path}.{key}" if path else key


def _is_unicode(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _encode_carefully(value: Any) -> bytes:
    """The text of a value that holds lone surrogates: they can only be written as escapes."""
    written: list[bytes] = []
    stack: list[Any] = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, _Written):
            written.append(node)
        elif isinstance(node, dict):
            pieces: list[Any] = [_OPEN]
            for key, child in node.items():
                pieces += (_scalar(key), _COLON, child, _COMMA)
            pieces[max(1, len(pieces) - 1) :] = [_CLOSE]
            stack.extend(reversed(pieces))
        elif isinstance(node, (list, tuple)):
            pieces = [_START]
            for child in node:
                pieces += (child, _COMMA)
            pieces[max(1, len(pieces) - 1) :] = [_STOP]
            stack.extend(reversed(pieces))
        else:
            written.append(_scalar(node))
    return b"".join(written)


class _Written(bytes):
    """A piece of JSON text."""

    __slots__ = ()


_OPEN, _CLOSE, _START, _STOP, _COLON, _COMMA = (_Written((byte,)) for byte in b"{}[]:,")


def _scalar(value: Any) -> _Written:
    try:
        return _Written(_ENCODER.encode(value))
    except UnicodeEncodeError:
        return _Written(json.dumps(value).encode("ascii"))  # noqa: TID251 - the one place
