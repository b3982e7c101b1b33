"""Variants of Gemini's wire: keys in two cases, signatures as base64, optional ids."""

import re
from base64 import b64encode, urlsafe_b64decode
from collections.abc import Callable, Mapping
from typing import Any, Final

from toolglot.context import Context
from toolglot.ir import Extras, Json, Part, Reasoning, Text, ToolCall
from toolglot.protocols.gemini.surface import NAME, STATE, STATE_MARK, VARIANTS
from toolglot.wire.fields import Fields

# --- keys -----------------------------------------------------------------------------------------

_SNAKE: Final = re.compile(r"(?<=[a-z0-9])_([a-z0-9])")


_DATA: Final = frozenset(
    {
        "args",
        "response",
        "parameters",
        "parametersJsonSchema",
        "responseSchema",
        "responseJsonSchema",
    }
)
"""Members whose own members are data of the client, not keys of the protocol."""


def key_normaliser(ctx: Context) -> Callable[[Json, Fields], Json]:
    """What turns `snake_case` keys into `camelCase`; the context keeps how they were spelled."""

    def normalise(value: Json, where: Fields) -> Json:
        if "_" not in "".join(value):
            return value
        renamed: Json = {}
        for key, member in value.items():
            camel = _camel(key, value)
            renamed[camel] = member
            if camel != key:
                if not ctx.spelled and not ctx.in_protocol:
                    words = "snake_case keys are read as camelCase"
                    ctx.note("spelling-normalised", where.path(), words)
                ctx.spelled[camel] = key
        return renamed

    return normalise


def _camel(key: str, value: Json) -> str:
    camel = _SNAKE.sub(lambda match: match[1].upper(), key)
    return key if camel in value else camel


def respelled(body: Json, spelled: Mapping[str, str] | None) -> Json:
    """A body with its keys as a client had spelled them."""
    if not spelled:
        return body
    return {
        spelled.get(key, key): member if key in _DATA else _respelled_member(member, spelled)
        for key, member in body.items()
    }


def _respelled_member(member: Any, spelled: Mapping[str, str]) -> Any:
    if type(member) is dict:
        return respelled(member, spelled)
    if type(member) is list:
        return [_respelled_member(each, spelled) for each in member]
    return member


# --- which of several wire forms a value had -----------------------------------------------------


def with_variants(extras: Extras, variants: Json) -> Extras:
    """Extras that remember an unusual wire form; the same ones if there was none."""
    return {**extras, VARIANTS: variants} if variants else extras


def variants_of(value: Any) -> Json:
    """The wire form of a value, if it was unusual."""
    extras: Extras = value.extras
    return extras.get(VARIANTS, {}) if extras else {}


def takes_openapi(ctx: Context) -> bool:
    """Whether schemas from elsewhere are written as OpenAPI has them, for older servers."""
    return ctx.options.schema_dialect == "openapi" and ctx.foreign(NAME)


def left_out(value: Any) -> tuple[str, ...]:
    """The members that the wire left out, though we would write them."""
    without: tuple[str, ...] = variants_of(value).get("without", ())
    return without


# --- signatures -----------------------------------------------------------------------------------

_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)(={0,2})")
_LAST: Final = {0: None, 2: frozenset("AQgw"), 3: frozenset("AEIMQUYcgkosw048")}


def take_signature(fields: Fields) -> str | None:
    """The reasoning state on a part. What is no base64 also stays among the rest, as it is."""
    raw = fields.peek("thoughtSignature")
    if type(raw) is not str or is_base64(raw):
        raw = fields.maybe_text("thoughtSignature")
        return _unmark(raw) if raw is not None and raw.startswith(STATE_MARK) else raw
    return raw


def armour(wire: Json | None, part: Part) -> Json | None:
    """A part whose signature clients can read as base64, whoever issued it."""
    if wire is None or not isinstance(part, (Text, Reasoning, ToolCall)):
        return wire
    signature = part.signature
    if signature is not None and not is_base64(signature):
        own = part.extras.get(NAME, {})
        if own.get("thoughtSignature") != signature:
            marked = STATE + signature.encode("utf-8", "surrogatepass")
            wire["thoughtSignature"] = b64encode(marked).decode()
    return wire


def is_base64(text: str) -> bool:
    """Whether a strict reader takes it: one alphabet, padding right or absent, no stray bits."""
    match = _BASE64.fullmatch(text)
    if match is None:
        return False
    padding = len(match[1])
    size = len(text) - padding
    over = size % 4
    if over not in _LAST or padding > -over % 4:
        return False
    last = _LAST[over]
    return last is None or text[size - 1] in last


def _unmark(raw: str) -> str:
    try:
        padded = raw.rstrip("=") + "=" * (-len(raw.rstrip("=")) % 4)
        data = urlsafe_b64decode(padded.replace("+", "-").replace("/", "_"))
        return data.removeprefix(STATE).decode("utf-8", "surrogatepass")
    except ValueError:
        return raw


# --- ids ------------------------------------------------------------------------------------------


class CallIds:
    """Gives ids to calls and results that came without: equal ones for equal beginnings."""

    __slots__ = ("_count", "_made", "_make", "_seen", "_waiting", "strict")

    def __init__(self, make: Callable[[], str] | None = None, *, strict: bool = False) -> None:
        self.strict = strict
        self._make = make
        self._count = 0
        self._made: set[str] = set()
        self._seen: set[str] = set()
        self._waiting: dict[str, dict[str, None]] = {}

    def call(self, fields: Fields, name: str) -> tuple[str, bool]:
        """The id of a call, and whether it was made up."""
        given = self._given(fields)
        call_id = self._new("call_") if given is None else given
        if given is None:
            self._made.add(call_id)
        self._count += 1
        self._seen.add(call_id)
        self._waiting.setdefault(name, {})[call_id] = None
        return call_id, given is None

    def result(self, fields: Fields, name: str) -> tuple[str, bool]:
        """The id of the call that a result answers: its own, or that of the first one waiting."""
        waiting = self._waiting.get(name)
        given = None if waiting and self._is_invented(fields, waiting) else self._given(fields)
        if given is not None:
            if waiting:
                waiting.pop(given, None)
            return given, False
        if waiting:
            first = next(iter(waiting))
            del waiting[first]
            return first, True
        made = self._new("result_")
        self._seen.add(made)
        return made, True

    def _is_invented(self, fields: Fields, waiting: dict[str, None]) -> bool:
        """Whether a client made up an id for the result of a call that has none."""
        given = fields.peek("id")
        return type(given) is str and given not in self._seen and next(iter(waiting)) in self._made

    def _given(self, fields: Fields) -> str | None:
        # An empty id is none, and stays among the rest.
        return None if fields.peek("id") == "" else fields.maybe_text("id")

    def _new(self, prefix: str) -> str:
        if self._make is not None:
            return self._make()
        number = self._count
        while (made := f"{prefix}{number}") in self._seen:
            number += 1
        return made
