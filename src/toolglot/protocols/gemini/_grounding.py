"""Grounding of Gemini: which pages a text was taken from, as citations of the text.

Reference: https://ai.google.dev/api/generate-content#GroundingMetadata (read 2026-11-16). Segments
count the bytes of the part that they are in. `groundingMetadata` stays among the extras of its
candidate, where it is written back from; its own citations are marked, so that nobody writes them
twice.
"""

from collections.abc import Iterator
from typing import Any, Final

from toolglot.ir import Citation, Extras, Json
from toolglot.protocols.gemini.surface import NAME
from toolglot.wire.fields import Fields

GROUNDING: Final = "groundingMetadata"
_OWN: Final[Extras] = {NAME: {}}
_CITED: Final = frozenset({"groundingChunks", "groundingSupports"})
_PAGES: Final = ("web", "retrievedContext", "maps")


def citations(metadata: Any, texts: list[str]) -> list[tuple[int, Citation]]:
    """The citations of some texts, each with the place of its text."""
    return list(_citations(metadata, texts)) if isinstance(metadata, dict) else []


def is_own(citation: Citation) -> bool:
    """Whether a citation was read from metadata that is still there."""
    return NAME in citation.extras


def leave(metadata: Any, fields: Fields, minor: frozenset[str], *, cited: bool) -> None:
    """Name what of the metadata is no citation."""
    inner = Fields({}, fields.document, fields, GROUNDING)
    if not isinstance(metadata, dict) or not cited:
        fields.document.ctx.leave(fields, minor, {GROUNDING: metadata})
        return
    rest = {key: value for key, value in metadata.items() if key not in _CITED}
    fields.document.ctx.leave(inner, minor, rest)
    chunks, supports = metadata["groundingChunks"], metadata["groundingSupports"]
    used = {index for each in supports if isinstance(each, dict) for index in _indices(each)}
    unused = {f"groundingChunks[{i}]": each for i, each in enumerate(chunks) if i not in used}
    scores = {
        f"groundingSupports[{i}].confidenceScores": each["confidenceScores"]
        for i, each in enumerate(supports)
        if isinstance(each, dict) and each.get("confidenceScores")
    }
    details = {
        f"groundingChunks[{i}].{kind}.{key}": value
        for i in used
        for kind, page in (chunks[i].items() if _is_within(i, chunks) else ())
        if isinstance(page, dict)
        for key, value in page.items()
        if key not in ("uri", "title")
    }
    fields.document.ctx.leave(
        inner, minor | scores.keys() | details.keys(), unused | scores | details
    )


def _indices(support: Json) -> list[Any]:
    indices = support.get("groundingChunkIndices")
    return [each for each in indices if type(each) is int] if isinstance(indices, list) else []


def _citations(metadata: Json, texts: list[str]) -> Iterator[tuple[int, Citation]]:
    chunks, supports = metadata.get("groundingChunks"), metadata.get("groundingSupports")
    if not isinstance(chunks, list) or not isinstance(supports, list):
        return
    for support in supports:
        segment = support.get("segment") if isinstance(support, dict) else None
        indices = support.get("groundingChunkIndices") if isinstance(support, dict) else None
        if not isinstance(segment, dict) or not isinstance(indices, list):
            continue
        place, start, end = _place(segment, texts)
        for index in indices:
            page = _page(chunks[index]) if _is_within(index, chunks) else None
            if page is not None and place is not None:
                url, title = page
                quote = segment.get("text")
                yield (
                    place,
                    Citation(
                        url=url,
                        title=title,
                        quote=quote if isinstance(quote, str) else None,
                        start=start,
                        end=end,
                        extras=_OWN,
                    ),
                )


def _is_within(index: Any, values: list[Any]) -> bool:
    return type(index) is int and 0 <= index < len(values)


def _page(chunk: Any) -> tuple[str, str | None] | None:
    for key in _PAGES:
        page = chunk.get(key) if isinstance(chunk, dict) else None
        url = page.get("uri") if isinstance(page, dict) else None
        if isinstance(page, dict) and isinstance(url, str):
            title = page.get("title")
            return url, title if isinstance(title, str) else None
    return None


def _place(segment: Json, texts: list[str]) -> tuple[int | None, int | None, int | None]:
    """Which text a segment is in, and from where to where, in characters."""
    place, words = segment.get("partIndex") or 0, segment.get("text")
    if not _is_within(place, texts) or not texts[place]:
        # Without a part it is the first, which may be a thought; the words tell where they stand.
        spoken = [at for at, each in enumerate(texts) if each]
        quoted = (at for at in spoken if isinstance(words, str) and words in texts[at])
        place = next(quoted, spoken[-1] if spoken else None)
        if place is None:
            return None, None, None
    text = texts[place]
    data = text.encode("utf-8", "surrogatepass")
    start, end = segment.get("startIndex") or 0, segment.get("endIndex")
    if type(start) is int and type(end) is int and 0 <= start <= end <= len(data):
        try:
            before, cited = data[:start].decode(), data[start:end].decode()
        except UnicodeDecodeError:
            before, cited = "", ""
        if not isinstance(words, str) or words == cited:
            return place, len(before), len(before) + len(cited)
    found = text.find(words) if isinstance(words, str) and words else -1
    if found >= 0 and isinstance(words, str):
        return place, found, found + len(words)
    return place, None, None
