"""Every public name, used as a stranger would: mypy checks it in strict mode, nothing runs it.

`tests/test_exports.py` sees to it that no name of `toolglot.__all__` is missing here.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, assert_type

import toolglot
from toolglot import ir
from toolglot.calls import ToolResponse
from toolglot.dialects.reader import CallSegment
from toolglot.parsers import ToolParser
from toolglot.profiles import Capabilities, ModelFamily, Profile

BODY: dict[str, Any] = {"model": "m", "messages": []}


def requests(body: bytes, options: toolglot.Options) -> bytes:
    wire, receipt = toolglot.translate_request(body, source="anthropic", target="openai-chat")
    assert_type(wire, toolglot.WireRequest)
    assert_type(receipt, toolglot.Receipt)
    assert_type(wire.path, str)
    ctx = toolglot.Context(options, now=1)
    request = toolglot.decode_request(BODY, source="anthropic", context=ctx)
    assert_type(request, ir.Request)
    assert_type(toolglot.encode_request(request, target="gemini"), toolglot.WireRequest)
    return wire.data()


def responses(body: str) -> int:
    wire, receipt = toolglot.translate_response(
        body, source="gemini", target="anthropic", status=429, headers={"retry-after": "1"}
    )
    assert_type(wire, toolglot.WireResponse)
    assert_type(receipt, toolglot.Receipt)
    response = toolglot.decode_response(body, source="gemini")
    assert_type(response, ir.Response | ir.ApiError)
    assert_type(toolglot.encode_response(response, target="ollama"), toolglot.WireResponse)
    return wire.status


def streams(pieces: Iterable[bytes]) -> Iterable[bytes]:
    translator = toolglot.StreamTranslator("openai-chat", "anthropic", request=BODY)
    for piece in pieces:
        yield translator.feed(piece)
    yield assert_type(translator.close(), bytes)
    assert_type(translator.receipt, toolglot.Receipt)


def receipts(receipt: toolglot.Receipt) -> Mapping[str, int]:
    for note in receipt:
        assert_type(note, toolglot.Note)
        assert_type(note.path, str)
    assert_type(receipt.losses, tuple[toolglot.Note, ...])
    return receipt.codes()


def texts(text: str) -> str:
    parsed = toolglot.parse_text(text, ["get_weather"])
    assert_type(parsed, toolglot.ParsedText)
    assert_type(parsed.calls, tuple[CallSegment, ...])
    assert_type(parsed.content, str)
    decoder = toolglot.TextDecoder("hermes")
    segments = [*decoder.feed(text), *decoder.close()]
    assert_type([each for each in segments if isinstance(each, CallSegment)], list[CallSegment])
    assert_type(toolglot.detect(text), str | None)
    assert_type(toolglot.render_tools([], "hermes"), str)
    assert_type(toolglot.render_calls([], "hermes"), str)
    return toolglot.render_result({"id": "1", "content": "sunny"}, "hermes")


def calls(response: bytes) -> list[ir.Json]:
    found = toolglot.parse_tool_calls(response, "openai")
    assert_type(found, list[toolglot.ToolCall])
    rules = toolglot.ToolRules(rename={"a": "b"})
    assert_type(toolglot.map_tool_call(found[0], rules), toolglot.ToolCall)
    formatted = toolglot.format_tools([], "anthropic")
    assert_type(formatted, toolglot.FormattedTools)
    assert_type(formatted.receipt, toolglot.Receipt)
    assert_type(formatted.restore(found[0]), toolglot.ToolCall)
    assert_type(toolglot.is_compatible({}, "gemini"), tuple[bool, list[str]])
    assert_type(toolglot.format_tool_result("1", "f", 3, "ollama"), ir.Json)
    outputs = [toolglot.ToolOutput("1", "sunny")]
    return toolglot.build_tool_result_messages(found, outputs, "openai-chat", response=response)


def validation(found: list[toolglot.ToolCall]) -> list[str]:
    problems = toolglot.validate_arguments({"parameters": {}}, {"city": 1})
    assert_type(problems, list[toolglot.Problem])
    checked = toolglot.validate_tool_calls(found)
    assert_type(checked, list[tuple[toolglot.ToolCall, list[toolglot.Problem]]])
    return [problem.path for _, each in checked for problem in each]


def parsers(response: str) -> tuple[toolglot.ToolCall, ...]:
    parser = toolglot.get_parser("anthropic")
    assert_type(parser, ToolParser)
    toolglot.register_parser("my-provider", parser)
    middleware = toolglot.ToolingMiddleware("my-provider")
    assert_type(middleware.process_request(BODY), ir.Json)
    answer = middleware.process_response(response)
    assert_type(answer, ToolResponse)
    return answer.tool_calls


def history(body: bytes) -> list[toolglot.Finding]:
    repaired, receipt = toolglot.repair_history(body, "anthropic", policy="placeholder")
    assert_type(repaired, ir.Json)
    assert_type(receipt, toolglot.Receipt)
    return toolglot.diagnose(body, "anthropic")


def providers(model: str) -> None:
    assert_type(toolglot.get_profile("openai"), Profile)
    assert_type(toolglot.get_capabilities("openai"), Capabilities)
    assert_type(toolglot.family_of(model), ModelFamily | None)
    assert_type([*toolglot.PROTOCOLS], list[str])
    assert_type(toolglot.get_protocol("gemini").SURFACE.name, str)
    assert_type(toolglot.lint_stream(b"", "gemini"), list[toolglot.Violation])


def errors() -> str:
    try:
        requests(b"", toolglot.Options(strict=True))
    except toolglot.DecodeError as error:
        return error.path
    except toolglot.UntranslatableError as error:
        assert_type(error.notes, tuple[toolglot.Note, ...])
    except toolglot.UnknownProtocolError as error:
        return error.name
    except (
        toolglot.InexpressibleError,
        toolglot.MissingExtraError,
        toolglot.StreamError,
        toolglot.UnknownProviderError,
    ) as error:
        raise assert_type(
            error,
            toolglot.InexpressibleError
            | toolglot.MissingExtraError
            | toolglot.StreamError
            | toolglot.UnknownProviderError,
        ) from None
    except toolglot.ToolglotError as error:
        return str(error)
    return ""


def exchanges(body: bytes, pieces: Iterable[bytes]) -> bytes:
    exchange = toolglot.Exchange("anthropic", "gemini", toolglot.Options(model="m"))
    assert_type(exchange.request(body).data, bytes)
    assert_type(exchange.client_request, toolglot.Request)
    translator = exchange.stream()
    assert_type(translator, toolglot.StreamTranslator)
    assert_type(exchange.receipt, toolglot.Receipt)
    return b"".join(map(translator.feed, pieces)) + translator.close()


def interlingua(result: toolglot.ToolResult) -> toolglot.Request:
    tool = toolglot.FunctionTool(name="f", parameters={"type": "object"})
    said = toolglot.Message(role="assistant", parts=(toolglot.Reasoning(text="Hm."),))
    asked = toolglot.Message(role="user", parts=(toolglot.Text(text="Go on."), result))
    return toolglot.ir.Request(model="m", messages=(said, asked), tools=(tool,))


def folded(response: toolglot.Response) -> toolglot.Response | toolglot.ApiError:
    return toolglot.events.fold(toolglot.events.unfold(response))


def extensions(dialect: toolglot.Dialect) -> None:
    toolglot.register_dialect(dialect)
    toolglot.unregister_dialect(dialect.name)
    assert_type(toolglot.register_profile("mine", {"endpoints": []}), Profile)


async def in_process(function: Callable[[str], str]) -> tuple[toolglot.Transcript, ...]:
    toolglot.client("demo", library="httpx").close()
    await toolglot.async_client(["demo"], config="toolglot.toml").aclose()
    with toolglot.transport("openai/gpt-5.4", api_key="key") as transport:
        assert_type(transport, toolglot.Transport)
    async with toolglot.AsyncTransport() as other:
        assert_type(other.receipts, list[dict[str, Any]])
    try:
        said = toolglot.chat("demo", "Hello.", tools=[function], max_tokens=9)
        return said, await toolglot.achat("demo", [*said.messages, "And now?"])
    except (toolglot.RequestFailedError, toolglot.TooManyRoundsError) as error:
        return (assert_type(error.transcript, toolglot.Transcript),)
