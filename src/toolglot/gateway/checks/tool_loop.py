"""A minimal tool loop, to find out whether tools work: a question, a call, its result.

It talks to a server as a client does: over HTTP, in one protocol. The question is the same in all
protocols.
"""

import asyncio
from time import monotonic
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from toolglot.context import Context
from toolglot.dialects.text import parse_text
from toolglot.errors import DecodeError, ToolglotError
from toolglot.events import fold
from toolglot.http1.client_connection import ReplyError
from toolglot.http1.connection_pool import ConnectionPool
from toolglot.ir import (
    ApiError,
    Choice,
    ErrorKind,
    FunctionTool,
    Message,
    Request,
    Response,
    Text,
    ToolCall,
    ToolResult,
)
from toolglot.registry import get_protocol
from toolglot.translate import decode_response, encode_request
from toolglot.wire import jsontext

SECONDS: Final = 90.0
"""For each of the two requests."""

TOKENS: Final = 1024
"""For each of the two answers: models that think do so before they call."""

TOOL: Final = FunctionTool(
    name="get_weather",
    description="Get the current weather in a city.",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
)
_QUESTION: Final = "What is the weather in Paris right now? Use the tool."
_RESULT: Final = "18 degrees, sunny"
_FIRST_ERROR: Final = 400
_QUOTED: Final = 60
"""Characters of a model's text that are shown."""


class ToolLoopResult(Struct, frozen=True, kw_only=True):
    """The result of a tool loop."""

    protocol: str
    stream: bool
    works: bool
    reason: str = ""
    kind: ErrorKind | None = None
    """The kind of the error that ended it, if one did."""
    requests: int = 0
    ms: int = 0


class _LoopFailed(Exception):  # noqa: N818 - it ends a loop, not a program
    def __init__(self, reason: str, kind: ErrorKind | None = None) -> None:
        self.kind = kind
        super().__init__(reason)


async def run_tool_loop(
    pool: ConnectionPool, gateway: str, protocol: str, model: str, *, stream: bool
) -> ToolLoopResult:
    """Ask for a call, send back its result, and see whether the model responds to it."""
    client, started = _ProtocolClient(pool, gateway, protocol), monotonic()
    question = Message(role="user", parts=(Text(text=_QUESTION),))
    request = Request(
        model=model, messages=(question,), tools=(TOOL,), max_tokens=TOKENS, stream=stream
    )
    reason, kind = "", None
    try:
        calling = await client.send(request)
        results = tuple(_result(call) for call in _calls(calling))
        said = Message(role="assistant", parts=calling.parts)
        turn = (question, said, Message(role="user", parts=results))
        _check_end(await client.send(replace(request, messages=turn)))
    except _LoopFailed as failure:
        reason, kind = str(failure), failure.kind
    return ToolLoopResult(
        protocol=protocol,
        stream=stream,
        works=not reason,
        reason=reason,
        kind=kind,
        requests=client.requests,
        ms=round((monotonic() - started) * 1000),
    )


class _ProtocolClient:
    """Sends requests in a protocol, and counts them."""

    def __init__(self, pool: ConnectionPool, gateway: str, protocol: str) -> None:
        self.requests = 0
        self._pool, self._gateway = pool, gateway
        self._protocol = protocol

    async def send(self, request: Request) -> Choice:
        wire = encode_request(request, target=self._protocol)
        self.requests += 1
        try:
            async with (
                asyncio.timeout(SECONDS),
                await self._pool.request(
                    "POST",
                    self._gateway + wire.path,
                    data=wire.data(),
                    query=wire.query,
                    headers={"Content-Type": "application/json", **wire.headers},
                    first_byte=SECONDS,
                    idle=SECONDS,
                ) as reply,
            ):
                status, body = reply.status, await reply.read()
        except TimeoutError:
            raise _LoopFailed(f"no response within {SECONDS:g} seconds", "timeout") from None
        except (ReplyError, OSError) as error:
            raise _LoopFailed(f"the response broke off: {error}", "server") from None
        return self._choice(status, body, streams=bool(request.stream))

    def _choice(self, status: int, body: bytes, *, streams: bool) -> Choice:
        try:
            answer = self._read(status, body, streams=streams and status < _FIRST_ERROR)
        except ToolglotError as error:
            raise _LoopFailed(f"the response cannot be read: {error}") from None
        if isinstance(answer, ApiError):
            raise _LoopFailed(answer.message, answer.kind)
        if not answer.choices:
            raise _LoopFailed("the response is empty")
        return answer.choices[0]

    def _read(self, status: int, body: bytes, *, streams: bool) -> Response | ApiError:
        if not streams:
            return decode_response(body, source=self._protocol, status=status)
        codec = get_protocol(self._protocol)
        decoder = codec.StreamDecoder(Context(source=codec.SURFACE, target=codec.SURFACE))
        return fold([*decoder.feed(body), *decoder.close()])


# --- checking responses ---------------------------------------------------------------------------


def _calls(choice: Choice) -> list[ToolCall]:
    """The calls that were asked for; anything else ends the loop."""
    calls = [part for part in choice.parts if isinstance(part, ToolCall)]
    if not calls:
        raise _LoopFailed(_no_call(choice))
    for call in calls:
        if call.name != TOOL.name:
            raise _LoopFailed(f"it called {call.name!r}, a tool that was not declared")
        if not _has_city(call.arguments):
            raise _LoopFailed(f"it called {call.name} with {_cut(call.arguments)}, without a city")
    return calls


def _has_city(arguments: str) -> bool:
    try:
        read = jsontext.decode(arguments)
    except DecodeError:
        return False
    return isinstance(read, dict) and isinstance(read.get("city"), str)


def _no_call(choice: Choice) -> str:
    text = _text(choice)
    if choice.stop is not None and choice.stop.kind == "length":
        return f"{TOKENS} tokens were not enough for a call"
    written = parse_text(text, [TOOL])
    if written.dialect is not None:
        return (
            f"it wrote the call into its text, in the dialect {written.dialect}; "
            f'set dialect = "{written.dialect}" for this provider'
        )
    return f"it did not call the tool but said {_cut(text)!r}; try a larger model"


def _check_end(choice: Choice) -> None:
    """Raise unless the model responded to the result, with text or with another call."""
    if not _text(choice) and not any(isinstance(part, ToolCall) for part in choice.parts):
        raise _LoopFailed("it said nothing about the tool's result")


def _text(choice: Choice) -> str:
    return "".join(part.text for part in choice.parts if isinstance(part, Text)).strip()


def _result(call: ToolCall) -> ToolResult:
    return ToolResult(id=call.id, name=call.name, parts=(Text(text=_RESULT),))


def _cut(text: str) -> str:
    return text if len(text) <= _QUOTED else text[:_QUOTED] + "…"
