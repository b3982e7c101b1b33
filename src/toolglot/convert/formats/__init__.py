"""The formats by name."""

from collections.abc import Iterable
from typing import Final

from toolglot.convert.format import Format
from toolglot.convert.formats import (
    anthropic_messages,
    atif,
    bedrock_messages,
    bfcl,
    chat_messages,
    claude_code,
    codex_rollout,
    dialect_text,
    gemini_cli,
    gemini_tuning,
    glaive,
    hermes_functions,
    opencode_export,
    openinference,
    otel_genai,
    qwen_code,
    recording,
    sharegpt,
    toolace,
    toucan,
    xlam,
)
from toolglot.dialects.table import DIALECTS
from toolglot.errors import ToolglotError
from toolglot.ir import Json

_ALL: Final[tuple[Format, ...]] = (
    claude_code.FORMAT,
    codex_rollout.FORMAT,
    opencode_export.FORMAT,
    gemini_cli.FORMAT,
    qwen_code.FORMAT,
    recording.FORMAT,
    atif.FORMAT,
    otel_genai.FORMAT,
    openinference.FORMAT,
    toolace.FORMAT,
    hermes_functions.FORMAT,
    sharegpt.FORMAT,
    glaive.FORMAT,
    xlam.FORMAT,
    bfcl.FORMAT,
    toucan.FORMAT,
    gemini_tuning.FORMAT,
    bedrock_messages.FORMAT,
    anthropic_messages.FORMAT,
    chat_messages.FINE_TUNING,
    chat_messages.TABLE,
    chat_messages.MISTRAL,
)
"""In the order in which they are recognised: what is more particular comes first."""

FORMATS: Final[dict[str, Format]] = {each.name: each for each in _ALL}
_NAMED: Final = {name: each for each in _ALL for name in (each.name, *each.aliases)}


class UnknownFormatError(ToolglotError, LookupError):
    """There is no format of that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"no format named {name!r}; known: {', '.join(FORMATS)}, text:DIALECT")

    def __reduce__(self) -> tuple[type["UnknownFormatError"], tuple[str]]:
        """Pickle by the name."""
        return UnknownFormatError, (self.name,)


def get_format(name: str) -> Format:
    """The format of that name, or an `UnknownFormatError` that lists them."""
    if name in _NAMED:
        return _NAMED[name]
    dialect = name.removeprefix(dialect_text.PREFIX)
    if dialect != name and dialect in DIALECTS:
        return dialect_text.dialect_format(dialect)
    raise UnknownFormatError(name)


def recognise(rows: Iterable[Json]) -> tuple[Format, str] | None:
    """The format of the first row that has one, and why; None: none is known."""
    for row in rows:
        for each in _ALL:
            if why := each.recognise(row):
                return each, why
    return None
