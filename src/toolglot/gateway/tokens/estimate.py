"""Estimates how many tokens a request has, without asking a provider.

Clients use the number to decide when to shorten their history, so everything counts: text,
reasoning, calls, results, images, documents, tools. Only a provider knows its own tokenizer, so the
number is an estimate. Text is counted by the vocabulary `o200k_base` where the extra `tokens` is
installed (splintr-rs, which ships the vocabulary: nothing is ever downloaded), and by rules of
thumb where not. What is not text follows published rules:

- an image has a token for every patch of 28 by 28 pixels, after its long edge was scaled down to
  2576, and at most 4,784 (https://platform.claude.com/docs/en/build-with-claude/vision, as others
  quote it, 2026-11-15); one whose size is unknown counts as 1,568, the most of older models;
- a page of a PDF has 3,000 tokens, the upper end of what is documented for its text
  (https://docs.anthropic.com/en/docs/build-with-claude/pdf-support, quoted likewise);
- a second of audio has 32 (https://ai.google.dev/gemini-api/docs/audio, read 2026-11-15), taken to
  be 16,000 bytes long.
"""

import binascii
import importlib
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from math import ceil
from typing import Any, Final

from toolglot import ir
from toolglot.gateway.tokens.image_size import image_size
from toolglot.wire import jsontext

_PER_MESSAGE: Final = 4
_PER_CALL: Final = 8
_PER_TOOL: Final = 8
_PER_REPLY: Final = 3
"""The tokens around messages, calls and tools and before the response, as far as is known."""

_PATCH: Final = 28
_LONG_EDGE: Final = 2576
_MOST_PATCHES: Final = 4784
_UNKNOWN_IMAGE: Final = 1568
_PDF_PAGE: Final = 3000
_MEDIA_BYTES: Final = 500
_LONGEST: Final = 2**15
"""Characters of a tool definition that is cached."""
_TOOLS: Final = 1024
"""How many tool definitions are cached: agents send the same ones with every request."""


def estimate_request(request: ir.Request) -> int:
    """The tokens of everything that a model would read for this request."""
    messages = (*((request.system,) if request.system else ()), *request.messages)
    tokens = _PER_REPLY + sum(map(_count_message, messages)) + sum(map(_count_tool, request.tools))
    if request.output is not None and request.output.schema is not None:
        tokens += count_text(jsontext.text(request.output.schema))
    return tokens


def count_text(text: str) -> int:
    """The tokens of a text. What looks like a special token is text like any other."""
    return _tokenizer()(text) if text else 0


def _count_message(message: ir.Message) -> int:
    return _PER_MESSAGE + count_text(message.name or "") + _count_parts(message.parts)


def _count_parts(parts: Iterable[ir.Part]) -> int:
    return sum(_COUNTERS[type(part)](part) for part in parts)


# --- parts ----------------------------------------------------------------------------------------


def _count_reasoning(part: ir.Reasoning) -> int:
    # State that only its issuer can read stands for thinking of about its length.
    words = part.text or "".join(part.summary)
    return count_text(words) if words else ceil(len(part.signature or "") / 4)


def _count_call(part: ir.ToolCall) -> int:
    return _PER_CALL + count_text(part.name) + count_text(part.arguments)


def _count_result(part: ir.ToolResult) -> int:
    return _PER_CALL + _count_parts(part.parts)


def _count_image(part: ir.Image) -> int:
    size = image_size(part.source.data) if isinstance(part.source, ir.Inline) else None
    if size is None:
        return _UNKNOWN_IMAGE
    scale = min(1.0, _LONG_EDGE / max(size))
    across, down = (ceil(side * scale / _PATCH) for side in size)
    return min(across * down, _MOST_PATCHES)


def _count_document(part: ir.Document) -> int:
    return count_text(part.name or "") + _count_source(part.source)


def _count_audio(part: ir.Audio) -> int:
    return _count_source(part.source)


def _count_source(source: ir.Source) -> int:
    if isinstance(source, ir.PlainText):
        return count_text(source.text)
    if not isinstance(source, ir.Inline):
        return _PDF_PAGE
    if source.media_type.startswith("text/") or source.media_type == "application/json":
        return count_text(_unpacked(source.data).decode("utf-8", "replace"))
    if source.media_type == "application/pdf":
        return _PDF_PAGE * _pages(_unpacked(source.data))
    return ceil(len(source.data) * 3 / 4 / _MEDIA_BYTES)


def _unpacked(data: str) -> bytes:
    try:
        return binascii.a2b_base64(data)
    except (binascii.Error, ValueError):
        return data.encode("utf-8", "replace")


_PAGE: Final = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_PAGES: Final = re.compile(rb"/Count\s+(\d{1,4})(?!\d)")
_PAGE_BYTES: Final = 100_000


def _pages(pdf: bytes) -> int:
    """The pages of a PDF; where its index is compressed, estimated from its size."""
    counts = (int(count) for count in _PAGES.findall(pdf))
    found = max(len(_PAGE.findall(pdf)), *counts, 0)
    return found or max(1, ceil(len(pdf) / _PAGE_BYTES))


_COUNTERS: Final[dict[type[Any], Callable[[Any], int]]] = {
    ir.Text: lambda part: count_text(part.text),
    ir.Refusal: lambda part: count_text(part.text),
    ir.Reasoning: _count_reasoning,
    ir.ToolCall: _count_call,
    ir.ToolResult: _count_result,
    ir.Image: _count_image,
    ir.Document: _count_document,
    ir.Audio: _count_audio,
    ir.Opaque: lambda part: count_text(jsontext.text(part.value)),
}


# --- tools ----------------------------------------------------------------------------------------


def _count_tool(tool: ir.Tool) -> int:
    if isinstance(tool, ir.NamespaceTool):
        head = count_text(tool.name) + count_text(tool.description or "")
        return _PER_TOOL + head + sum(map(_count_tool, tool.tools))
    if isinstance(tool, ir.FunctionTool):
        schema = jsontext.text(tool.parameters) if tool.parameters else ""
        return _count_known(f"{tool.name}\n{tool.description or ''}\n{schema}")
    if isinstance(tool, ir.CustomTool):
        words = (tool.name, tool.description or "", tool.definition or "")
        return _count_known("\n".join(words))
    return _count_known(jsontext.text(tool.value))


def _count_known(text: str) -> int:
    """The same, remembered unless it is so long that a client could fill the memory with it."""
    return _count_definition(text) if len(text) <= _LONGEST else _PER_TOOL + count_text(text)


@lru_cache(maxsize=_TOOLS)
def _count_definition(text: str) -> int:
    return _PER_TOOL + count_text(text)


# --- text -----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _tokenizer() -> Callable[[str], int]:
    """The function that counts text: by the vocabulary if it is installed, or by rules of thumb."""
    try:
        library = importlib.import_module("splintr")
    except ImportError:
        return estimate_text
    vocabulary = library.Tokenizer.from_pretrained("o200k_base")
    # The tables for words outside the vocabulary are built when it meets the first one.
    vocabulary.encode_ordinary("xqzvw")

    def count(text: str) -> int:
        try:
            return len(vocabulary.encode_ordinary(text))
        except UnicodeEncodeError:
            # A lone surrogate, which no tokenizer takes.
            return len(vocabulary.encode_ordinary(text.encode("utf-8", "replace").decode()))

    return count


_Rule = tuple[re.Pattern[str], float, float]

_ASCII: Final[tuple[_Rule, ...]] = (
    (re.compile(r"[A-Z]*[a-z]+|[A-Z]+"), 0.8, 0.08),
    (re.compile(r"[0-9]+"), 1.1, 0.38),
    (re.compile(r"[\r\n]\s*"), 0.8, 0.0),
    (re.compile(r"[!-/:-@\[-`{-~]+"), 0.85, 0.15),
)
_BEYOND: Final[tuple[_Rule, ...]] = (
    (re.compile(r"[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]+"), 0.8, 0.75),
    (re.compile(r"[\uac00-\ud7af]+"), 1.0, 0.65),
    (re.compile(r"[\u0080-\u052f]+"), 0.8, 0.25),
    (re.compile(r"[\u0530-\u1fff]+"), 0.8, 0.32),
    (re.compile(r"[^\u0000-\u1fff\u3000-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"), 1.7, 0.0),
)
"""Runs of characters of one kind: the tokens of the first character, and of each further one."""


def estimate_text(text: str) -> int:
    """The tokens of a text by rules of thumb, too many rather than too few."""
    tokens = 0.0
    for pattern, first, further in _ASCII if text.isascii() else _ASCII + _BEYOND:
        runs = pattern.findall(text)
        count = len(runs)
        tokens += count * first + (sum(map(len, runs)) - count) * further
    return ceil(tokens)
