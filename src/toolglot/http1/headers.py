"""Headers of a message: names in lower case, values as they came."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar, overload

_T = TypeVar("_T")

_SINGLE: Final = frozenset({
    "authorization", "content-length", "content-type", "date", "etag", "from", "host",
    "last-modified", "location", "origin", "proxy-authorization", "referer", "retry-after",
    "server", "user-agent",
})  # fmt: skip
"""Headers of which the first counts. The values of all others are lists, and can be joined."""


class Headers(Mapping[str, str]):
    """The headers of a message that came in. Lookups ignore case.

    `lower` is the plain dictionary behind them. It is looked up where every request passes: with
    names in lower case that takes a tenth of the time.
    """

    __slots__ = ("lower", "repeated")

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self.lower = found = dict[str, str]()
        self.repeated: set[str] = set()
        """Names that came more than once."""
        for name, value in raw:
            key = name.lower().decode("utf-8", "surrogateescape")
            if key not in found:
                found[key] = value.decode("utf-8", "surrogateescape")
                continue
            self.repeated.add(key)
            if key not in _SINGLE:
                found[key] += ", " + value.decode("utf-8", "surrogateescape")

    @classmethod
    def of(cls, given: Mapping[str, str]) -> "Headers":
        """Headers that are text already."""
        made = cls(())
        made.lower.update((name.lower(), value) for name, value in given.items())
        return made

    def __getitem__(self, name: str) -> str:
        found = self.lower
        return found[name] if name in found else found[name.lower()]

    @overload
    def get(self, name: str, /) -> str | None: ...

    @overload
    def get(self, name: str, /, default: str | _T) -> str | _T: ...

    def get(self, name: str, /, default: Any = None) -> Any:
        """The value of a header, without the detour of an exception."""
        found = self.lower.get(name)
        return found if found is not None else self.lower.get(name.lower(), default)

    def __contains__(self, name: object) -> bool:
        return name in self.lower or (isinstance(name, str) and name.lower() in self.lower)

    def __iter__(self) -> Iterator[str]:
        return iter(self.lower)

    def __len__(self) -> int:
        return len(self.lower)


def encode_headers(headers: Mapping[str, str]) -> bytes:
    """Headers as they are sent, each with its line end; a `ValueError` if one would be two."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    data = lines.encode("utf-8", "surrogateescape")
    if data.count(b"\n") != len(headers) or data.count(b"\r") != len(headers) or b"\0" in data:
        raise ValueError("a header must not contain line breaks")
    return data
