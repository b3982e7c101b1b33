"""Where a protocol has calls: to parse a piece of a response, or to detect its protocol."""

from typing import Any

from msgspec import Struct

from toolglot.ir import Json


class CallPlaces(Struct, frozen=True, kw_only=True):
    """Where the responses of one protocol hold the model's turn and the calls in it.

    A path is a list of keys; one that ends in `[]` holds a list: `choices[].message`.
    """

    turn: str
    """From a response to the messages or items that go back into the history."""

    calls: str = ""
    """From there to the calls."""

    mark: str
    """The member that only a call has."""

    value: str | None = None
    """Its value, where the member alone does not decide."""

    not_types: tuple[str, ...] = ()
    """How the type of something ends that has the member and is no call."""

    alone: tuple[str, ...] | None = ()
    """Members by which a call is known outside of a response; None: it is not."""

    content: str = ""
    """The key of a response that is a message itself, and holds more than belongs in a history."""

    tool_key: str | None = None
    """A member that only definitions of tools in this protocol have."""

    def has_call(self, response: Any) -> bool:
        """Whether a value is a response with a call in it."""
        return any(map(self._is_call, _follow(response, f"{self.turn}.{self.calls}")))

    def has_call_in_piece(self, piece: Any) -> bool:
        """Whether a value is a call, a list of parts or a message, with a call in it."""
        if isinstance(piece, list):
            return any(map(self.has_call_in_piece, piece))
        return any(map(self._is_known_alone, (piece, *_follow(piece, self.calls))))

    def whole(self, piece: Json | list[Any]) -> Json:
        """A response; a bare call, list of calls or parts, or message is wrapped in one."""
        path = f"{self.turn}.{self.calls}"
        if isinstance(piece, list):
            return _around(piece, path.rstrip(".").removesuffix("[]"))
        if self._is_call(piece):
            return _around(piece, path)
        first = self.turn.partition(".")[0].removesuffix("[]")
        keys = ("role", self.calls.removesuffix("[]"))
        bare = first not in piece and not self.content and any(key in piece for key in keys)
        return _around(piece, self.turn) if bare else piece

    def messages(self, response: Json) -> list[Json]:
        """The model's turn as it goes into a history; the first of several choices."""
        if self.content:
            return [{"role": "assistant", "content": response.get(self.content) or []}]
        found: Any = response
        for key in self.turn.split("."):
            found = (found[0] if found else {}) if isinstance(found, list) else found
            found = found.get(key.removesuffix("[]")) or {}
        return list(found) if isinstance(found, list) else [found] if found else []

    def _is_call(self, value: Any) -> bool:
        found = value.get(self.mark) if isinstance(value, dict) else None
        if found is None or self.value not in (None, found):
            return False
        return not (self.not_types and str(value.get("type")).endswith(self.not_types))

    def _is_known_alone(self, value: Any) -> bool:
        return self.alone is not None and self._is_call(value) and all(map(value.get, self.alone))


def _follow(value: Any, path: str) -> list[Any]:
    """What a path leads to, looking into every list on the way."""
    found = [value]
    for key in filter(None, path.split(".")):
        name = key.removesuffix("[]")
        inner = [each.get(name) for each in found if isinstance(each, dict)]
        found = [one for each in inner for one in (each if isinstance(each, list) else [each])]
    return found


def _around(value: Any, path: str) -> Json:
    """The object in which a path leads to a value."""
    around: Json = value
    for key in reversed([each for each in path.split(".") if each]):
        around = {key.removesuffix("[]"): [around] if key.endswith("[]") else around}
    return around
