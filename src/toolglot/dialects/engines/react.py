"""`Action:` and `Action Input:` lines."""

import re
from dataclasses import dataclass
from typing import Final

from toolglot.dialects import literals
from toolglot.dialects.reader import Form, NotACall, Reader, Steps, Stops, encoded, plausible
from toolglot.dialects.writers import NamedWriter, Writer

_NUMBERED: Final = re.compile(r"(?:\s+\d+)?\s*:")
_MAX_LINE: Final = 256
_ENDS: Final = Stops("\nObservation", "\nAction", "\nThought", "\nFinal Answer")
_NEXT: Final = Stops("\nThought", "\nAction", "\nFinal Answer")


@dataclass(frozen=True, kw_only=True)
class ReactForm(Form):
    """One action with its input."""

    def writer(self) -> Writer:
        return NamedWriter(template="Action: {name}\nAction Input: {arguments}")

    def read(self, reader: Reader, opener: str) -> Steps[None]:  # noqa: ARG002
        """Read one action."""
        head, stop = yield from reader.until(Stops("\n"), _MAX_LINE)
        match = _NUMBERED.match(head)
        if not stop or match is None:
            raise NotACall
        name = head[match.end() :].strip().strip("`\"'[]")
        yield from reader.spaces()
        yield from reader.expect("Action")
        words, stop = yield from reader.until(Stops(":"), _MAX_LINE)
        if not stop or words.split()[-1:] != ["Input"] or not plausible(name):
            raise NotACall
        text, stop = yield from reader.until(_ENDS)
        arguments = self._arguments(reader, name, text.strip())
        if stop == "\nObservation":
            _, stop = yield from reader.until(_NEXT)
        reader.pos -= len(stop)
        reader.offer(name, arguments)

    def _arguments(self, reader: Reader, name: str, text: str) -> str:
        if text.startswith("```"):
            text = text.strip("`").removeprefix("json").strip()
        if text.startswith("{"):
            try:
                value = literals.lenient(text)
            except (ValueError, ArithmeticError):
                raise NotACall from None
            return text if literals.is_json(text) else encoded(value)
        key = reader.tools.sole_string(reader.tools.resolve(name) or "")
        if key is None and reader.tools.known:
            raise NotACall
        return encoded({key or "input": text.strip('"')})
