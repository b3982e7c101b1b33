"""The model of an answer under the name that the client asked for."""

from collections.abc import Sequence

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.events import Direct, Event, Started


def requested_model(ctx: Context) -> str:
    """The name of the model for the client; empty: the one that the answer has.

    An answer that stays in its protocol is changed only if the provider was asked for another one.
    """
    if ctx.request is None or (ctx.source is ctx.target and ctx.options.model is None):
        return ""
    return ctx.request.model


class NameModel:
    """Names the model of a stream as the client did, where the provider has another name for it."""

    __slots__ = ("_model",)

    def __init__(self, ctx: Context) -> None:
        self._model = requested_model(ctx)

    def feed(self, event: Event) -> Sequence[Event]:
        if isinstance(event, Started) and self._model:
            return (replace(event, model=self._model),)
        return (event,)

    def direct(self, index: int) -> Direct | None:
        """No text changes."""
        return index, None
