"""From a note to the two places that it is about: one in what came, one in what was sent.

A note has the path of what came. Where that went is found by decoding both sides: the same setting,
the same tool, the same text, call or result stand at known paths on either.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from toolglot.ir import Json, Part, Request, Response, Text
from toolglot.receipt import Note
from toolglot.source_paths import Holder, message_holder, part_paths, system_paths
from toolglot.surface import Surface

_STEP: Final = re.compile(r"\[(\d+)\]|\.?([^.\[\]]+)")
_STREAM_PART: Final = re.compile(r"part (\d{1,6})")
_GONE: Final = frozenset(
    {
        "account-choice-dropped",
        "citation-dropped",
        "field-dropped",
        "field-minor",
        "field-unknown",
        "message-dropped",
        "part-dropped",
        "reasoning-dropped",
        "tool-dropped",
    }
)
"""Codes of what has no counterpart. Other drops are of something about a thing that is there."""


class Side(Struct, frozen=True):
    """A body, what it says, and the protocol that it is written in."""

    surface: Surface
    body: Any
    says: Request | Response | None


class Bridge(Struct, frozen=True):
    """A note, where it is about something in what came, and where that is in what was sent."""

    note: int
    source: str | None
    """None: it was not there before."""
    target: str | None
    """None: it has no counterpart."""


def bridges(notes: Sequence[Note], source: Side, target: Side, first: int = 0) -> list[Bridge]:
    """A bridge for each note; `first` is the number of the first of them in the receipt."""
    pairs: dict[str, str] = {}
    for ours, theirs in _pairs(source, target):
        pairs.setdefault(ours, theirs)
    parts = _choices(source, source.says) if isinstance(source.says, Response) else []
    return [
        Bridge(number, *_ends(note.code, _in_body(note.path, parts), source, target, pairs))
        for number, note in enumerate(notes, first)
    ]


def _in_body(path: str, parts: Sequence["_Placed"]) -> str:
    """The path in the answer that a stream amounts to; notes on streams count the parts."""
    found = _STREAM_PART.match(path)
    if found is None:
        return path
    number = int(found[1])
    return parts[number].path + path[found.end() :] if number < len(parts) else ""


def _ends(
    code: str, path: str, source: Side, target: Side, pairs: dict[str, str]
) -> tuple[str | None, str | None]:
    """Where something was, and where it is now."""
    here = nearest(source.body, path) or None
    if code in _GONE:
        return here, None
    if not exists(source.body, path) and exists(target.body, path):
        return here, path
    return here, _counterpart(path, target, pairs)


def _counterpart(path: str, target: Side, pairs: dict[str, str]) -> str | None:
    """Where something went: what stands at the longest known beginning of its path."""
    steps = _steps(path)
    for count in range(len(steps), 0, -1):
        known = pairs.get(join(steps[:count]))
        if known is not None:
            rest = "".join(_spelled(step) for step in steps[count:])
            whole = nearest(target.body, known + rest)
            return whole if len(whole) >= len(known) else nearest(target.body, known) or None
    return path if exists(target.body, path) else None


# --- paths ----------------------------------------------------------------------------------------


def _steps(path: str) -> list[str | int]:
    return [int(found[1]) if found[1] else found[2] for found in _STEP.finditer(path)]


def _spelled(step: str | int) -> str:
    return f"[{step}]" if isinstance(step, int) else f".{step}"


def join(steps: Iterable[str | int]) -> str:
    """Steps as a path."""
    return "".join(map(_spelled, steps)).removeprefix(".")


def nearest(body: Any, path: str) -> str:
    """As much of a path as there is in a body."""
    found: list[str | int] = []
    for step in _steps(path):
        try:
            body = body[step]
        except (KeyError, IndexError, TypeError):
            break
        found.append(step)
    return join(found)


def exists(body: Any, path: str) -> bool:
    """Whether there is something at a path."""
    return bool(path) and len(_steps(nearest(body, path))) == len(_steps(path))


# --- what belongs together ------------------------------------------------------------------------


def _pairs(source: Side, target: Side) -> Iterator[tuple[str, str]]:
    yield "model", "model"
    if isinstance(source.says, Request) and isinstance(target.says, Request):
        for field, path in source.surface.settings.items():
            if field in target.surface.settings:
                yield path, target.surface.settings[field]
        yield from _tool_pairs(source, target)
        yield from _system_pairs(source, source.says, target, target.says)
        yield from _part_pairs(_messages(source, source.says), _messages(target, target.says))
    elif isinstance(source.says, Response) and isinstance(target.says, Response):
        for name, path in source.surface.answer_members.items():
            if name in target.surface.answer_members:
                yield path.format(0), target.surface.answer_members[name].format(0)
        yield from _part_pairs(_choices(source, source.says), _choices(target, target.says))


def _tool_pairs(source: Side, target: Side) -> Iterator[tuple[str, str]]:
    """Tools by their names; those that were renamed are in the same order."""
    ours, theirs = _tools(source), _tools(target)
    named = dict(theirs)
    renamed = [(name, path) for name, path in theirs if name not in dict(ours)]
    for name, path in ours:
        if name in named:
            yield path, named[name]
        elif renamed:
            yield path, renamed.pop(0)[1]


def _tools(side: Side) -> list[tuple[str, str]]:
    where = side.surface.settings.get("tools", "tools")
    listed = side.body.get(where) if isinstance(side.body, dict) else None
    return list(_named_tools(listed, where)) if isinstance(listed, list) else []


def _named_tools(tools: list[Any], path: str) -> Iterator[tuple[str, str]]:
    for at, tool in enumerate(tools):
        here = f"{path}[{at}]"
        if not isinstance(tool, dict):
            continue
        inner = tool.get("function")
        holder: Json = inner if isinstance(inner, dict) else tool
        if isinstance(name := holder.get("name"), str):
            yield name, here
            continue
        for key, value in tool.items():
            if isinstance(value, list):
                yield from _named_tools(value, f"{here}.{key}")


def _system_pairs(
    source: Side, asked: Request, target: Side, sent: Request
) -> Iterator[tuple[str, str]]:
    if asked.system is None:
        return
    there = _system_place(target, sent)
    if there is None:
        return
    yield source.surface.settings.get("system", "system"), there
    for path in system_paths(source.surface, asked.system):
        yield path, there


def _system_place(side: Side, request: Request) -> str | None:
    if request.system is not None and side.surface.system.slot:
        return side.surface.settings.get("system", side.surface.system.slot)
    for at, message in enumerate(request.messages):
        if message.role in ("system", "developer"):
            return f"{side.surface.messages.path}[{at}]"
    return None


class _Placed(Struct, frozen=True):
    part: Part
    path: str
    holder: str


def _messages(side: Side, request: Request) -> list[_Placed]:
    holders = (message_holder(side.surface, at, each) for at, each in enumerate(request.messages))
    return list(_placed(side, holders))


def _choices(side: Side, answer: Response) -> list[_Placed]:
    path, bare = side.surface.messages.answer_path, not side.surface.messages.holds_calls
    holders = (
        Holder(path.format(at), choice.parts, bare, choice.index)
        for at, choice in enumerate(answer.choices)
    )
    return list(_placed(side, holders))


def _placed(side: Side, holders: Iterable[Holder]) -> Iterator[_Placed]:
    for holder in holders:
        for part, path in zip(holder.parts, part_paths(side.surface, holder), strict=True):
            yield _Placed(part, path, holder.path)


def _part_pairs(ours: list[_Placed], theirs: list[_Placed]) -> Iterator[tuple[str, str]]:
    left: dict[object, list[_Placed]] = {}
    for each in theirs:
        left.setdefault(_meaning(each.part), []).append(each)
    for each in ours:
        if there := left.get(_meaning(each.part)):
            found = there.pop(0)
            yield each.holder, found.holder
            yield each.path, found.path


def _meaning(part: Part) -> object:
    """The same for parts that one became of the other, in their order."""
    return part.text if isinstance(part, Text) else type(part)
