"""Any LLM client, any LLM provider: tool calls translated faithfully, with a receipt.

wire, receipt = toolglot.translate_request(body, source="anthropic", target="openai-chat")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolglot.adapt.calls.validate import validate_arguments, validate_tool_calls
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
    from toolglot.dialects.dialect import Dialect
    from toolglot.dialects.rendering import render_calls, render_result, render_tools
    from toolglot.dialects.table import register_dialect, unregister_dialect
    from toolglot.dialects.text import ParsedText, TextDecoder, parse_text
    from toolglot.errors import (
        DecodeError,
        InexpressibleError,
        MissingExtraError,
        StreamError,
        ToolglotError,
        UnknownProtocolError,
        UntranslatableError,
    )
    from toolglot.history import Finding, diagnose, repair_history
    from toolglot.lint import Violation, lint_stream
    from toolglot.parsers import ToolingMiddleware, detect, get_parser, register_parser
    from toolglot.profiles import (
        UnknownProviderError,
        family_of,
        get_capabilities,
        get_profile,
    )
    from toolglot.receipt import Note, Receipt
    from toolglot.registry import PROTOCOLS, get_protocol
    from toolglot.rules import ToolRules
    from toolglot.schema.conform import Problem
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
    "Dialect",
    "Finding",
    "InexpressibleError",
    "MissingExtraError",
    "Note",
    "Options",
    "ParsedText",
    "Problem",
    "Receipt",
    "StreamError",
    "StreamTranslator",
    "TextDecoder",
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
    "detect",
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
    "parse_text",
    "parse_tool_calls",
    "register_dialect",
    "register_parser",
    "render_calls",
    "render_result",
    "render_tools",
    "repair_history",
    "translate_request",
    "translate_response",
    "unregister_dialect",
    "validate_arguments",
    "validate_tool_calls",
]

__version__ = "0.1.0"


_HOMES = {
    "validate_arguments": "adapt.calls.validate",
    "validate_tool_calls": "adapt.calls.validate",
    "ToolCall": "calls",
    "ToolOutput": "calls",
    "build_tool_result_messages": "calls",
    "format_tool_result": "calls",
    "format_tools": "calls",
    "is_compatible": "calls",
    "map_tool_call": "calls",
    "parse_tool_calls": "calls",
    "Context": "context",
    "Options": "context",
    "Dialect": "dialects.dialect",
    "register_dialect": "dialects.table",
    "unregister_dialect": "dialects.table",
    "render_calls": "dialects.rendering",
    "render_result": "dialects.rendering",
    "render_tools": "dialects.rendering",
    "ParsedText": "dialects.text",
    "TextDecoder": "dialects.text",
    "parse_text": "dialects.text",
    "Finding": "history",
    "diagnose": "history",
    "repair_history": "history",
    "DecodeError": "errors",
    "InexpressibleError": "errors",
    "MissingExtraError": "errors",
    "StreamError": "errors",
    "ToolglotError": "errors",
    "UnknownProtocolError": "errors",
    "UntranslatableError": "errors",
    "Violation": "lint",
    "lint_stream": "lint",
    "ToolingMiddleware": "parsers",
    "detect": "parsers",
    "get_parser": "parsers",
    "register_parser": "parsers",
    "UnknownProviderError": "profiles",
    "family_of": "profiles",
    "get_capabilities": "profiles",
    "get_profile": "profiles",
    "Note": "receipt",
    "Receipt": "receipt",
    "PROTOCOLS": "registry",
    "get_protocol": "registry",
    "ToolRules": "rules",
    "Problem": "schema.conform",
    "StreamTranslator": "streams",
    "decode_request": "translate",
    "decode_response": "translate",
    "encode_request": "translate",
    "encode_response": "translate",
    "translate_request": "translate",
    "translate_response": "translate",
    "WireRequest": "wire.message",
    "WireResponse": "wire.message",
}
"""Every public name, and the module that has it."""


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for, so that importing the package costs little."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
