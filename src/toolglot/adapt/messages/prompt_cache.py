"""Marks for the provider's prompt cache: set where the client's protocol has none, never too many.

Claude caches a prompt only up to blocks that are marked (`cache_control`): a read costs a tenth of
the usual price, a write a quarter more. The order is tools, system, messages, and a mark covers all
that comes before it (https://platform.claude.com/docs/en/build-with-claude/prompt-caching,
2026-11-16). What else is known:

- "A maximum of 4 blocks with cache_control may be provided" (Wei-Shaw/sub2api#176, 2026).
- "thinking.cache_control: Extra inputs are not permitted" (UKGovernmentBEIS/inspect_ai#3967,
  2026-05), and "cache_control cannot be set for empty text blocks" (vercel/eve#2753, 2026-08).
- Prompts of fewer than 512 to 4,096 tokens, depending on the model, are not cached; marks on them
  are no error (https://dev.to/creeta/claudes-prompt-cache-fails-silently-below-1024-tokens-1ch1,
  2026; https://docs.orq.ai/docs/proxy/prompt-caching, 2026-11-16).
- A mark finds what was written at most 20 blocks before it
  (https://dev.to/ji_ai/claude-prompt-caching-why-cachereadinputtokens-stays-0-2c7d, 2026).

So these are marked, for five minutes: the last tool, the end of the system text, and the ends of
the last two turns of the user. The last mark writes what the next request reads. The one before is
where the previous request wrote, which would otherwise not be found behind a turn of more than 20
blocks, as parallel calls make them.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import (
    Audio,
    CacheMark,
    Document,
    FunctionTool,
    Image,
    Message,
    Part,
    Request,
    Text,
    Tool,
    ToolResult,
)
from toolglot.surface import CacheSupport, Surface
from toolglot.wire.tool_cache import recall

LONG_PROMPT: Final = 1024
"""How many characters of text make a prompt worth marking: the smallest minimum is 512 tokens, and
two characters to a token are few. A mark on less would do nothing."""

_MOST: Final = 4
_MARK: Final = CacheMark()
_SYSTEM: Final = -1
"""The number of the message in the slot for system text."""
_LEADS: Final = ("system", "developer")


def adapt_cache_marks(request: Request, ctx: Context) -> Request:
    """Keep the client's marks as far as the target takes them; set some if it could not."""
    source, target = ctx.surfaces
    support = target.cache
    if not support.marks:
        return request
    request = _without_tool_marks(_mark_whole(request, source, target, ctx), support, ctx)
    count = _count(request)
    if count:
        return _limited(request, count, support.max_marks, ctx)
    if source.cache.marks or ctx.options.prompt_cache == "off":
        return request
    return _set_marks(request, target, ctx)


def restrict_cache_marks(request: Request, ctx: Context) -> Request:
    """The marks of a request that stays in its protocol, as its provider takes them."""
    source, target = ctx.surfaces
    request = _without_tool_marks(_mark_whole(request, source, target, ctx), target.cache, ctx)
    if not target.cache.marks or source.cache.marks:
        return request
    # Only this provider takes marks in this protocol, so that its clients may not know of them.
    count, whole = _count(request), target.cache.whole
    if count or ctx.options.prompt_cache == "off" or whole in request.extras.get(target.name, {}):
        return _limited(request, count, target.cache.max_marks, ctx)
    return _set_marks(request, target, ctx)


def _without_tool_marks(request: Request, support: CacheSupport, ctx: Context) -> Request:
    if support.tools or not any(getattr(tool, "cache", None) for tool in request.tools):
        return request
    tools: list[Tool] = []
    for index, tool in enumerate(request.tools):
        marked = isinstance(tool, FunctionTool) and tool.cache is not None
        if marked:
            ctx.note("cache-dropped", ctx.tool_at(index), "tools cannot be marked here")
        tools.append(replace(tool, cache=None) if marked else tool)
    return replace(request, tools=tuple(tools))


def _mark_whole(request: Request, source: Surface, target: Surface, ctx: Context) -> Request:
    """A mark on the last part in place of one on the whole request, where that is not taken."""
    key = source.cache.whole
    own = request.extras.get(source.name, {})
    if key not in own or (source.name == target.name and target.cache.whole == key):
        return request
    kept = {name: value for name, value in own.items() if name != key}
    request = replace(request, extras={**request.extras, source.name: kept})
    end = next(_turn_ends(request.messages, target.cache), None) if target.cache.marks else None
    if end is None or own[key] is None:
        return request
    part: Any = request.messages[end.message].parts[end.part]
    if part.cache is not None:
        return request
    ttl = own[key].get("ttl") if isinstance(own[key], dict) else None
    words = "the mark on the whole request stands on its last part"
    ctx.note("cache-marked", _path(end.message, end.part, target), words)
    messages = list(request.messages)
    messages[end.message] = _with_mark(messages[end.message], end.part, CacheMark(ttl=ttl))
    return replace(request, messages=tuple(messages))


# --- setting marks --------------------------------------------------------------------------------


def _set_marks(request: Request, target: Surface, ctx: Context) -> Request:
    """Mark what the next request will have in common with this one."""
    support = target.cache
    most = support.max_marks or _MOST
    has_tools = bool(request.tools or ctx.declared)
    ends = list(_ends(request, support, has_tools=has_tools))[:most]
    if ends:
        request = _marked(request, ends, target, ctx)
    if request.tools and support.tools and len(ends) < most:
        request = replace(request, tools=recall(_mark_last, request.tools, ctx))
    return request


class _End(NamedTuple):
    """The place of a part that ends something worth caching."""

    message: int
    part: int


def _ends(request: Request, support: CacheSupport, *, has_tools: bool) -> Iterator[_End]:
    """Where the system text and the last turns end, the most useful first.

    A single question without tools may never be followed by another, and writing costs more than
    not caching: only a long system text is marked then.
    """
    lead = _lead(request)
    goes_on = has_tools or any(message.role == "assistant" for message in request.messages)
    if not has_tools:
        whole = [message for _, message in lead]
        if not _is_long((*whole, *request.messages) if goes_on else whole):
            return
    turns = _turn_ends(request.messages, support) if goes_on else iter(())
    if (last := next(turns, None)) is not None:
        yield last
    for index, message in reversed(lead):
        if (part := _last_part(message, support)) is not None:
            yield _End(index, part)
            break
    if (previous := next(turns, None)) is not None:
        yield previous


def _lead(request: Request) -> list[tuple[int, Message]]:
    """The system text before the conversation."""
    lead = [] if request.system is None else [(_SYSTEM, request.system)]
    for index, message in enumerate(request.messages):
        if message.role not in _LEADS:
            break
        lead.append((index, message))
    return lead


def _turn_ends(messages: tuple[Message, ...], support: CacheSupport) -> Iterator[_End]:
    """The last parts of the user's turns that can be marked, the latest first."""
    ended = False
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.role == "assistant":
            ended = False
        elif message.role == "user" and not ended:
            part = _last_part(message, support)
            if part is not None:
                ended = True
                yield _End(index, part)


def _last_part(message: Message, support: CacheSupport) -> int | None:
    parts = message.parts
    for index in range(len(parts) - 1, -1, -1):
        if _takes_mark(parts[index], support):
            return index
    return None


def _takes_mark(part: Part, support: CacheSupport) -> bool:
    """Whether a part may have a mark: reasoning, empty texts and opaque parts may not."""
    if type(part) is Text:
        return "text" in support.parts and bool(part.text.strip())
    return part.__struct_config__.tag in support.parts


def _is_long(messages: Iterable[Message]) -> bool:
    length = 0
    for message in messages:
        for part in message.parts:
            if isinstance(part, (Image, Document, Audio)):
                return True
            length += len(getattr(part, "text", ""))
            if length >= LONG_PROMPT:
                return True
    return False


def _marked(request: Request, ends: list[_End], target: Surface, ctx: Context) -> Request:
    messages = list(request.messages)
    system = request.system
    for index, part in sorted(ends):
        ctx.note("cache-marked", _path(index, part, target))
        if index == _SYSTEM and system is not None:
            system = _with_mark(system, part)
        else:
            messages[index] = _with_mark(messages[index], part)
    return replace(request, system=system, messages=tuple(messages))


def _with_mark(message: Message, index: int, mark: CacheMark = _MARK) -> Message:
    parts: list[Any] = list(message.parts)
    parts[index] = replace(parts[index], cache=mark)
    return replace(message, parts=tuple(parts))


def _path(message: int, part: int, target: Surface) -> str:
    """Where the mark stands in what is sent; messages may have been joined since they came."""
    if message == _SYSTEM:
        return f"{target.system.slot}[{part}]"
    places = target.messages
    if not places.holds_calls:  # results are messages of their own, so that the numbers are others
        return places.path
    return f"{places.path}[{message}].{places.content}[{part}]"


def _mark_last(tools: tuple[Tool, ...], ctx: Context) -> tuple[Tool, ...]:
    for index in range(len(tools) - 1, -1, -1):
        tool = tools[index]
        if isinstance(tool, FunctionTool):
            ctx.note("cache-marked", ctx.tool_at(index))
            return (*tools[:index], replace(tool, cache=_MARK), *tools[index + 1 :])
    return tools


# --- too many marks -------------------------------------------------------------------------------


def _limited(request: Request, count: int, most: int | None, ctx: Context) -> Request:
    """Keep only the last cache marks, in the order tools, system, messages."""
    if most is None or count <= most:
        return request
    ctx.note("cache-dropped", "", f"only the last {most} cache marks are kept")
    return _Dropper(count - most).request(request)


def _count(request: Request) -> int:
    marks = sum(getattr(tool, "cache", None) is not None for tool in request.tools)
    for message in (*([request.system] if request.system else ()), *request.messages):
        for part in message.parts:
            marks += getattr(part, "cache", None) is not None
            if type(part) is ToolResult:
                for inner in part.parts:
                    marks += getattr(inner, "cache", None) is not None
    return marks


class _Dropper:
    """Removes a number of cache marks, the earliest first."""

    def __init__(self, excess: int) -> None:
        self._excess = excess

    def request(self, request: Request) -> Request:
        tools = tuple(map(self._value, request.tools))
        system = self._message(request.system) if request.system else None
        return replace(
            request,
            tools=tools,
            system=system,
            messages=tuple(map(self._message, request.messages)),
        )

    def _message(self, message: Message) -> Message:
        return replace(message, parts=tuple(map(self._value, message.parts)))

    def _value(self, value: Any) -> Any:
        if isinstance(value, ToolResult) and self._excess:
            value = replace(value, parts=tuple(map(self._value, value.parts)))
        if self._excess and getattr(value, "cache", None) is not None:
            self._excess -= 1
            return replace(value, cache=None)
        return value
