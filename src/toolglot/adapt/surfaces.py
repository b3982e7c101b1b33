"""The two surfaces of a translation, for passes that need both."""

from typing import Final

from msgspec.structs import replace

from toolglot.context import Context, Options
from toolglot.surface import Surface


def surfaces(ctx: Context) -> tuple[Surface, Surface]:
    """Where it comes from and where it goes."""
    if ctx.source is None or ctx.target is None:
        raise ValueError("adapting needs a source and a target")
    return ctx.source, ctx.target


# --- models without tools -------------------------------------------------------------------------

DEFAULT_DIALECT: Final = "hermes"
"""The dialect in which tools are told as text: the most common one, and models know JSON."""


def emulation(options: Options) -> str | None:
    """The dialect in which tools are told as text; None if the provider has tools."""
    kind, _, dialect = options.tools.partition(":")
    if kind == "native" and not dialect:
        return None
    if kind != "emulated":
        raise ValueError(f"tools are 'native', 'emulated' or 'emulated:DIALECT': {options.tools!r}")
    return dialect or DEFAULT_DIALECT


def tool_surfaces(ctx: Context) -> tuple[Surface, Surface]:
    """The surfaces as passes over tools see them: text tells functions, and nothing else."""
    source, target = surfaces(ctx)
    if emulation(ctx.options) is None:
        return source, target
    name = f"a model without tools ({target.name})"
    return source, replace(target, name=name, tools=frozenset({"function"}))
