"""Another name for the model in an answer that is otherwise passed on as it is.

Some clients drop the reasoning of an answer whose model is not the one they asked for. Only lines
that name a model are decoded and encoded again; every other byte is unchanged.
"""

from typing import Any, Final

from toolglot.wire import jsontext

_FIELD: Final = b"data:"


class RenameModel:
    """Bytes of a stream, with the model named as the client named it."""

    __slots__ = ("_keys", "_marks", "_model", "_tail")

    def __init__(self, places: tuple[str, ...], model: str) -> None:
        self._keys = tuple(tuple(place.split(".")) for place in places)
        self._marks = tuple({b'"' + keys[-1].encode() + b'"' for keys in self._keys})
        self._model = model
        self._tail: list[bytes] = []

    def feed(self, data: bytes) -> bytes:
        """The lines that these bytes complete."""
        end = data.rfind(b"\n") + 1
        if not end:
            self._tail.append(data)
            return b""
        whole = b"".join((*self._tail, data[:end]))
        self._tail = [data[end:]]
        if not self._marked(whole):
            return whole
        return b"".join(self._line(line) for line in whole.splitlines(keepends=True))

    def close(self) -> bytes:
        """The line that the stream ended in."""
        tail, self._tail = b"".join(self._tail), []
        return self._line(tail)

    def body(self, value: Any) -> Any:
        """A whole answer, named the same way."""
        for *parents, key in self._keys:
            node = value
            for step in parents:
                node = node.get(step) if isinstance(node, dict) else None
            if isinstance(node, dict) and isinstance(node.get(key), str):
                node[key] = self._model
        return value

    def _marked(self, data: bytes) -> bool:
        return any(mark in data for mark in self._marks)

    def _line(self, line: bytes) -> bytes:
        if not self._marked(line):
            return line
        head = _FIELD if line.startswith(_FIELD) else b""
        text = line[len(head) :]
        bare = text.strip()
        if bare[:1] != b"{":
            return line
        try:
            value = jsontext.decode(bare)
        except ValueError:
            return line
        return head + text.replace(bare, jsontext.encode(self.body(value)), 1)
