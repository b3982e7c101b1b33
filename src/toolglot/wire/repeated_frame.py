"""Events of a stream that differ from the one before in nothing but one text.

Most servers write each delta in the same words, so that the bytes around its text are those of the
delta before, and only the text between them has to be read.

Why that is exact. `learn` wants an event without any escape, in which the text stands once between
quotes, and a text without `:`, `,`, brackets and braces. One of these stands between any two
strings of JSON, so the quotes are those of one string, and since nothing is escaped this is the
string that was read. `text` wants the same bytes around another string of JSON. Both events then
differ in the value of that string alone.
"""

from typing import Final

from toolglot.wire import jsontext

_BETWEEN_STRINGS: Final = frozenset(':,[]{}"\\')
_read_string: Final = jsontext.reader(str)


class RepeatedFrame:
    """The bytes before and behind the text of an event."""

    __slots__ = ("_end", "_head", "_start", "_tail")

    def __init__(self, head: bytes, tail: bytes) -> None:
        self._head = head
        self._tail = tail
        self._start = len(head) - 1
        self._end = 1 - len(tail)

    @classmethod
    def learn(cls, data: bytes, text: str) -> "RepeatedFrame | None":
        """The frame of a whole event from which one text was read; None: it cannot be told."""
        if b"\\" in data or not text.isprintable() or not _BETWEEN_STRINGS.isdisjoint(text):
            return None
        literal = b'"%b"' % text.encode()
        if data.count(literal) != 1:
            return None
        head, _, tail = data.partition(literal)
        return cls(head + b'"', b'"' + tail)

    def text(self, data: bytes) -> str | None:
        """The text of one more such event; None: it may be another one."""
        if data.startswith(self._head) and data.endswith(self._tail):
            return _read_string(data[self._start : self._end])
        return None
