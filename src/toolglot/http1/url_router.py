"""Routes by method and path."""

import re
from collections.abc import Mapping
from typing import Final, Generic, TypeVar
from urllib.parse import unquote

from msgspec import Struct

_T = TypeVar("_T")
_PLACE: Final = re.compile(r"\{(\w+)(?::([^{}]+))?\}")


class Found(Struct, Generic[_T], frozen=True):
    """The route of a request, and the parts of the path that it names."""

    route: _T
    match: Mapping[str, str]


class UrlRouter(Generic[_T]):
    """Finds routes. A path may have places: `{id}` for one segment, `{model:.+}` for a pattern."""

    def __init__(self) -> None:
        self._fixed: dict[str, dict[str, _T]] = {}
        self._patterns: list[tuple[re.Pattern[str], dict[str, _T]]] = []

    def add(self, method: str, path: str, route: _T) -> None:
        """Add a route; the first of two for the same method and path counts."""
        if "{" not in path:
            self._fixed.setdefault(path, {}).setdefault(method, route)
            return
        pattern = re.compile(_regex(path))
        for known, methods in self._patterns:
            if known == pattern:
                methods.setdefault(method, route)
                return
        self._patterns.append((pattern, {method: route}))

    def find(self, method: str, path: str) -> Found[_T] | set[str]:
        """The route; or the methods that are allowed at that path, none of them this one."""
        method = "GET" if method == "HEAD" else method
        allowed: set[str] = set()
        methods = self._fixed.get(path)
        if methods is not None:
            if method in methods:
                return Found(methods[method], {})
            allowed.update(methods)
        for pattern, methods in self._patterns:
            match = pattern.fullmatch(path)
            if match is None:
                continue
            if method in methods:
                parts = {name: unquote(value) for name, value in match.groupdict().items()}
                return Found(methods[method], parts)
            allowed.update(methods)
        return allowed


def _regex(path: str) -> str:
    made, end = "", 0
    for place in _PLACE.finditer(path):
        made += re.escape(path[end : place.start()])
        made += f"(?P<{place[1]}>{place[2] or '[^/]+'})"
        end = place.end()
    return made + re.escape(path[end:])
