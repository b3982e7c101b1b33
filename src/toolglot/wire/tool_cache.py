"""A cache of work on tools: agents send the same tools with every request of a conversation.

`recall` caches what a step of a translation makes of all tools of a request. The text of `tools` is
read once (`read_known`), and `Context.known` has the tools as the last step left them; a step that
still finds them there need not do its work again. Its notes are repeated every time. What is cached
is shared by all translations, so nothing may change it. That is why only callers that return bytes
and nothing else read requests with `read_known`.

`by_text` caches what a function makes of one schema, for callers that return objects: they get a
copy each time. Within a request the text of a schema is written once.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from operator import is_
from typing import Any, Final, TypeVar, TypeVarTuple, Unpack

from msgspec import Struct

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire import jsontext
from toolglot.wire.message import read_body

_A = TypeVarTuple("_A")
_S = TypeVar("_S")
_R = TypeVar("_R")

_TOOLS: Final = "tools"
_TEXTS: Final = 64
_LONGEST: Final = 2**18
"""How many texts of tools are cached, and how many bytes one of them may have."""
_STARTS: Final = 2 * _TEXTS
_SCHEMAS: Final = 1024
_LONGEST_SCHEMA: Final = 2**16
"""How many schemas are cached, and how many bytes one of them may have."""

# --- all tools of a request -----------------------------------------------------------------------


def read_known(body: bytes, ctx: Context) -> Json:
    """A JSON object from bytes, like `read_body`; tools whose text was read before become known."""
    split = jsontext.split(body, _TOOLS)
    if split is None or len(split.member) > _LONGEST:
        return read_body(body, ctx)
    try:
        tools = _read(split.member)
        value = read_body(split.rest, ctx)
    except ValueError:
        return read_body(body, ctx)  # For an error that tells the place in the whole text.
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
    steps = ctx.tool_steps
    if steps is None:
        steps = ctx.tool_steps = _steps(_Start(tools, ctx))
    made = steps.get(work)
    if made is None or made.tools is not tools:
        made = steps[work] = _make(work, tools, ctx)
    ctx.merge_notes(made.ctx)
    ctx.known = made.value
    return made.value  # type: ignore[no-any-return]


def _write(tools: object, _ctx: Context) -> Any:
    return jsontext.written(tools)


@lru_cache(maxsize=_TEXTS)
def _read(text: bytes) -> Any:
    return jsontext.proved(text)


class _Start:
    """Known tools before the first step of a translation: the same only if they are the same
    object, on their way between the same surfaces with the same options.
    """

    __slots__ = ("_hash", "_options", "_same")

    def __init__(self, tools: Any, ctx: Context) -> None:
        self._same = (tools, ctx.source, ctx.target)
        self._options = ctx.options
        self._hash = hash(tuple(map(id, self._same)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Start)
            and all(map(is_, self._same, other._same))
            and self._options == other._options
        )


class _Made(Struct, frozen=True):
    """What some work made of tools, and the context with its notes."""

    tools: Any
    value: Any
    ctx: Context


@lru_cache(maxsize=_STARTS)
def _steps(_start: _Start) -> dict[Any, _Made]:
    """What was made of the tools so far, by the work that made it. Found once for a translation:
    that saves a third of what known tools cost.
    """
    return {}


def _make(work: Callable[..., Any], tools: Any, asked: Context) -> _Made:
    # The work gets a context of its own: the request's must not be kept alive.
    ctx = Context(asked.options, source=asked.source, target=asked.target)
    ctx.tool_paths = asked.tool_paths
    ctx.schema_texts = asked.schema_texts
    value = work(tools, ctx)
    ctx.schema_texts = {}
    return _Made(tools, value, ctx)


# --- one schema -----------------------------------------------------------------------------------


def by_text(
    work: Callable[[Json, Unpack[_A]], tuple[Json, _R]],
) -> Callable[[Json, Context, Unpack[_A]], tuple[Json, _R]]:
    """Cache what a pure function makes of a schema: the same one or another, and a result.

    The schema that comes back is the caller's own; the result is shared, so nothing may change it.
    """

    @lru_cache(maxsize=_SCHEMAS)
    def remembered(text: bytes, *args: *_A) -> tuple[_Copy | None, _R]:
        schema = jsontext.decode(text)
        made, result = work(schema, *args)
        return None if made is schema else _Copy(jsontext.encode(made)), result

    @wraps(work)
    def wrapper(schema: Json, ctx: Context, *args: *_A) -> tuple[Json, _R]:
        known = ctx.schema_texts.get(id(schema))
        if known is None:
            try:
                known = schema, jsontext.encode(schema)
            except DecodeError:  # nested too deeply to be written
                return work(schema, *args)
            # The schema is kept as well, or another one might get its place in memory.
            ctx.schema_texts[id(schema)] = known
        if len(known[1]) > _LONGEST_SCHEMA:
            return work(schema, *args)
        copy, result = remembered(known[1], *args)
        if copy is None:
            return schema, result
        made = copy.read(copy.text)
        ctx.schema_texts[id(made)] = made, copy.text
        return made, result

    return wrapper


class _Copy:
    """The text of a schema, and the fastest way to read it exactly."""

    __slots__ = ("read", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        try:
            jsontext.proved(text)
        except ValueError:
            self.read: Callable[[bytes], Json] = jsontext.decode
        else:
            self.read = jsontext.peek
