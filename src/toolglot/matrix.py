"""What is lost between each pair of protocols, according to their surfaces."""

from collections.abc import Iterator

from toolglot.registry import PROTOCOLS
from toolglot.surface import Surface


def losses(source: Surface, target: Surface) -> list[str]:
    """What the source can express and the target cannot, in words."""
    if source is target:
        return []
    return [*_settings(source, target), *_tools(source, target), *_content(source, target)]


def pairs() -> Iterator[tuple[str, str, list[str]]]:
    """Every ordered pair with its losses."""
    for source in PROTOCOLS.values():
        for target in PROTOCOLS.values():
            yield source.NAME, target.NAME, losses(source.SURFACE, target.SURFACE)


def _settings(source: Surface, target: Surface) -> Iterator[str]:
    for field, path in source.settings.items():
        if field not in target.settings and not (field == "system" and target.system.slot is None):
            yield f"`{path}`"


def _tools(source: Surface, target: Surface) -> Iterator[str]:
    for kind in sorted(source.tools.kinds - target.tools.kinds):
        yield f"{kind} tools"
    if source.tools.strict_default is not None and target.tools.strict_default is None:
        yield "`strict`"
    if "tool_choice" in target.settings:
        for choice in sorted(source.tools.choices - target.tools.choices):
            yield f"tool choice `{choice}`"


def _content(source: Surface, target: Surface) -> Iterator[str]:
    yield from sorted(
        source.media.accepted.get("user", frozenset())
        - target.media.accepted.get("user", frozenset())
    )
    if source.cache.marks and not target.cache.marks:
        yield "cache marks"
    if source.system.later and not target.system.later:
        yield "system text between messages"
    if source.messages.many_choices and not target.messages.many_choices:
        yield "several choices"
    if source.messages.ordered and not target.messages.ordered:
        yield "order of text and calls"
