"""Tools for models that have none: declarations, calls and results described as text.

The tools are described in the system text, in a dialect in which the answer is parsed. Calls
of the history are written as the model would have written them, results as the user's words, with
the name of the tool and in the order of the calls. Earlier passes made functions of whatever else
a tool was, so every kind of tool works. Equal requests give equal text.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from toolglot.adapt.calls.pairing import pair_in_order
from toolglot.adapt.tools.definitions import describe_examples
from toolglot.context import Context, Options
from toolglot.errors import InexpressibleError
from toolglot.ir import (
    CacheMark,
    FunctionTool,
    Message,
    Part,
    Request,
    Text,
    ToolCall,
    ToolChoice,
    ToolResult,
)

_ATTACHED: Final = "[attached below]"
_CHOICES: Final = {
    "none": "Do not call any tool in your next answer: answer in words.",
    "required": "Your next answer must call a tool.",
    "tool": "Your next answer must call the tool {names}.",
}
_ONLY: Final = "Of these tools, call only: {names}."
_ONE: Final = "Call at most one tool in each answer."


def dialect_of(options: Options) -> str | None:
    """The dialect that calls in the text of an answer are read in: that of emulated tools, else
    the one asked for.
    """
    return options.emulated_dialect or options.dialect


def emulate_tools(request: Request, ctx: Context) -> Request:
    """Describe tools, calls and results as text, if the model has no tools."""
    dialect = ctx.options.emulated_dialect
    if dialect is None:
        return request
    from toolglot.dialects.table import DIALECTS  # noqa: PLC0415 - loading dialects takes time

    if dialect not in DIALECTS:
        raise ValueError(f"tools cannot be emulated in {dialect!r}: unknown dialect")
    tools = tuple(_functions(request, ctx))
    ctx.declared = tools
    history = _History(dialect, tools, ctx)
    request = history.as_text(request)
    words = "\n\n".join(_words(request, tools, dialect, ctx))
    if words:
        request = _with_system(request, Text(text=words, cache=_cache(tools)), ctx)
    return replace(request, tools=(), tool_choice=None, parallel_tool_calls=None)


# --- tools ----------------------------------------------------------------------------------------


def _functions(request: Request, ctx: Context) -> Iterator[FunctionTool]:
    """The tools that can be described as text, with notes of what cannot."""
    for index, tool in enumerate(request.tools):
        path = ctx.tool_at(index)
        if not isinstance(tool, FunctionTool):
            ctx.note("tool-dropped", path, "only functions can be described as text")
            continue
        if tool.strict:
            ctx.note("strict-dropped", path, f"nothing enforces the schema of {tool.name}")
        if ctx.in_protocol:
            _note_extras(tool, path, ctx)
        described = describe_examples(tool, path, ctx) if tool.examples else tool
        if described.cache is None or _marks(ctx):
            yield described
        else:
            ctx.note("cache-dropped", path)
            yield replace(described, cache=None)


def _note_extras(value: FunctionTool | ToolCall | ToolResult, path: str, ctx: Context) -> None:
    """Note fields that a request in its own protocol would otherwise have kept."""
    for fields in value.extras.values():
        for key in fields:
            ctx.note("field-dropped", f"{path}.{key}", "it cannot be described as text")


def _marks(ctx: Context) -> bool:
    return ctx.target is not None and ctx.target.cache.marks


def _cache(tools: Iterable[FunctionTool]) -> CacheMark | None:
    marks = [tool.cache for tool in tools if tool.cache is not None]
    return marks[-1] if marks else None


def _words(
    request: Request, tools: Sequence[FunctionTool], dialect: str, ctx: Context
) -> Iterator[str]:
    """The instructions before the conversation."""
    if not tools:
        return
    ctx.note(
        "tools-emulated",
        ctx.setting("tools"),
        f"described as text in {dialect}: {', '.join(tool.name for tool in tools)}",
    )
    from toolglot.dialects.rendering import render_tools  # noqa: PLC0415 - loading dialects takes time

    single = request.parallel_tool_calls is False
    yield render_tools(tools, dialect, parallel=not single)
    if single:
        ctx.note(
            "tools-emulated",
            ctx.setting("parallel_tool_calls"),
            "the model is asked for one call at a time; nothing enforces it",
            "lossy",
        )
        yield _ONE
    yield from _choice(request.tool_choice, ctx)


def _choice(choice: ToolChoice | None, ctx: Context) -> Iterator[str]:
    if choice is None or (choice.mode == "auto" and not choice.names):
        return
    ctx.note(
        "choice-mapped", ctx.setting("tool_choice"), "described in the prompt; nothing enforces it"
    )
    names = ", ".join(choice.names)
    if choice.names and choice.mode != "tool":
        yield _ONLY.format(names=names)
    if choice.mode in _CHOICES:
        yield _CHOICES[choice.mode].format(names=names)


def _with_system(request: Request, text: Text, ctx: Context) -> Request:
    """The request with this behind its system text."""
    first = request.messages[0] if request.messages else None
    if request.system is None and first is not None and first.role in ("system", "developer"):
        lead = replace(first, parts=tuple(_behind(first.parts, text, ctx)))
        return replace(request, messages=(lead, *request.messages[1:]))
    system = request.system or Message(role="system", parts=())
    system = replace(system, parts=tuple(_behind(system.parts, text, ctx)))
    return replace(request, system=system)


def _behind(parts: Sequence[Part], text: Text, ctx: Context, between: str = "\n\n") -> list[Part]:
    """Parts with a text behind them, joined to the last one if that is plain text too.

    Many servers of models without tools take one text only.
    """
    last = parts[-1] if parts else None
    if not isinstance(last, Text) or last.citations or last.signature:
        return [*parts, text]
    if last.cache is not None and _marks(ctx):
        return [*parts, text]
    gap = between if last.text and not last.text[-1].isspace() else ""
    joined = last.text + gap + text.text
    return [*parts[:-1], replace(last, text=joined, cache=text.cache or last.cache)]


# --- history --------------------------------------------------------------------------------------


class _History:
    """The conversation, with calls and results as text."""

    def __init__(self, dialect: str, tools: tuple[FunctionTool, ...], ctx: Context) -> None:
        self._dialect = dialect
        self._tools = tools
        self._ctx = ctx
        self._readable: list[FunctionTool | str] = []
        self._counts = [0, 0]

    def as_text(self, request: Request) -> Request:
        """The request with its history as text."""
        parts = [part for message in request.messages for part in message.parts]
        called = dict.fromkeys(part.name for part in parts if isinstance(part, ToolCall))
        if not called and not any(isinstance(part, ToolResult) for part in parts):
            return request
        request = pair_in_order(request, self._ctx)
        declared = {tool.name for tool in self._tools}
        self._readable = [*self._tools, *(name for name in called if name not in declared)]
        messages = self._joined(
            self._message(index, message) for index, message in enumerate(request.messages)
        )
        request = replace(request, messages=tuple(messages))
        calls, results = self._counts
        where = self._ctx.source.messages.path if self._ctx.source else ""
        words = f"{calls} calls and {results} results are written as text in {self._dialect}"
        self._ctx.note("tools-emulated", where, words)
        return request

    def _joined(self, messages: Iterable[tuple[Message, bool]]) -> list[Message]:
        """Results and the user's next message as one: templates need alternating turns."""
        joined: list[Message] = []
        answering = False
        for message, answers in messages:
            if answering and message.role == "user":
                joined[-1] = replace(
                    joined[-1], parts=self._after(joined[-1], message, answers=answers)
                )
            else:
                joined.append(message)
                answering = answers
        return joined

    def _after(self, before: Message, message: Message, *, answers: bool) -> tuple[Part, ...]:
        """The parts of two messages; results are one text."""
        parts = message.parts
        if answers and isinstance(parts[0], Text):
            return (*_behind(before.parts, parts[0], self._ctx, "\n"), *parts[1:])
        return (*before.parts, *parts)

    def _message(self, index: int, message: Message) -> tuple[Message, bool]:
        """A message as text, and whether it has results in it."""
        kinds = {type(part) for part in message.parts}
        if kinds.isdisjoint({ToolCall, ToolResult}):
            return message, False
        parts: list[Part] = []
        run: list[tuple[ToolCall, str]] = []
        for place, part in enumerate(message.parts):
            path = self._ctx.at_part(index, message, place)
            if isinstance(part, ToolCall):
                run.append((part, path))
                continue
            parts, run = self._with_calls(parts, run), []
            if isinstance(part, ToolResult):
                text, *attached = self._result(part, path)
                parts = [*_behind(parts, text, self._ctx, "\n"), *attached]
            else:
                parts.append(part)
        parts = self._with_calls(parts, run)
        return replace(message, parts=tuple(parts)), ToolResult in kinds

    # --- calls

    def _with_calls(self, parts: list[Part], run: list[tuple[ToolCall, str]]) -> list[Part]:
        if not run:
            return parts
        self._counts[0] += len(run)
        for call, path in run:
            if call.signature is not None:
                self._ctx.note("reasoning-dropped", path, "a call in text cannot contain state")
            if self._ctx.source is self._ctx.target:
                _note_extras(call, path, self._ctx)
        text = Text(text=self._calls(run), cache=run[-1][0].cache)
        return _behind(parts, text, self._ctx, "\n")

    def _calls(self, run: list[tuple[ToolCall, str]]) -> str:
        from toolglot.dialects.rendering import render_calls  # noqa: PLC0415 - loading dialects takes time

        calls = [call for call, _ in run]
        try:
            return render_calls(calls, self._dialect, self._readable)
        except InexpressibleError:
            return "\n".join(self._call(call, path) for call, path in run)

    def _call(self, call: ToolCall, path: str) -> str:
        """One call; in words that no dialect parses as a call, if this one cannot express it."""
        from toolglot.dialects.rendering import render_calls  # noqa: PLC0415 - loading dialects takes time

        try:
            return render_calls([call], self._dialect, self._readable)
        except InexpressibleError as error:
            self._ctx.note("tools-emulated", path, f"{error}; described in words", "lossy")
            return f"(I called {call.name} with: {call.arguments})"

    # --- results

    def _result(self, part: ToolResult, path: str) -> tuple[Text, *tuple[Part, ...]]:
        """A result as text, and what cannot be text behind it."""
        from toolglot.dialects.rendering import (  # noqa: PLC0415 - loading dialects takes time
            RenderedResult,
            render_result,
        )

        ctx = self._ctx
        self._counts[1] += 1
        if part.is_error:
            ctx.note("error-marked", path)
        if ctx.in_protocol:
            _note_extras(part, path, ctx)
        texts = [inner.text for inner in part.parts if isinstance(inner, Text)]
        attached = tuple(inner for inner in part.parts if not isinstance(inner, Text))
        if attached:
            texts.append(_ATTACHED)
        rendered = RenderedResult(
            "\n".join(texts), part.name or "", part.id, is_error=bool(part.is_error)
        )
        text = Text(text=render_result(rendered, self._dialect), cache=part.cache)
        return (text, *attached)
