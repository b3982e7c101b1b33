"""Any LLM client, any LLM provider: tool calls translated faithfully, with a receipt.

wire, receipt = toolglot.translate_request(body, source="anthropic", target="openai-chat")
"""

from typing import TYPE_CHECKING, Any

from toolglot.calls import (
    ToolCall,
    ToolOutput,
    build_tool_result_messages,
    format_tool_result,
    format_tools,
    is_compatible,
    map_tool_call,
    parse_tool_calls,
)
from toolglot.context import Context, Options
from toolglot.errors import (
    DecodeError,
    StreamError,
    ToolglotError,
    UnknownProtocolError,
    UntranslatableError,
)
from toolglot.receipt import Note, Receipt
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.rules import ToolRules
from toolglot.streams import StreamTranslator
from toolglot.translate import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    translate_request,
    translate_response,
)
from toolglot.wire.message import WireRequest, WireResponse

if TYPE_CHECKING:
    from toolglot.lint import Violation, lint_stream

__all__ = [
    "PROTOCOLS",
    "Context",
    "DecodeError",
    "Note",
    "Options",
    "Receipt",
    "StreamError",
    "StreamTranslator",
    "ToolCall",
    "ToolOutput",
    "ToolRules",
    "ToolglotError",
    "UnknownProtocolError",
    "UntranslatableError",
    "Violation",
    "WireRequest",
    "WireResponse",
    "build_tool_result_messages",
    "decode_request",
    "decode_response",
    "encode_request",
    "encode_response",
    "format_tool_result",
    "format_tools",
    "get_protocol",
    "is_compatible",
    "lint_stream",
    "map_tool_call",
    "parse_tool_calls",
    "translate_request",
    "translate_response",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load what few programs need only when it is asked for."""
    if name in ("Violation", "lint_stream"):
        from toolglot import lint  # noqa: PLC0415 - it costs as much as a protocol

        return getattr(lint, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
