"""Any LLM client, any LLM provider: tool calls translated faithfully, with a receipt.

wire, receipt = toolglot.translate_request(body, source="anthropic", target="openai-chat")
"""

from toolglot.calls import (
    ToolCall,
    ToolOutput,
    build_tool_result_messages,
    format_tool_result,
    format_tools,
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
    "ToolglotError",
    "UnknownProtocolError",
    "UntranslatableError",
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
    "parse_tool_calls",
    "translate_request",
    "translate_response",
]

__version__ = "0.1.0"
