"""The official SDKs put our streams together, over a real socket, as they do their providers'."""

import json
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from itertools import count
from typing import Any, NamedTuple

import anthropic
import ollama
import openai
import openresponses_types.types as open_responses
import pytest
from google import genai
from google.genai import errors as genai_errors
from msgspec.structs import replace
from openai.types.responses import ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter
from tests.http_servers import serving
from tests.laws.streams import STREAMS, decode, failed, stem_of, translate, was_cut
from tests.sampling import sampled

from toolglot import ir
from toolglot.context import Context
from toolglot.events import fold
from toolglot.registry import get_protocol
from toolglot.wire.parts import arguments_object
from toolglot.wire.sse import SseDecoder

pytestmark = pytest.mark.slow


class Served(NamedTuple):
    """Where streams are served."""

    base: str
    streams: dict[str, tuple[str, bytes]]
    numbers: Iterator[int]

    def add(self, kind: str, data: bytes) -> str:
        """The base URL under which every request gets this stream."""
        key = str(next(self.numbers))
        self.streams[key] = (kind, data)
        return f"{self.base}/{key}"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    streams: dict[str, tuple[str, bytes]] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            kind, data = streams[self.path.split("/")[1]]
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for start in range(0, len(data), 97):
                piece = data[start : start + 97]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_args: Any) -> None:
            """Say nothing."""

    with serving(Handler) as url:
        yield Served(url, streams, count())


class Said(NamedTuple):
    """What an answer says, however it was put together."""

    text: str
    thinking: str
    calls: list[tuple[str | None, str, Any]]
    prompt: int
    output: int


def said(response: ir.Response, target: str) -> Said:
    """The same of a response in the interlingua, for a client of a protocol."""
    parts = response.choices[0].parts
    usage = response.usage or ir.Usage()
    words = [part.text for part in parts if isinstance(part, (ir.Text, ir.Refusal))]
    thoughts = [part for part in parts if isinstance(part, ir.Reasoning)]
    thinking = "".join("".join((*part.summary, part.text)) for part in thoughts)
    return Said(
        text="".join(words),
        thinking=thinking.replace("\n", ""),
        calls=[called(part, target) for part in parts if isinstance(part, ir.ToolCall)],
        prompt=usage.prompt,
        output=usage.output or 0,
    )


def called(call: ir.ToolCall, target: str) -> tuple[str | None, str, Any]:
    """A call as a client of a protocol sees it; the client of Ollama knows no ids."""
    known = None if call.id_made or target == "ollama" else call.id
    if get_protocol(target).SURFACE.calls.arguments == "object":
        return known, call.name, arguments_object(call, Context())
    return known, call.name, value_of(call.arguments)


def value_of(arguments: str) -> Any:
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


# --- what each SDK makes of a stream --------------------------------------------------------------


def by_anthropic(url: str) -> tuple[Said, str | None]:
    with (
        anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=9, messages=[]) as stream,
    ):
        message = stream.get_final_message()
    usage = message.usage
    return Said(
        text="".join(block.text for block in message.content if block.type == "text"),
        thinking="".join(b.thinking for b in message.content if b.type == "thinking").replace(
            "\n", ""
        ),
        calls=[(b.id, b.name, b.input) for b in message.content if b.type == "tool_use"],
        prompt=usage.input_tokens
        + (usage.cache_read_input_tokens or 0)
        + (usage.cache_creation_input_tokens or 0),
        output=usage.output_tokens,
    ), message.stop_reason


def by_chat(url: str) -> tuple[Said, str | None]:
    with (
        openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client,
        client.chat.completions.stream(model="m", messages=[]) as stream,
    ):
        for _ in stream:
            pass
        completion = stream.current_completion_snapshot
    choice = completion.choices[0]
    message, usage = choice.message, completion.usage
    return Said(
        text=(message.content or "") + (message.refusal or ""),
        thinking=str(getattr(message, "reasoning_content", "") or "").replace("\n", ""),
        calls=[chat_call(call.to_dict()) for call in message.tool_calls or ()],
        prompt=usage.prompt_tokens if usage else 0,
        output=usage.completion_tokens if usage else 0,
    ), choice.finish_reason


def chat_call(call: dict[str, Any]) -> tuple[str | None, str, Any]:
    """A call of either kind; the SDK has no type for free-form ones in a stream, but keeps them."""
    if call["type"] == "custom":
        return call["id"], call["custom"]["name"], value_of(call["custom"]["input"])
    return call["id"], call["function"]["name"], value_of(call["function"]["arguments"])


def by_responses(url: str) -> tuple[Said, str | None]:
    last: Any = None
    with (
        openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client,
        client.responses.stream(model="m", input=[]) as stream,
    ):
        for event in stream:
            last = event
    response = last.response
    if response.status == "failed":
        raise openai.OpenAIError(response.error.message)
    items = response.output
    contents = [part for item in items if item.type == "message" for part in item.content]
    usage = response.usage
    summaries = [part for item in items if item.type == "reasoning" for part in item.summary]
    return Said(
        text="".join(getattr(p, "text", "") or getattr(p, "refusal", "") for p in contents),
        thinking="".join(part.text for part in summaries).replace("\n", ""),
        calls=[
            (item.call_id, item.name, value_of(item.arguments))
            for item in items
            if item.type == "function_call"
        ]
        + [
            (item.call_id, item.name, value_of(item.input))
            for item in items
            if item.type == "custom_tool_call"
        ],
        prompt=usage.input_tokens if usage else 0,
        output=usage.output_tokens if usage else 0,
    ), response.incomplete_details.reason if response.incomplete_details else response.status


def by_gemini(url: str) -> tuple[Said, str | None]:
    options = genai.types.HttpOptions(base_url=url, retry_options={"attempts": 1})
    client = genai.Client(api_key="none", http_options=options)
    parts: list[Any] = []
    usage = stop = None
    with closing(client):
        for chunk in client.models.generate_content_stream(model="m", contents="?"):
            (candidate, *_) = chunk.candidates
            if (candidate.index or 0) == 0:
                parts += candidate.content.parts or ()
                stop = candidate.finish_reason or stop
            usage = chunk.usage_metadata or usage
    called = [part.function_call for part in parts if part.function_call]
    return Said(
        text="".join(part.text for part in parts if part.text and not part.thought),
        thinking="".join(p.text for p in parts if p.text and p.thought).replace("\n", ""),
        calls=[(call.id, call.name, call.args) for call in called],
        prompt=(usage.prompt_token_count or 0) if usage else 0,
        output=((usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0))
        if usage
        else 0,
    ), stop and stop.name


def by_ollama(url: str) -> tuple[Said, str | None]:
    client = ollama.Client(host=url)
    with closing(client._client):
        chunks = list(client.chat(model="m", messages=[], stream=True))
    last = chunks[-1]
    return Said(
        text="".join(chunk.message.content or "" for chunk in chunks),
        thinking="".join(chunk.message.thinking or "" for chunk in chunks).replace("\n", ""),
        calls=[
            (None, call.function.name, dict(call.function.arguments))
            for chunk in chunks
            for call in chunk.message.tool_calls or ()
        ],
        prompt=last.prompt_eval_count or 0,
        output=last.eval_count or 0,
    ), last.done_reason


SDKS: dict[str, tuple[Any, Any, str]] = {
    "anthropic": (by_anthropic, anthropic.APIError, "text/event-stream"),
    "openai-chat": (by_chat, openai.OpenAIError, "text/event-stream"),
    "openai-responses": (by_responses, openai.OpenAIError, "text/event-stream"),
    "gemini": (by_gemini, genai_errors.APIError, "text/event-stream"),
    "ollama": (by_ollama, ollama.ResponseError, "application/x-ndjson"),
}
STOPS: dict[str, dict[str, str]] = {
    "anthropic": {
        "end": "end_turn",
        "tool_calls": "tool_use",
        "length": "max_tokens",
        "stop_sequence": "stop_sequence",
        "content_filter": "refusal",
        "refusal": "refusal",
    },
    "openai-chat": {
        "end": "stop",
        "tool_calls": "tool_calls",
        "length": "length",
        "stop_sequence": "stop",
        "content_filter": "content_filter",
        "refusal": "content_filter",
    },
    "openai-responses": {
        "end": "completed",
        "tool_calls": "completed",
        "length": "max_output_tokens",
        "stop_sequence": "completed",
        "content_filter": "content_filter",
        "refusal": "content_filter",
    },
    "gemini": {
        "end": "STOP",
        "tool_calls": "STOP",
        "length": "MAX_TOKENS",
        "stop_sequence": "STOP",
        "content_filter": "SAFETY",
        "refusal": "SAFETY",
    },
    "ollama": {
        "end": "stop",
        "tool_calls": "stop",
        "length": "length",
        "stop_sequence": "stop",
        "content_filter": "stop",
        "refusal": "stop",
    },
}
# Half of all cases: each stream is read by two or three SDKs, each SDK reads every second stream.
CASES = [
    pytest.param(name, file, target, id=f"{stem_of(file)}-{target}")
    for (name, file), target in sampled(2, STREAMS, SDKS)
    if target != name
]
MEDIA = (ir.Image, ir.Document, ir.Audio)
ASKED = ir.Request(model="asked-for", messages=(), include_usage=True)


@pytest.mark.parametrize(("name", "file", "target"), CASES)
def test_an_sdk_puts_the_answer_together(name, file, target, server):
    events = decode(name, [file.read_bytes()])
    asked = replace(ASKED, tools=tuple(declared(fold(events))))
    written, _ = translate(name, target, [file.read_bytes()], request=asked)
    assemble, error, kind = SDKS[target]
    url = server.add(kind, written)
    if failed(events):
        wanted = fold(events)
        assert isinstance(wanted, ir.ApiError)
        with pytest.raises(error) as caught:
            assemble(url)
        assert wanted.message in str(caught.value)
        return
    answer, told = fold(events), fold(decode(target, [written]))
    assert isinstance(answer, ir.Response)
    assert isinstance(told, ir.Response)
    found, stop = assemble(url)
    if was_cut(events) and target == "anthropic":
        # The SDK shows what it can read of half an input.
        found = found._replace(calls=[])
        told = without_calls(told)
    assert found == said(told, target)
    if not was_cut(events) and not custom(answer):
        wanted_calls = said(answer, target).calls
        assert [call[1:] for call in found.calls] == [
            (call[1] or "tool_0", call[2]) for call in wanted_calls
        ]
    if not any(isinstance(part, MEDIA) for part in answer.choices[0].parts):
        assert found.text == said(answer, target).text
    reason = answer.choices[0].stop
    assert reason is not None
    assert stop == STOPS[target].get(reason.kind, stop)


def declared(response: ir.Response | ir.ApiError) -> Iterator[ir.Tool]:
    """The custom tools that are called: without them the calls would be the server's own."""
    if isinstance(response, ir.Response):
        for part in response.choices[0].parts:
            if isinstance(part, ir.ToolCall) and part.kind == "custom":
                yield ir.CustomTool(name=part.name)


def custom(response: ir.Response) -> bool:
    return any(
        isinstance(part, ir.ToolCall) and part.kind == "custom"
        for part in response.choices[0].parts
    )


def without_calls(response: ir.Response) -> ir.Response:
    (choice, *_) = response.choices
    parts = tuple(part for part in choice.parts if not isinstance(part, ir.ToolCall))
    return replace(response, choices=(replace(choice, parts=parts),))


# --- the official types of Responses events -------------------------------------------------------

OFFICIAL: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
OPEN: dict[str, type[BaseModel]] = {
    next(iter(model.model_fields["type"].annotation)).value: model  # type: ignore[arg-type]
    for name, model in vars(open_responses).items()
    if name.endswith("StreamingEvent")
}


@pytest.mark.parametrize(
    ("name", "file"),
    [pytest.param(*each, id=stem_of(each[1])) for each in STREAMS if each[0] != "openai-responses"],
)
def test_responses_events_are_of_the_official_types(name, file):
    written, _ = translate(name, "openai-responses", [file.read_bytes()], request=ASKED)
    for _, data in SseDecoder().feed(written):
        event = json.loads(data)
        if event["type"] == "response.failed":
            # The API knows more codes, which clients act on, than its types list.
            event["response"]["error"]["code"] = "server_error"
        OFFICIAL.validate_python(event, strict=True)
        if event["type"] in OPEN and "custom_tool_call" not in data.decode():
            OPEN[event["type"]].model_validate(event)
