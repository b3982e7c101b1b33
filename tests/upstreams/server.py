"""A provider that plays a scenario, in whichever protocol it is asked."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType, TracebackType
from typing import Self

from aiohttp import web
from tests.quiet import ignore_hangups
from tests.upstreams import (
    anthropic,
    bedrock_converse,
    gemini,
    gemini_interactions,
    ollama,
    openai_chat,
    openai_responses,
)
from tests.upstreams.scenarios import SCENARIOS, Stage, ids, shows_reasoning, silent, with_thought
from tests.upstreams.strict.check import Ask, Refusal, check, error_body
from tests.upstreams.strict.issued import foreign_state
from tests.upstreams.values import Asked, Event, Failure, Json, Reply, compact

SPEAKERS: dict[str, ModuleType] = {
    speaker.NAME: speaker
    for speaker in (
        anthropic,
        openai_chat,
        openai_responses,
        gemini_interactions,
        gemini,
        ollama,
        bedrock_converse,
    )
}
_PATHS = {
    "/messages": anthropic,
    "/chat/completions": openai_chat,
    "/responses": openai_responses,
    "/interactions": gemini_interactions,
    ":generateContent": gemini,
    ":streamGenerateContent": gemini,
    "/api/chat": ollama,
    "/converse": bedrock_converse,
    "/converse-stream": bedrock_converse,
}
"""How the path of a request for an answer ends."""
_ASIDE: dict[str, Json] = {
    "/messages/count_tokens": {"input_tokens": 100},
    ":countTokens": {"totalTokens": 100},
    "/count-tokens": {"inputTokens": 100},
    "/api/tags": {"models": [{"name": "scripted", "model": "scripted"}]},
    "/api/version": {"version": "0.12.0"},
    "/api/show": {"capabilities": ["completion", "tools", "thinking", "vision"]},
    "/foundation-models": {"modelSummaries": [{"modelId": "scripted"}]},
    "/models": {"object": "list", "data": [{"id": "scripted", "object": "model"}]},
}
"""What is asked besides answers, by the end of the path."""
_STRICT = re.compile(r"^/strict/([^/]+)/")
"""How the path of a request begins that is checked as this provider would."""
_SLICE = 7
"""Bytes in each piece of a carelessly written stream."""


@dataclass(frozen=True)
class Recorded:
    """A request as it came, and the status it got."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    status: int
    asked: Asked | None


class ScriptedUpstream:
    """`async with ScriptedUpstream("one-tool") as upstream:` listens on a free port of loopback.

    `requests` are all requests so far, `problems` what was found wrong with them. What is given
    besides the scenario goes to its `Stage`. Below `/strict/PROVIDER`, requests are checked first,
    and refused as that provider does; elsewhere everything is taken, which is meant for faults.
    """

    def __init__(self, scenario: str, **stage: object) -> None:
        self.url = ""
        self._runner: web.AppRunner | None = None
        self.begin(scenario, **stage)

    def begin(self, scenario: str, **stage: object) -> None:
        """Play this from now on, from its start."""
        self.play = SCENARIOS[scenario]
        self.stage = Stage(ids(_call_id), **stage)  # type: ignore[arg-type]
        self.requests: list[Recorded] = []

    @property
    def problems(self) -> list[str]:
        """What the scenario found wrong."""
        return self.stage.problems

    @property
    def asked(self) -> list[Asked]:
        """The requests for answers."""
        return [request.asked for request in self.requests if request.asked]

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024, middlewares=[ignore_hangups])
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._runner
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        for end, speaker in _PATHS.items():
            if request.method == "POST" and request.path.endswith(end):
                return await self._answer(request, body, speaker)
        for end, said in _ASIDE.items():
            if request.path.endswith(end):
                return self._send(request, body, None, 200, said)
        return self._send(request, body, None, 404, {"error": {"message": "not found"}})

    async def _answer(
        self, request: web.Request, body: bytes, speaker: ModuleType
    ) -> web.StreamResponse:
        strict = _STRICT.match(request.path)
        if strict and (refused := self._refusal(request, body, speaker, strict[1])):
            return refused
        asked: Asked = speaker.read(request.path, json.loads(body))
        asked = replace(asked, provider=strict[1] if strict else "")
        answer = self.play(asked, self.stage)
        if strict and isinstance(answer, Reply):
            answer = with_thought(answer, asked) if shows_reasoning(asked) else silent(answer)
        if isinstance(answer, Failure):
            if late := list(getattr(speaker, "failed", _never)(answer, asked)):
                self._record(request, body, asked, 200)
                return await _write(request, [frame(event, speaker) for event in late], speaker)
            status, said = speaker.error(answer)
            return self._send(request, body, asked, status, said, headers=answer.headers)
        if not asked.stream and not answer.cut:
            return self._send(request, body, asked, 200, speaker.whole(answer, asked))
        self._record(request, body, asked, 200)
        return await _stream(request, answer, asked, speaker)

    def _refusal(
        self, request: web.Request, body: bytes, speaker: ModuleType, provider: str
    ) -> web.Response | None:
        """What the provider refuses, in its words; None: nothing."""
        data = json.loads(body)
        model = speaker.model(request.path, data)
        headers = {name.lower(): value for name, value in request.headers.items()}
        ask = Ask(provider, speaker.NAME, model, data, headers)
        found = check(provider, speaker.NAME, model, data, headers) or list(foreign_state(ask))
        if not found:
            return None
        first: Refusal = found[0]
        self.stage.object(f"{provider} refuses {model}: {first.words} ({first.rule})")
        return self._send(request, body, None, first.status, error_body(ask, first))

    def _send(
        self,
        request: web.Request,
        body: bytes,
        asked: Asked | None,
        status: int,
        said: Json,
        *,
        headers: dict[str, str] | None = None,
    ) -> web.Response:
        self._record(request, body, asked, status)
        return web.json_response(said, status=status, headers=headers)

    def _record(self, request: web.Request, body: bytes, asked: Asked | None, status: int) -> None:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append(
            Recorded(request.method, request.path_qs, headers, body, status, asked)
        )


def _call_id(name: str) -> str:
    """How ids of calls are made."""
    return openai_chat.SHORT_ID if name == "mistral" else str(SPEAKERS[name].CALL_ID)


def _never(_failure: Failure, _asked: Asked) -> tuple[Event, ...]:
    """What other protocols say of a failure when a stream has begun."""
    return ()


async def _stream(
    request: web.Request, reply: Reply, asked: Asked, speaker: ModuleType
) -> web.StreamResponse:
    return await _write(request, framed(reply, asked, speaker), speaker, cut=reply.cut)


def framed(reply: Reply, asked: Asked, speaker: ModuleType) -> list[bytes]:
    """The pieces of a streamed answer."""
    if reply.sloppy:
        return list(_careless(reply, asked, speaker))
    return [frame(event, speaker) for event in speaker.events(reply, asked)]


async def _write(
    request: web.Request, data: list[bytes], speaker: ModuleType, *, cut: bool = False
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": speaker.CONTENT_TYPE})
    await response.prepare(request)
    for piece in data[: len(data) // 2] if cut else data:
        await response.write(piece)
    if cut and request.transport:
        request.transport.close()
        return response
    await response.write_eof()
    return response


def frame(event: Event, speaker: ModuleType) -> bytes:
    name, data = event
    if speaker is bedrock_converse:
        return bedrock_converse.frame(event)
    text = data if isinstance(data, str) else compact(data)
    if speaker is ollama:
        return f"{text}\n".encode()
    end = "\r\n" if speaker is gemini else "\n"
    head = f"event: {name}{end}" if name else ""
    return f"{head}data: {text}{end}{end}".encode()


def _careless(reply: Reply, asked: Asked, speaker: ModuleType) -> Iterator[bytes]:
    """Comments between events, the other line ends than usual, cut anywhere."""
    events = [e for event in speaker.events(reply, asked) for e in speaker.careless(event)]
    if speaker is bedrock_converse:
        data = b"".join(map(bedrock_converse.frame, events))
    elif speaker is ollama:
        data = b"\r\n\r\n".join(frame(event, speaker).strip() for event in events) + b"\n"
    else:
        data = b"".join(b": ping\n\n" + frame(event, speaker) for event in events)
        ends = (b"\r\n", b"\n") if speaker is gemini else (b"\n", b"\r\n")
        data = data.replace(*ends)
    yield from (data[start : start + _SLICE] for start in range(0, len(data), _SLICE))
