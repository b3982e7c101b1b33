"""Any LLM client, any LLM provider: tool calls translated faithfully, with a receipt.

wire, receipt = toolglot.translate_request(body, source="anthropic", target="openai-chat")
"""

from importlib import import_module

TYPE_CHECKING = False  # `typing` alone would cost more than the rest of this module
if TYPE_CHECKING:
    # For type checkers; at run time a name is loaded when it is first used, by `_NAMES` below.
    # isort: off
    from toolglot import events as events, ir as ir
    from toolglot.adapt.calls.validate import (
        validate_arguments as validate_arguments,
        validate_tool_calls as validate_tool_calls,
    )
    from toolglot.calls import (
        FormattedTools as FormattedTools,
        ToolOutput as ToolOutput,
        ToolingMiddleware as ToolingMiddleware,
        build_tool_result_messages as build_tool_result_messages,
        format_tool_result as format_tool_result,
        format_tools as format_tools,
        is_compatible as is_compatible,
        map_tool_call as map_tool_call,
    )
    from toolglot.context import Context as Context, Options as Options
    from toolglot.dialects.rendering import (
        render_calls as render_calls,
        render_result as render_result,
        render_tools as render_tools,
    )
    from toolglot.dialects.text import (
        ParsedText as ParsedText,
        TextDecoder as TextDecoder,
        parse_text as parse_text,
    )
    from toolglot.dialects.dialect import Dialect as Dialect
    from toolglot.dialects.table import (
        register_dialect as register_dialect,
        unregister_dialect as unregister_dialect,
    )
    from toolglot.errors import (
        DecodeError as DecodeError,
        InexpressibleError as InexpressibleError,
        MissingExtraError as MissingExtraError,
        StreamError as StreamError,
        ToolglotError as ToolglotError,
        UnknownProtocolError as UnknownProtocolError,
        UntranslatableError as UntranslatableError,
    )
    from toolglot.exchange import Exchange as Exchange
    from toolglot.history import (
        Finding as Finding,
        diagnose as diagnose,
        repair_history as repair_history,
    )
    from toolglot.inprocess.chat import (
        RequestFailedError as RequestFailedError,
        TooManyRoundsError as TooManyRoundsError,
        Transcript as Transcript,
        achat as achat,
        chat as chat,
    )
    from toolglot.inprocess.httpx_transport import (
        AsyncTransport as AsyncTransport,
        Transport as Transport,
        async_client as async_client,
        client as client,
        transport as transport,
    )
    from toolglot.ir import (
        ApiError as ApiError,
        FunctionTool as FunctionTool,
        Message as Message,
        Reasoning as Reasoning,
        Request as Request,
        Response as Response,
        Text as Text,
        ToolCall as ToolCall,
        ToolResult as ToolResult,
    )
    from toolglot.lint import Violation as Violation, lint_stream as lint_stream
    from toolglot.parsers import (
        detect as detect,
        get_parser as get_parser,
        parse_tool_calls as parse_tool_calls,
        register_parser as register_parser,
    )
    from toolglot.profiles import (
        UnknownProviderError as UnknownProviderError,
        family_of as family_of,
        get_capabilities as get_capabilities,
        get_profile as get_profile,
        register_profile as register_profile,
    )
    from toolglot.receipt import Note as Note, Receipt as Receipt
    from toolglot.registry import PROTOCOLS as PROTOCOLS, get_protocol as get_protocol
    from toolglot.rules import ToolRules as ToolRules
    from toolglot.schema.conform import Problem as Problem
    from toolglot.streams import StreamTranslator as StreamTranslator
    from toolglot.translate import (
        decode_request as decode_request,
        decode_response as decode_response,
        encode_request as encode_request,
        encode_response as encode_response,
        translate_request as translate_request,
        translate_response as translate_response,
    )
    from toolglot.wire.message import WireRequest as WireRequest, WireResponse as WireResponse
    # isort: on

    __version__: str

_NAMES = {
    "adapt.calls.validate": "validate_arguments validate_tool_calls",
    "calls": """
        FormattedTools ToolOutput ToolingMiddleware build_tool_result_messages format_tool_result
        format_tools is_compatible map_tool_call
    """,
    "context": "Context Options",
    "dialects.dialect": "Dialect",
    "dialects.table": "register_dialect unregister_dialect",
    "dialects.rendering": "render_calls render_result render_tools",
    "dialects.text": "ParsedText TextDecoder parse_text",
    "errors": """
        DecodeError InexpressibleError MissingExtraError StreamError ToolglotError
        UnknownProtocolError UntranslatableError
    """,
    "exchange": "Exchange",
    "inprocess.chat": """
        RequestFailedError TooManyRoundsError Transcript achat chat
    """,
    "inprocess.httpx_transport": "AsyncTransport Transport async_client client transport",
    "history": "Finding diagnose repair_history",
    "ir": "ApiError FunctionTool Message Reasoning Request Response Text ToolCall ToolResult",
    "lint": "Violation lint_stream",
    "parsers": "detect get_parser parse_tool_calls register_parser",
    "profiles": "UnknownProviderError family_of get_capabilities get_profile register_profile",
    "receipt": "Note Receipt",
    "registry": "PROTOCOLS get_protocol",
    "rules": "ToolRules",
    "schema.conform": "Problem",
    "streams": "StreamTranslator",
    "translate": """
        decode_request decode_response encode_request encode_response translate_request
        translate_response
    """,
    "wire.message": "WireRequest WireResponse",
}
"""Every module with public names, and these."""

_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
_MODULES = ("events", "ir")

__all__ = [*_HOMES, *_MODULES]  # noqa: PLE0604 - all are strings


if not TYPE_CHECKING:  # or else every name would be one to a type checker

    def __getattr__(name: str) -> object:
        """Load a public name when it is first used, so that importing the package costs little."""
        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        if name == "__version__":
            value = globals()[name] = _version()
            return value
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        return value


def _version() -> str:
    try:
        return str(import_module("toolglot._version").__version__)
    except ImportError:  # A checkout that was not installed: the build writes that module.
        return "0.1.0.dev0"


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
