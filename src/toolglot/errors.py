"""Everything this library raises.

ToolglotError
├── DecodeError            the input is not valid in its protocol; has a path
├── UntranslatableError    a lossy translation was rejected (`strict`); has the notes
├── UnknownProtocolError   no protocol of that name
├── InexpressibleError     a dialect cannot express a call
├── MissingExtraError      an option needs a package that is not installed
└── StreamError            events came in an order the grammar forbids: a bug in a decoder
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolglot.receipt import Note


class ToolglotError(Exception):
    """Base of all errors of this library."""


class DecodeError(ToolglotError, ValueError):
    """The input does not fit its protocol; `path` says where."""

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        self.message = message
        super().__init__(f"{path}: {message}" if path else message)

    def __reduce__(self) -> tuple[type["DecodeError"], tuple[str, str]]:
        """Pickle by the two values rather than by the joined text."""
        return DecodeError, (self.path, self.message)


class UntranslatableError(ToolglotError):
    """The translation would lose meaning, and `strict` was requested."""

    def __init__(self, notes: "tuple[Note, ...]") -> None:
        self.notes = notes
        first = notes[0]
        more = f" (and {len(notes) - 1} more)" if len(notes) > 1 else ""
        where = f"{first.path}: " if first.path else ""
        super().__init__(f"{where}{first.message}{more}")

    def __reduce__(self) -> "tuple[type[UntranslatableError], tuple[tuple[Note, ...]]]":
        """Pickle by the notes."""
        return UntranslatableError, (self.notes,)


class UnknownProtocolError(ToolglotError, LookupError):
    """There is no protocol of that name."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        self.name = name
        self.known = known
        super().__init__(f"no protocol named {name!r}; known: {', '.join(known)}")

    def __reduce__(self) -> tuple[type["UnknownProtocolError"], tuple[str, tuple[str, ...]]]:
        """Pickle by the two values."""
        return UnknownProtocolError, (self.name, self.known)


class InexpressibleError(ToolglotError, ValueError):
    """A dialect cannot express a call so that it would be parsed as the same call."""

    def __init__(self, dialect: str, name: str, reason: str) -> None:
        self.dialect = dialect
        self.name = name
        self.reason = reason
        super().__init__(f"{dialect} cannot express the call of {name!r}: {reason}")

    def __reduce__(self) -> tuple[type["InexpressibleError"], tuple[str, str, str]]:
        """Pickle by the three values."""
        return InexpressibleError, (self.dialect, self.name, self.reason)


class MissingExtraError(ToolglotError, ImportError):
    """An option needs a package that comes with an extra."""

    def __init__(self, extra: str, package: str) -> None:
        self.extra = extra
        self.package = package
        super().__init__(f"this needs {package}: pip install 'toolglot[{extra}]'")

    def __reduce__(self) -> tuple[type["MissingExtraError"], tuple[str, str]]:
        """Pickle by the two values."""
        return MissingExtraError, (self.extra, self.package)


class StreamError(ToolglotError):
    """Stream events came in an order that the grammar forbids."""
