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
    MissingExtraError,
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
    from toolglot.adapt.validate import validate_arguments, validate_tool_calls
    from toolglot.doctor import Finding, diagnose, repair_history
    from toolglot.lint import Violation, lint_stream
    from toolglot.parsers import ToolingMiddleware, get_parser, register_parser
    from toolglot.profiles import (
        UnknownProviderError,
        family_of,
        get_capabilities,
        get_profile,
    )
    from toolglot.schema.conform import Problem

__all__ = [
    "PROTOCOLS",
    "Context",
    "DecodeError",
    "Finding",
    "MissingExtraError",
    "Note",
    "Options",
    "Problem",
    "Receipt",
    "StreamError",
    "StreamTranslator",
    "ToolCall",
    "ToolOutput",
    "ToolRules",
    "ToolglotError",
    "ToolingMiddleware",
    "UnknownProtocolError",
    "UnknownProviderError",
    "UntranslatableError",
    "Violation",
    "WireRequest",
    "WireResponse",
    "build_tool_result_messages",
    "decode_request",
    "decode_response",
    "diagnose",
    "encode_request",
    "encode_response",
    "family_of",
    "format_tool_result",
    "format_tools",
    "get_capabilities",
    "get_parser",
    "get_profile",
    "get_protocol",
    "is_compatible",
    "lint_stream",
    "map_tool_call",
    "parse_tool_calls",
    "register_parser",
    "repair_history",
    "translate_request",
    "translate_response",
    "validate_arguments",
    "validate_tool_calls",
]

__version__ = "0.1.0"


_LATER = {
    "validate_arguments": "adapt.validate",
    "validate_tool_calls": "adapt.validate",
    "Finding": "doctor",
    "diagnose": "doctor",
    "repair_history": "doctor",
    "Problem": "schema.conform",
    "Violation": "lint",
    "lint_stream": "lint",
    "ToolingMiddleware": "parsers",
    "get_parser": "parsers",
    "register_parser": "parsers",
    "UnknownProviderError": "profiles",
    "family_of": "profiles",
    "get_capabilities": "profiles",
    "get_profile": "profiles",
}
"""What few programs need, and the module that has it."""


def __getattr__(name: str) -> Any:
    """Load what few programs need only when it is asked for."""
    if name in _LATER:
        from importlib import import_module  # noqa: PLC0415 - as above

        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
