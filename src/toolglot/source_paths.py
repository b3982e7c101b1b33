"""Where the parts of messages and answers stand on the wire, for the paths of notes.

Passes move, join and replace parts, and encoders no longer know where one came from. So a context
keeps the parts as they were decoded; the place of one is looked up only when a note needs it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from toolglot.ir import (
    Audio,
    Choice,
    Document,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Remote,
    Text,
    ToolCall,
    ToolResult,
)
from toolglot.surface import Surface

_BESIDE: Final = (Reasoning, ToolCall, ToolResult)
"""What stands beside the content of a message in protocols that keep them apart."""


class Holder(Struct, frozen=True):
    """What has parts: a message of a request, or a choice of an answer or an item of one."""

    path: str
    parts: tuple[Part, ...]
    is_bare: bool = False
    """Whether one text stands there as it is, and not in a list."""
    choice: int = 0


class Places:
    """The places of parts, found by the parts themselves.

    `make` gives what has the parts as it came; it is called when the first place is looked up.
    """

    __slots__ = (
        "_by_call", "_by_message", "_by_part", "_choices", "_is_read", "_make", "_messages",
        "_moved", "_paths", "_surface", "path",
    )  # fmt: skip

    def __init__(
        self,
        surface: Surface,
        make: Callable[[], Sequence[Holder]],
        messages: tuple[Message, ...] | None = None,
    ) -> None:
        support = surface.messages
        answer = support.answer_path.format(0) or support.content
        self._surface = surface
        self.path = answer if messages is None else support.path
        """Where all parts stand that are found nowhere."""
        self._make = make
        self._messages = messages or ()
        self._is_read = False
        self._choices: dict[int, list[tuple[Holder, int]]] = {}
        """All parts, by the choice that they are in."""
        self._paths: dict[int, list[str]] = {}
        """The paths of the parts of a holder, once one of them was needed."""
        self._by_message: dict[int, int] = {}
        self._by_part: dict[int, tuple[Holder, int]] = {}
        self._by_call: dict[tuple[type[Part], str], tuple[Holder, int] | None] = {}
        self._moved: dict[int, tuple[Part | Message, str]] = {}

    def move(self, part: Part | Message, path: str) -> None:
        """Let a part or message that takes the place of another have its path."""
        self._moved[id(part)] = part, path

    def of(self, part: Part) -> str | None:
        """The path of a part; None if it came from nowhere."""
        moved = self._moved.get(id(part))
        if moved is not None:
            return moved[1]
        found = self._find(part)
        return None if found is None else self._path(*found)

    def of_message(self, message: Message) -> str | None:
        """The path of a message: its own, or of that which had the first of its parts."""
        moved = self._moved.get(id(message))
        if moved is not None:
            return moved[1]
        if not self._by_message:
            self._by_message = {id(each): at for at, each in enumerate(self._messages)}
        number = self._by_message.get(id(message))
        if number is not None:
            return f"{self._surface.messages.path}[{number}]"
        for part in message.parts:
            found = self._find(part)
            if found is not None:
                return found[0].path
        return None

    def at(self, choice: int, place: int) -> str | None:
        """The path of a part of an answer, by its number in its choice."""
        self._read()
        parts = self._choices.get(choice, ())
        return self._path(*parts[place]) if place < len(parts) else None

    def _path(self, holder: Holder, place: int) -> str:
        paths = self._paths.get(id(holder))
        if paths is None:
            paths = self._paths[id(holder)] = part_paths(self._surface, holder)
        return paths[place]

    def _find(self, part: Part) -> tuple[Holder, int] | None:
        self._read()
        found = self._by_part.get(id(part))
        if found is None and isinstance(part, ToolCall | ToolResult):
            found = self._by_call.get((type(part), part.id))
        return found

    def _read(self) -> None:
        """Find out where everything stands. The parts are kept, too, or another one might get the
        place of one in memory.
        """
        if self._is_read:
            return
        self._is_read = True
        for holder in self._make():
            for place, part in enumerate(holder.parts):
                self._choices.setdefault(holder.choice, []).append((holder, place))
                self._by_part.setdefault(id(part), (holder, place))
                if isinstance(part, ToolCall | ToolResult):
                    key = type(part), part.id
                    # An id that was used twice tells nothing.
                    self._by_call[key] = None if key in self._by_call else (holder, place)


def places_of_messages(surface: Surface, messages: tuple[Message, ...]) -> Places:
    """The places of the parts of a request."""

    def make() -> list[Holder]:
        return [message_holder(surface, number, each) for number, each in enumerate(messages)]

    return Places(surface, make, messages)


def places_of_choices(surface: Surface, choices: tuple[Choice, ...]) -> Places:
    """The places of the parts of an answer."""
    path, bare = surface.messages.answer_path, not surface.messages.holds_calls

    def make() -> list[Holder]:
        return [
            Holder(path.format(number), choice.parts, bare, choice.index)
            for number, choice in enumerate(choices)
        ]

    return Places(surface, make)


class StreamPlaces:
    """The places of the parts of a stream, as they would stand in the answer if it came whole."""

    __slots__ = ("_calls", "_started", "_surface")

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._started: list[tuple[int, Part, str]] = []
        """Of each part its choice, the part without what it holds, and its path if that is told."""
        self._calls: dict[str, int] = {}

    def add(self, part: Part, choice: int, path: str = "") -> None:
        """Remember the part that starts next."""
        if isinstance(part, ToolCall):
            self._calls[part.id] = len(self._started)
        self._started.append((choice, _without_content(part), path))

    def at(self, index: int) -> str | None:
        """The path of a part, by its number in the stream."""
        if index >= len(self._started):
            return None
        choice, _, told = self._started[index]
        if told:
            return told
        mine = [at for at, each in enumerate(self._started) if each[0] == choice]
        parts = tuple([self._started[at][1] for at in mine])
        support = self._surface.messages
        holder = Holder(support.answer_path.format(choice), parts, not support.holds_calls)
        return part_paths(self._surface, holder)[mine.index(index)]

    def of_call(self, call_id: str) -> str | None:
        """The path of a call."""
        index = self._calls.get(call_id)
        return None if index is None else self.at(index)


def _without_content(part: Part) -> Part:
    """A part of the same kind that holds nothing long."""
    if isinstance(part, Opaque):
        return replace(part, value={})
    return _EMPTY.get(type(part), part)


_EMPTY: Final[dict[type[Part], Part]] = {
    Image: Image(source=Remote(url="")),
    Audio: Audio(source=Remote(url="")),
    Document: Document(source=Remote(url="")),
    Text: Text(text=""),
    Reasoning: Reasoning(),
}


def message_holder(surface: Surface, number: int, message: Message) -> Holder:
    """A message of a request."""
    path = f"{surface.messages.path}[{number}]"
    return Holder(path, message.parts, message.wire_form in surface.messages.bare_forms)


def part_paths(surface: Surface, holder: Holder) -> list[str]:
    """The paths of all parts of a message, in one walk: a message may have thousands."""
    support, parts, member = surface.messages, holder.parts, surface.calls.member
    apart = not support.holds_calls
    content = tuple(each for each in parts if not (apart and isinstance(each, _BESIDE)))
    is_bare = holder.is_bare and _is_one_text(content)
    counts, place, paths = Counter[object](), 0, list[str]()
    for part in parts:
        if apart and member and _is_call(part, member):
            path = f"{member}[{counts[member]}]"
            counts[member] += 1
        elif apart and (
            isinstance(part, _BESIDE) or (isinstance(part, Opaque) and len(parts) == 1)
        ):
            path = ""
        elif apart and isinstance(part, Refusal) and support.refusal and not part.extras:
            path = support.refusal
        elif surface.media.member and isinstance(part, Image | Document | Audio):
            path = f"{surface.media.member}[{counts[type(part)]}]"
            counts[type(part)] += 1
        else:
            path = support.content if is_bare else f"{support.content}[{place}]"
        paths.append(_joined(holder.path, path) if path else holder.path)
        place += not (apart and isinstance(part, _BESIDE))
        place += surface.cache.apart and getattr(part, "cache", None) is not None
    return paths


def _is_call(part: Part, member: str) -> bool:
    """Whether a part stands among the calls, of which some may be of a type unknown here."""
    if isinstance(part, Opaque):
        return part.type.startswith(f"{member}.")
    return isinstance(part, ToolCall)


def _is_one_text(parts: tuple[Part, ...]) -> bool:
    """Whether parts are one text that needs no list, nor an object of its own."""
    only = parts[0] if len(parts) == 1 else None
    return type(only) is Text and only.cache is None and not only.extras


def system_paths(surface: Surface, system: Message) -> list[str]:
    """The path of each part of the system text."""
    path, key = surface.settings.get("system", "system"), surface.system.content
    if key:
        return [f"{path}.{key}[{place}]" for place in range(len(system.parts))]
    if system.wire_form != surface.name and _is_one_text(system.parts):
        return [path]
    paths, place = [], 0
    for part in system.parts:
        paths.append(f"{path}[{place}]")
        # A mark that stands apart follows its part.
        marked = surface.cache.apart and getattr(part, "cache", None) is not None
        place += 2 if marked else 1
    return paths


def inner_path(surface: Surface, path: str, result: ToolResult, place: int) -> str:
    """The path of a part of a result that stands at a path."""
    calls, parts = surface.calls, result.parts
    if calls.result_text and isinstance(parts[place], Text):
        return _joined(path, calls.result_text)
    if calls.result_text:
        place = sum(not isinstance(each, Text) for each in parts[:place])
    if result.wire_form != surface.name and _is_one_text(parts):
        return _joined(path, calls.result)
    return _joined(path, f"{calls.result}[{place}]")


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
