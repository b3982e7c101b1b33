"""Token counts in proportion to the window that a client believes in.

A client makes room in a conversation when the tokens that it sees come near the size of the window
that it believes in. Where the model takes fewer tokens, that is too late, so the tokens of
the prompt are counted in proportion. Whoever calls the translation still sees the true ones.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context, Options
from toolglot.events import Direct, Event, Started, UsageSeen
from toolglot.ir import Usage

_COUNTS: Final = ("input", "cache_read", "cache_write")


def scales(options: Options) -> bool:
    """Whether tokens are counted to the client in another measure."""
    real, believed = options.window, options.client_window
    return bool(real and believed and real != believed)


def scaled(usage: Usage, options: Options) -> Usage:
    """The tokens of a prompt as a share of the window that the client believes in."""
    real, believed = options.window, options.client_window
    if not real or not believed:
        return usage
    # Rounded up: a little too early is better than too late.
    known: dict[str, Any] = {
        field: -(-count * believed // real)
        for field in _COUNTS
        if (count := getattr(usage, field)) is not None
    }
    return replace(usage, **known)


class ScaleUsage:
    """Counts the tokens of the prompt in the client's measure."""

    __slots__ = ("_ctx", "_noted")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._noted = False

    def feed(self, event: Event) -> Sequence[Event]:
        if not isinstance(event, (Started, UsageSeen)) or event.usage is None:
            return (event,)
        if not self._noted:
            self._noted = True
            options = self._ctx.options
            words = f"a window of {options.window} tokens counts as {options.client_window}"
            self._ctx.note("usage-scaled", self._ctx.answer_at("usage"), words)
        return (replace(event, usage=scaled(event.usage, self._ctx.options)),)

    def direct(self, index: int) -> Direct | None:
        """No text changes."""
        return index, None
