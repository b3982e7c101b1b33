"""Whether rows say what they should: formats of plain text are read again after writing.

A text may hold the marks of a format, or white space that it does not keep. Rather than to know all
such cases, what was written is read and compared: another call is an error, another text a note.
"""

from collections.abc import Iterator
from typing import Any

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.plain_turns import plain_turns, result_text, system_text
from toolglot.convert.transcript import RecordedConversation
from toolglot.errors import InexpressibleError, ToolglotError

Said = tuple[str, Any]


def check_written(
    conversation: RecordedConversation, rows: Rows, target: Format, ctx: Context, *, told: bool
) -> None:
    """Compare what was written with what should have been; `told`: something was left out, which
    the receipt says already.
    """
    scratch = Context(source=target.surface, target=target.surface)
    try:
        read = target.read(rows, scratch)
    except (ToolglotError, ValueError) as error:
        raise InexpressibleError(target.name, "", f"it could not be read again: {error}") from None
    wanted, found = (_joined(_said(each, scratch)) for each in (conversation, read))
    if wanted == found:
        return
    if told and _is_among(_calls(found), _calls(wanted)):
        return
    if _calls(wanted) != _calls(found):
        name = next((each[1][0] for each in wanted if each[0] == "call"), "")
        raise InexpressibleError(target.name, name, "a text has the marks of calls, or looks so")
    kind = next((one[0] for one, other in zip(wanted, found, strict=False) if one != other), "text")
    words = f"{target.name} has no form for a {kind} text as it was, such as white space around it"
    ctx.note("part-replaced", ctx.surfaces[0].messages.path, words)


def _said(conversation: RecordedConversation, ctx: Context) -> Iterator[Said]:
    yield "system", system_text(conversation, ctx)
    for turn in plain_turns(conversation, ctx):
        yield "thought", turn.thoughts
        yield turn.role, turn.text
        for call in turn.calls:
            yield "call", (call.name, call.input)
        for result in turn.results:
            yield "result", result_text(result, ctx)


def _joined(said: Iterator[Said]) -> list[Said]:
    """Texts of one kind that follow each other are one; results and calls stay apart."""
    joined: list[Said] = []
    for kind, value in said:
        if not value and kind != "result":
            continue
        if joined and joined[-1][0] == kind and kind not in ("call", "result"):
            joined[-1] = (kind, f"{joined[-1][1]}{value}")
        else:
            joined.append((kind, value))
    return joined


def _is_among(some: list[Said], all_: list[Said]) -> bool:
    """Whether some of the calls are there, in order, and no others."""
    rest = iter(all_)
    return all(each in rest for each in some)


def _calls(said: list[Said]) -> list[Said]:
    return [each for each in said if each[0] == "call"]
