"""Servers that answer probes from a script: one over the protocols themselves, and odd ones.

What the odd ones send follows what real servers were seen to send; the words are our own.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from toolglot import ir
from toolglot.context import Context
from toolglot.discovery import Discovery, DiscoveryResult, Probe, ProbeResponse
from toolglot.events import unfold
from toolglot.registry import PROTOCOLS
from toolglot.translate import decode_request, encode_response

Server = Callable[[Probe], ProbeResponse]

PATHS = {
    "/v1/messages": "anthropic",
    "/v1/chat/completions": "openai-chat",
    "/v1/responses": "openai-responses",
    "/v1beta/interactions": "gemini-interactions",
    "/api/chat": "ollama",
}


def ask(server: Server, url: str = "http://models.test", **options: Any) -> DiscoveryResult:
    """The result of a discovery against a scripted server."""
    steps = Discovery(url, **options).run()
    probe = next(steps)
    while True:
        try:
            probe = steps.send(server(probe))
        except StopIteration as done:
            return done.value


def reply(status: int, body: Any, kind: str = "application/json") -> ProbeResponse:
    """An answer with JSON, or with bytes as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return ProbeResponse(status=status, headers={"Content-Type": kind}, body=data, ms=1)


NOT_FOUND = reply(404, {"detail": "Not Found"})


def path_of(probe: Probe) -> str:
    """The path and query of a probe."""
    return "/" + probe.url.partition("://")[2].partition("/")[2]


def sse(*values: Any, done: bool = True) -> bytes:
    """Values as events."""
    lines = [f"data: {json.dumps(value)}\n\n" for value in values]
    return "".join([*lines, "data: [DONE]\n\n"] if done else lines).encode()


@dataclass
class Faithful:
    """A server that speaks protocols as they are, with a model that does as it is told."""

    protocols: tuple[str, ...] = tuple(PROTOCOLS)
    models: tuple[str, ...] = ("tiny-embed", "tiny")
    call_id: str = "call_1a2b3c4d"
    refuses: tuple[str, ...] = ()
    """Questions that are refused with a 400."""

    words: str = ""
    """What the model says in place of calls."""

    asked: list[Probe] = field(default_factory=list)

    def __call__(self, probe: Probe) -> ProbeResponse:
        self.asked.append(probe)
        path = path_of(probe).partition("?")[0]
        named = {"/v1beta/models/": "gemini", "/model/": "bedrock-converse"}
        in_path = (name for start, name in named.items() if path.startswith(start))
        protocol = next(in_path, PATHS.get(path, ""))
        if probe.method == "GET":
            return self._models(path)
        if protocol not in self.protocols:
            return NOT_FOUND
        if probe.name in (*self.refuses, "error"):
            return self._error(protocol)
        return self._answer(protocol, path, probe)

    def _models(self, path: str) -> ProbeResponse:
        lists: dict[str, Any] = {
            "/v1/models": {"object": "list", "data": [{"id": each} for each in self.models]},
            "/v1beta/models": {"models": [{"name": f"models/{each}"} for each in self.models]},
            "/model/foundation-models": {
                "modelSummaries": [{"modelId": each} for each in self.models]
            },
            "/api/tags": {"models": [{"name": each, "model": each} for each in self.models]},
        }
        speak = {
            "/v1beta/models": {"gemini", "gemini-interactions"},
            "/api/tags": {"ollama"},
            "/model/foundation-models": {"bedrock-converse"},
        }
        wanted = speak.get(path, {"openai-chat", "openai-responses", "anthropic"})
        return (
            reply(200, lists[path]) if path in lists and wanted & {*self.protocols} else NOT_FOUND
        )

    def _error(self, protocol: str) -> ProbeResponse:
        error = ir.ApiError(kind="invalid_request", message="this cannot be done", status=400)
        wire = encode_response(error, target=protocol)
        return reply(400, wire.data())

    def _answer(self, protocol: str, path: str, probe: Probe) -> ProbeResponse:
        body = probe.body or {}
        request = decode_request(body, source=protocol, path=path)
        response = ir.Response(
            id="answer-1",
            model="tiny",
            created=1700000000,
            choices=(self._choice(request),),
            usage=ir.Usage(input=20, output=10),
        )
        if not request.stream:
            return reply(200, encode_response(response, target=protocol).data())
        ctx = Context(request=request)
        encoder = PROTOCOLS[protocol].StreamEncoder(ctx)
        data = b"".join(encoder.encode(event) for event in _in_pieces(unfold(response)))
        return reply(200, data + encoder.close(), "text/event-stream")

    def _choice(self, request: ir.Request) -> ir.Choice:
        cities = self._cities(request)
        if not cities or self.words:
            cut = (request.max_tokens or 99) < 100 and "Count" in str(request.messages)
            stop = ir.StopReason(kind="length" if cut else "end")
            return ir.Choice(parts=(ir.Text(text=self.words or "Hello."),), stop=stop)
        calls = tuple(
            ir.ToolCall(
                id=self.call_id + str(number) * number,
                name="get_weather",
                arguments=json.dumps({"city": city}),
            )
            for number, city in enumerate(cities)
        )
        return ir.Choice(parts=calls, stop=ir.StopReason(kind="tool_calls"))

    def _cities(self, request: ir.Request) -> list[str]:
        last = request.messages[-1].parts[-1]
        if not request.tools or isinstance(last, ir.ToolResult):
            return []
        asked = last.text if isinstance(last, ir.Text) else ""
        forced = request.tool_choice is not None
        return [city for city in ("Paris", "Tokyo") if city in asked] or ["Rome"] * forced


def _in_pieces(events):
    """Events whose deltas come by the few characters, as from a model."""
    from toolglot.events import PartDelta

    for event in events:
        if isinstance(event, PartDelta) and event.field == "text":
            for start in range(0, len(event.text), 4):
                yield PartDelta(event.index, event.text[start : start + 4])
        else:
            yield event


# --- answers of odd servers, by hand --------------------------------------------------------------


def chat(message: dict[str, Any], finish: str = "stop", **more: Any) -> ProbeResponse:
    """An answer of the chat protocol."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    return reply(
        200, {"id": "chatcmpl-9", "object": "chat.completion", "choices": [choice], **more}
    )


def chat_call(
    call_id: str, name: str = "get_weather", arguments: str = '{"city": "Paris"}'
) -> ProbeResponse:
    """An answer of the chat protocol with one call."""
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return chat({"content": None, "tool_calls": [call]}, "tool_calls", usage=USAGE)


USAGE = {"prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19}


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A piece of a stream of the chat protocol."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-9",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": "tiny",
        "choices": [choice],
        **more,
    }


def chat_only(answers: dict[str, ProbeResponse], usual: ProbeResponse) -> Server:
    """A server of the chat protocol: answers by question, and one for all others."""

    def server(probe: Probe) -> ProbeResponse:
        path = path_of(probe)
        if path == "/v1/models":
            return reply(200, {"object": "list", "data": [{"id": "tiny", "object": "model"}]})
        return answers.get(probe.name, usual) if path == "/v1/chat/completions" else NOT_FOUND

    return server


HELLO = chat({"content": "Hello."}, usage=USAGE)
WRONG = reply(400, {"error": {"message": "messages: not a list", "type": "invalid_request_error"}})


KEYS = (
    *("choices", "message", "delta", "tool_calls", "function", "name", "arguments", "content"),
    *("type", "output", "done", "candidates", "parts", "functionCall", "models", "data", "id"),
    *("error", "status", "detail", "item", "role"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "tool_use", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
"""Any JSON value, with keys that answers of providers have."""
