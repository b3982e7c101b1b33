"""Tools that were seen before.

Agents send the same tools with every request of a conversation, in the same words. So these words
are read once, and what each step of a translation makes of the tools is remembered: `Context.known`
holds the tools as the last step left them, and a step that still finds them there need not do its
work again. Its notes are told again every time.

What is remembered is shared by all translations: nobody may change it. That is why only who hands
out bytes and nothing else reads requests with `read_known`.
"""

from collections.abc import Callable
from functools import lru_cache
from operator import is_
from typing import Any, Final, TypeVar

from msgspec import Struct

from toolglot.context import Context
from toolglot.ir import Json
from toolglot.wire import jsontext
from toolglot.wire.message import read_body

_S = TypeVar("_S")
_R = TypeVar("_R")

_TOOLS: Final = "tools"
_TEXTS: Final = 64
_LONGEST: Final = 2**18
"""How many texts of tools are remembered, and how many bytes one of them may have."""
_STEPS: Final = 8 * _TEXTS


def read_known(body: bytes, ctx: Context) -> Json:
    """A JSON object from bytes, like `read_body`; tools in words that were read before are known
    from then on.
    """
    split = jsontext.split(body, _TOOLS)
    if split is None or len(split.member) > _LONGEST:
        return read_body(body, ctx)
    try:
        tools = _read(split.member)
    except ValueError:
        return read_body(body, ctx)
    value = read_body(split.rest, ctx)
    value[_TOOLS] = ctx.known = tools
    return value


def write_known(body: Json, ctx: Context) -> bytes:
    """The text of an object; that of known tools in it is written once."""
    if _TOOLS in body and body[_TOOLS] is ctx.known:
        body = {**body, _TOOLS: recall(_write, ctx.known, ctx)}
    return jsontext.encode(body)


def recall(work: Callable[[_S, Context], _R], tools: _S, ctx: Context) -> _R:
    """What some work makes of tools. It must depend on nothing else but options and surfaces, and
    do nothing else but note what it changed and where tools now have their places.
    """
    if tools is not ctx.known:
        return work(tools, ctx)
    made = _make(_Step(work, tools, ctx))
    ctx.retell(made.ctx)
    ctx.known = made.value
    return made.value  # type: ignore[no-any-return]


def _write(tools: object, _ctx: Context) -> Any:
    return jsontext.written(tools)


@lru_cache(maxsize=_TEXTS)
def _read(text: bytes) -> Any:
    return jsontext.proved(text)


class _Step:
    """Work on known tools, which are the same only if they are the same object."""

    __slots__ = ("_hash", "ctx", "same")

    def __init__(self, work: Callable[..., Any], tools: Any, ctx: Context) -> None:
        self.same = (work, tools, ctx.source, ctx.target)
        self.ctx = ctx
        self._hash = hash(tuple(map(id, self.same)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Step)
            and all(map(is_, self.same, other.same))
            and self.ctx.options == other.ctx.options
        )


class _Made(Struct, frozen=True):
    """What some work made, and the context that heard of it."""

    value: Any
    ctx: Context


@lru_cache(maxsize=_STEPS)
def _make(step: _Step) -> _Made:
    work, tools, source, target = step.same
    # The work gets a context of its own, and so does the key: the request's must not stay alive.
    ctx = Context(step.ctx.options, source=source, target=target)
    ctx.tool_paths, step.ctx = step.ctx.tool_paths, ctx
    return _Made(work(tools, ctx), ctx)
