"""Parts of messages: media, cache marks, citations and what only one protocol understands.

Every part is brought into a form that the target accepts in that place. What fits nowhere is
replaced by a text that names it, never dropped without one. Media that are not allowed in a tool
result move into the user message that follows the results.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain
from operator import attrgetter, is_
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from toolglot.adapt.calls.arguments import made_id, normalise
from toolglot.adapt.tools.hosted import accepts_item
from toolglot.context import Context
from toolglot.ir import (
    Audio,
    Citation,
    Document,
    FileRef,
    Image,
    Inline,
    Message,
    Opaque,
    Part,
    PlainText,
    Reasoning,
    Refusal,
    Remote,
    Request,
    Text,
    ToolCall,
    ToolResult,
)
from toolglot.surface import Surface
from toolglot.wire.told import quoted, text_in

Media = Image | Document | Audio


def adapt_content(request: Request, ctx: Context) -> Request:
    """Bring every part of every message into a form that the target accepts in its place."""
    ctx.place(request.messages)
    system = request.system
    if (
        all(map(_needs_nothing, system.parts if system is not None else ()))
        and all(map(_needs_nothing, chain.from_iterable(map(_parts, request.messages))))
        and (ctx.surfaces[1].messages.names or not any(map(_name, request.messages)))
    ):
        # Histories of texts, calls and results of text: half of the time of this pass.
        return request
    walk = Walk(ctx)
    if system is not None:
        parts = walk.parts(system.parts, "system", partial(ctx.at_system, system))
        system = system if parts is system.parts else replace(system, parts=parts)
    messages = request.messages
    adapted = tuple(walk.message(index, message) for index, message in enumerate(messages))
    if walk.moved:
        adapted = _with_moved(adapted, walk.moved)
    if system is request.system and all(map(is_, adapted, messages)) and not walk.moved:
        return request
    return replace(request, system=system, messages=adapted)


def restrict_content(request: Request, ctx: Context) -> Request:
    """The same for a request that stays in its protocol: only what its provider does not accept."""
    ctx.place(request.messages)
    walk = Walk(ctx, _RESTRICTING)
    system = request.system
    if system is not None:
        parts = walk.parts(system.parts, "system", partial(ctx.at_system, system))
        if parts is not system.parts:
            request = replace(request, system=replace(system, parts=parts))
    adapted = tuple(walk.message(index, each) for index, each in enumerate(request.messages))
    if walk.moved:
        adapted = _with_moved(adapted, walk.moved)
    elif all(map(is_, adapted, request.messages)):
        return request
    kept = list[Message]()
    for index, message in enumerate(adapted):
        if message.parts or (not walk.moved and message is request.messages[index]):
            kept.append(message)
        else:
            ctx.note("message-dropped", ctx.at(index))
    return replace(request, messages=tuple(kept))


def _with_moved(messages: tuple[Message, ...], moved: dict[int, list[Part]]) -> tuple[Message, ...]:
    """Put parts that left their results after the last result of the turn."""
    placed: list[Message] = []
    waiting: list[Part] = []
    for index, message in enumerate(messages):
        results = tuple(part for part in message.parts if isinstance(part, ToolResult))
        if waiting and not results:
            placed.append(Message(role="user", parts=tuple(waiting)))
            waiting = []
        waiting += moved.get(index, [])
        others = tuple(part for part in message.parts if not isinstance(part, ToolResult))
        if waiting and others:
            placed.append(replace(message, parts=(*results, *waiting, *others)))
            waiting = []
        else:
            placed.append(message)
    if waiting:
        placed.append(Message(role="user", parts=tuple(waiting)))
    return tuple(placed)


class Walk:
    """Adapts parts one by one, collecting what has to move."""

    def __init__(self, ctx: Context, adapters: "_Adapters | None" = None) -> None:
        self._source, self._target = ctx.surfaces
        self._ctx = ctx
        self._adapters = adapters or _ADAPTERS
        cache = self._target.cache
        self._marked = cache.parts if cache.marks else frozenset[str]()
        self.moved: dict[int, list[Part]] = {}
        self._message = 0
        self._made: dict[str, str] = {}

    def message(self, index: int, message: Message) -> Message:
        """One message; the same one if nothing had to change."""
        self._message = index
        if message.name is not None and not self._target.messages.names:
            words = f"{self._target.name} has no names of messages"
            self._ctx.note("field-dropped", self._ctx.at(index, None, "name"), words)
        place = "system" if message.role == "developer" else message.role
        parts = self.parts(message.parts, place, partial(self._ctx.at_part, index, message))
        if not parts and message.parts and place == "user" and index not in self.moved:
            # An empty message is refused, and without it the model would not know of a turn.
            names = ", ".join(dict.fromkeys(map(_named, message.parts)))
            parts = (Text(text=f"[{names} left out]"),)
        if parts is message.parts:
            return message
        changed = replace(message, parts=parts)
        self._move(changed, self._ctx.at(index))
        return changed

    def parts(
        self, parts: tuple[Part, ...], place: str, path: Callable[[int], str]
    ) -> tuple[Part, ...]:
        """Several parts, of which one may ask for the path; the same tuple if nothing changed."""
        adapted: list[Part] = []
        changed = False
        for index, part in enumerate(parts):
            if _needs_nothing(part):
                adapted.append(part)
                continue
            where = path(index)
            new = self._adapters[type(part)](self, part, place, where)
            if new is part:
                adapted.append(new)
                continue
            changed = True
            if new is not None:
                self._move(new, where)
                adapted.append(new)
        return tuple(adapted) if changed else parts

    def text(self, part: Text, _place: str, path: str) -> Text:
        """Text, with marks and citations only where the target allows them."""
        return cited(self._unmarked(part, path), self._target, path, self._ctx)

    def media(self, part: Media, place: str, path: str) -> Part | None:
        """A medium in its place, in another place, or a text that names it."""
        part = self._unmarked(part, path)
        target = self._target
        if accepts(target, place, part):
            self._note_details(part, path)
            return part
        text = plain_text(part)
        if text is not None:
            whole = replace(part, source=PlainText(text=text))
            if accepts(target, place, whole):
                self._ctx.note("part-replaced", path, "a text file is given as its text", "info")
                return whole
            self._ctx.note("part-replaced", path, "a text document became plain text")
            return Text(text=text)
        if place in _RESULTS and accepts(target, "user", part):
            return None
        self._ctx.note("part-dropped", path, f"{target.name} does not accept {label(part)} here")
        return Text(text=f"[{describe(part)} left out]")

    def _note_details(self, part: Media, path: str) -> None:
        if isinstance(part.source, Remote) and not self._target.media.fetches_urls:
            self._ctx.note("media-by-url", path)
        if getattr(part.source, "media_type", None) and isinstance(part.source, Remote):
            self._note_media_type(path)
        for field in ("detail", "name"):
            if getattr(part, field, None) is not None and field not in self._target.media.fields:
                words = f"{self._target.name} has no {field} for it"
                inner = self._source.media.paths.get(field, field)
                self._ctx.note("field-dropped", f"{path}.{inner}", words, "info")

    def _note_media_type(self, path: str) -> None:
        """Whoever fetches a URL sees the type; few protocols say it beside the URL."""
        inner = self._source.media.paths.get("url_type", "")
        if inner and "url_type" not in self._target.media.fields:
            words = f"{self._target.name} has no media type for a URL"
            self._ctx.note("field-dropped", f"{path}.{inner}", words, "info")

    def call(self, part: ToolCall, _place: str, path: str) -> ToolCall:
        """A call with arguments that are one JSON text."""
        if part.id_made:
            self._made[part.id] = made_id(part, self._target)
            part = replace(part, id=self._made[part.id])
        return normalise(self._unmarked(part, path), path, self._ctx)

    def result(self, part: ToolResult, _place: str, path: str) -> ToolResult:
        """A result; media that are not allowed in it move behind the results."""
        part = self._unmarked(part, path)
        if part.id in self._made:
            part = replace(part, id=self._made[part.id])
        place = "failure" if part.is_error and not self._target.media.in_failures else "result"
        parts = self.parts(part.parts, place, partial(self._ctx.at_inner, path, part))
        if parts is part.parts:
            return part
        moved = [
            self._unmarked(inner, path)
            for inner in part.parts
            if isinstance(inner, (Image, Document, Audio))
            and not accepts(self._target, place, inner)
            and plain_text(inner) is None
            and accepts(self._target, "user", inner)
        ]
        if moved:
            self._ctx.note("part-moved", path, f"{len(moved)} media moved behind the tool results")
            self.moved.setdefault(self._message, []).extend(
                (Text(text=f"[from the result of {part.id}]"), *moved)
            )
            if not any(isinstance(inner, Text) and inner.text for inner in parts):
                others = (inner for inner in parts if not isinstance(inner, Text))
                parts = (Text(text=f"[{describe(moved[0])}: see below]"), *others)
        return replace(part, parts=parts)

    def refusal(self, part: Refusal, place: str, path: str) -> Part:
        """A refusal, as text where the target has no such part."""
        if "refusal" in self._target.media.accepted.get(place, ()):
            return part
        self._ctx.note("part-replaced", path, "a refusal became plain text")
        return Text(text=part.text)

    def opaque(self, part: Opaque, _place: str, path: str) -> Part | None:
        """A part that only one protocol has; for another, the text in it."""
        if accepts_item(part, self._target):
            return part
        named = self._source.found_tools if part.protocol == self._source.name else {}
        found = named.get(part.type)
        if found is not None and isinstance(part.value.get(found), str):
            # All tools are declared at once here, so nothing else is needed.
            self._ctx.note("part-replaced", path, "replaced by a text that names the tool", "info")
            return Text(text=f"This tool can be called now: {part.value[found]}")
        return self._told(part, path)

    def _told(self, part: Opaque, path: str) -> Part | None:
        """What the model is told of a part that has no form here."""
        teller = self._source.told.get(part.type) if part.protocol == self._source.name else None
        title, words = teller(part.value) if teller else (part.type, text_in(part.value))
        if not words or self._ctx.options.foreign_parts == "drop":
            self._ctx.note("part-dropped", path, f"{self._target.name} has no {part.type}")
            return None
        words_of_note = f"{self._target.name} has no {part.type}; it is told in a quoted text"
        self._ctx.note("part-told", path, words_of_note)
        return Text(text=quoted(title, words))

    def same(self, part: Part, _place: str, _path: str) -> Part:
        """A part that needs nothing."""
        return part

    def marked(self, part: Any, _place: str, path: str) -> Any:
        """A part of which only its mark may need something."""
        return self._unmarked(part, path)

    def _move(self, part: Part | Message, path: str) -> None:
        if self._ctx.places is not None:
            self._ctx.places.move(part, path)

    def _unmarked(self, part: Any, path: str) -> Any:
        if part.cache is not None and part.__struct_config__.tag not in self._marked:
            self._ctx.note("cache-dropped", path)
            return replace(part, cache=None)
        return part


_RESULTS: Final = frozenset({"result", "failure"})
"""The places in the result of a call."""

_Adapters: TypeAlias = Mapping[type[Any], Callable[[Walk, Any, str, str], Part | None]]

_ADAPTERS: Final[_Adapters] = {
    Text: Walk.text,
    Image: Walk.media,
    Document: Walk.media,
    Audio: Walk.media,
    ToolCall: Walk.call,
    ToolResult: Walk.result,
    Refusal: Walk.refusal,
    Opaque: Walk.opaque,
    Reasoning: Walk.same,
}
_RESTRICTING: Final[_Adapters] = {**_ADAPTERS, Text: Walk.marked, ToolCall: Walk.marked}
"""What is done to parts that stay in their protocol."""


def cited(part: Text, target: Surface, path: str, ctx: Context) -> Text:
    """A text with the citations that the target can express."""
    kept = tuple(each for each in part.citations if shows(target, each))
    quoted = sum(loses_quote(target, each) for each in kept)
    if quoted:
        ctx.note("citation-mapped", path, f"the quoted words of {quoted} citations are left out")
    if len(kept) == len(part.citations):
        return part
    ctx.note("citation-dropped", path, f"{len(part.citations) - len(kept)} citations")
    return replace(part, citations=kept)


def shows(target: Surface, citation: Citation) -> bool:
    """Whether the target has a form for a citation."""
    return citation.url is not None and "url" in target.media.citations


def loses_quote(target: Surface, citation: Citation) -> bool:
    """Whether a citation loses the words that it quotes, which are not in the text that cites."""
    quotes = "quote" in target.media.citations
    return citation.quote is not None and citation.start is None and not quotes


_parts: Final = attrgetter("parts")
_name: Final = attrgetter("name")


def _needs_nothing(part: Part) -> bool:
    """The common case, detected quickly: plain text, plain calls, results of plain text."""
    kind = type(part)
    if kind is Text:
        return part.cache is None and not part.citations  # type: ignore[union-attr]  # a Text
    if kind is ToolCall:
        return not (part.cache or part.id_made) and part.arguments[:1] == "{"  # type: ignore[union-attr]
    if kind is ToolResult:
        plain = not (part.cache or part.id_made)  # type: ignore[union-attr]  # a ToolResult
        return plain and all(map(_needs_nothing, part.parts))  # type: ignore[union-attr]
    return kind is Reasoning


def label(part: Media) -> str:
    """What a medium is and how it is given: `image.inline`."""
    kind = "file" if isinstance(part.source, FileRef) else str(part.source.__struct_config__.tag)
    return f"{part.__struct_config__.tag}.{kind}"


def accepts(surface: Surface, place: str, part: Media) -> bool:
    """Whether a medium is allowed in a place; a file id is valid at its issuer only."""
    if isinstance(part.source, FileRef) and part.source.issuer != surface.name:
        return False
    if label(part) not in surface.media.accepted.get(place, ()):
        return False
    types = surface.media.types.get(str(part.__struct_config__.tag))
    given = part.source.media_type if isinstance(part.source, Inline | Remote) else None
    return types is None or not given or _matches(given, types)


def _matches(media_type: str, patterns: Iterable[str]) -> bool:
    """Whether a media type is one of some, which may end in a wildcard."""
    plain = media_type.partition(";")[0].strip().lower()
    return plain in patterns or f"{plain.partition('/')[0]}/*" in patterns


_TEXTS: Final = frozenset(
    {
        "text/*",
        "application/json",
        "application/xml",
        "application/x-yaml",
        "application/yaml",
        "application/toml",
        "application/javascript",
        "application/x-sh",
        "application/sql",
    }
)
"""Media types of files that can be read as they are."""


def plain_text(part: Media) -> str | None:
    """The text of a document that is one; None if it is none."""
    source = part.source
    if isinstance(source, PlainText):
        return source.text
    if not isinstance(part, Document) or not isinstance(source, Inline):
        return None
    if not _matches(source.media_type, _TEXTS):
        return None
    try:
        return b64decode(source.data, validate=True).decode()
    except ValueError:
        return None


def _named(part: Part) -> str:
    if isinstance(part, (Image, Document, Audio)):
        return describe(part)
    return part.type if isinstance(part, Opaque) else str(part.__struct_config__.tag)


def describe(part: Media) -> str:
    """A medium in a few words."""
    source, kind = part.source, str(part.__struct_config__.tag)
    if isinstance(source, Remote):
        return f"{kind} {source.url}"
    if isinstance(source, FileRef):
        return f"{kind} file {source.id}"
    name = getattr(part, "name", None)
    media = source.media_type if isinstance(source, Inline) else "text"
    return f"{kind} {name} ({media})" if name else f"{kind} ({media})"
