"""Surfaces of formats: those of protocols where nobody answers, and those of plain text."""

from typing import Any, Final

from msgspec.structs import replace

from toolglot.surface import (
    CallSupport,
    MediaSupport,
    MessageSupport,
    ReasoningSupport,
    SchemaSupport,
    Surface,
    SystemSupport,
    ToolSupport,
)

_TEXT: Final = frozenset({"text"})
_PICTURES: Final = frozenset({"text", "image.inline", "image.remote"})


def written_down(surface: Surface, **changes: Any) -> Surface:
    """A protocol's surface for conversations that are kept and not answered: whatever only the
    answer needs is not required.
    """
    changed = {name: replace(getattr(surface, name), **more) for name, more in changes.items()}
    messages = changed.get("messages", surface.messages)
    tools = changed.get("tools", surface.tools)
    return replace(
        surface,
        **{
            **changed,
            "requires_max_tokens": False,
            "messages": replace(messages, prefill="kept", prefill_mark="", user_first=False),
            "tools": replace(tools, explicit_strict=False, wants_true_required=False),
            "stream": replace(surface.stream, by_default=False),
        },
    )


def of_text(
    name: str,
    *,
    path: str,
    content: str = "content",
    reasoning: bool = False,
    system: str | None = "system",
    later: bool = False,
    pictures: bool = False,
    model: bool = False,
) -> Surface:
    """The surface of a format whose messages are texts, calls of functions and their results."""
    media = _PICTURES if pictures else _TEXT
    return Surface(
        name=name,
        path="",
        settings={"tools": "tools", "system": system or path}
        | ({"model": "model"} if model else {}),
        outputs=frozenset({"text"}),
        messages=MessageSupport(path=path, content=content),
        system=SystemSupport(slot=system, hoisted=system is not None, later=later),
        calls=CallSupport(arguments="object"),
        tools=ToolSupport(choices=frozenset({"auto"}), strict_default=None, needs_schema=True),
        schema=SchemaSupport(),
        media=MediaSupport(
            accepted={"system": _TEXT, "user": media, "result": media, "assistant": _TEXT}
        ),
        reasoning=ReasoningSupport(takes_unsigned=reasoning),
    )
