"""The two surfaces of a translation, for passes that need both."""

from toolglot.context import Context
from toolglot.surface import Surface


def surfaces(ctx: Context) -> tuple[Surface, Surface]:
    """Where it comes from and where it goes."""
    if ctx.source is None or ctx.target is None:
        raise ValueError("adapting needs a source and a target")
    return ctx.source, ctx.target
