"""Small conversions that several protocols need in the same way."""

from typing import Any, Final

from toolglot.context import Context
from toolglot.ir import Inline, Json, Part, Remote, Source, Text, ToolCall
from toolglot.wire import jsontext
from toolglot.wire.call_arguments import INVALID_KEY, VALUE_KEY, read_arguments
from toolglot.wire.fields import Fields, kind_of

ERROR_MARK: Final = "[tool error] "
"""Opens the text of a failed tool result, for protocols without a flag for it."""


# --- arguments -----------------------------------------------------------------------------------

_ABOUT_ARGUMENTS: Final = {
    "arguments-invalid": "the arguments of {name} are {why}",
    "arguments-wrapped": "the arguments of {name} are {why}",
    "arguments-normalised": "of {name}: {why}",
}


def arguments_object(call: ToolCall, ctx: Context) -> Json:
    """A call's arguments as an object, with a note where they had to be wrapped."""
    value, troubles = read_arguments(call.arguments)
    for code, why in troubles:
        message = _ABOUT_ARGUMENTS[code].format(name=call.name, why=why)
        ctx.note(
            code, ctx.where(call), message, "lossy" if code == "arguments-normalised" else None
        )
    return value


def arguments_text(value: Any) -> str:
    """Arguments given as a JSON value, as text."""
    if isinstance(value, dict) and len(value) == 1:
        # Only what `read_arguments` would wrap again.
        if not isinstance(value.get(VALUE_KEY), (dict, type(None))):
            return jsontext.text(value[VALUE_KEY])
        raw = value.get(INVALID_KEY)
        if isinstance(raw, str) and raw and not _is_json(raw):
            return raw
    return jsontext.text(value)


def take_arguments(fields: Fields, key: str) -> str | None:
    """The arguments of a call in a protocol that has them as an object; None if they are left out.

    A text that opens an object is what other protocols have in this place. Any other value is no
    object, but valid JSON, which must not harm the rest of a conversation: it is kept as it is.
    """
    given = fields.take(key)
    if type(given) is dict:
        return arguments_text(given)
    if given is None:
        return None
    if type(given) is not str:
        fields.note("arguments-normalised", key, f"expected object, got {kind_of(given)}")
        return jsontext.text(given)
    fields.note("arguments-normalised", key)
    text = given.lstrip()
    return given if not text or text[0] == "{" else jsontext.text(given)


def _is_json(text: str) -> bool:
    try:
        jsontext.peek(text)
    except ValueError:
        return False
    return True


# --- text ----------------------------------------------------------------------------------------


def joined_text(parts: tuple[Part, ...], separator: str = "\n") -> str:
    """The texts among the parts as one."""
    return separator.join(part.text for part in parts if isinstance(part, Text))


def mark_error(text: str) -> str:
    """A failed result's text, recognisable."""
    return ERROR_MARK + text


def unmark_error(text: str) -> tuple[str, bool]:
    """The text without its mark, and whether it had one."""
    if text.startswith(ERROR_MARK):
        return text[len(ERROR_MARK) :], True
    return text, False


# --- media ---------------------------------------------------------------------------------------


def data_url(source: Inline) -> str:
    """Inline bytes as a `data:` URL."""
    return f"data:{source.media_type};base64,{source.data}"


def from_url(url: str) -> Source:
    """A URL as a source; a base64 `data:` URL holds its bytes itself."""
    if url.startswith("data:"):
        head, comma, data = url[5:].partition(",")
        media_type, mark, rest = head.partition(";base64")
        if comma and mark and not rest:
            return Inline(media_type=media_type, data=data)
    return Remote(url=url)


# --- what does not fit ---------------------------------------------------------------------------


def cannot_carry(part: Part, ctx: Context) -> Json | None:
    """None: leave out a part that has no form in the target, with a note.

    Adapting has replaced such parts before an encoder sees them; this is for values that were made
    by hand and encoded directly.
    """
    kind = type(part).__name__.lower()
    ctx.note("part-dropped", ctx.where(part), f"the target has no form for this {kind}")
    return None
