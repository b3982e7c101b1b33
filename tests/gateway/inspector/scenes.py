"""Conversations to look at: an agent that works, one that dies, one with a picture."""

import asyncio
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web
from tests.gateway.pictures import png
from tests.gateway.running import provider, serving, to, upstream

from toolglot import ir
from toolglot.context import Context
from toolglot.events import unfold
from toolglot.gateway.config import Config, Inspector, Server
from toolglot.registry import get_protocol
from toolglot.translate import encode_response

AGENT = {"User-Agent": "claude-cli/2.1.9 (external, cli)", "x-claude-code-session-id": "s-1"}
REFUSAL = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)
TOOLS = {
    "Grep": {"pattern": "string", "path": "string"},
    "Read": {"file_path": "string", "limit": "integer"},
    "Bash": {"command": "string"},
    "Edit": {
        "file_path": "string",
        "old_string": "string",
        "new_string": "string",
        "replace_all": "boolean",
    },
}
REQUIRED = {"Read": ["file_path"], "Edit": ["file_path", "old_string", "new_string"]}


def declared(names=TOOLS):
    """Tools as an agent declares them."""
    return [
        {
            "name": name,
            "description": f"{name} something",
            "input_schema": {
                "type": "object",
                "properties": {key: {"type": kind} for key, kind in TOOLS[name].items()},
                "required": REQUIRED.get(name, list(TOOLS[name])),
            },
        }
        for name in names
    ]


def call(name, arguments, number):
    """A call that a model makes."""
    return ir.ToolCall(id=f"call_{number}", name=name, arguments=arguments)


def answer(*parts, cached=0):
    """An answer of these parts."""
    stop = "tool_calls" if any(isinstance(part, ir.ToolCall) for part in parts) else "end"
    choice = ir.Choice(parts=parts, stop=ir.StopReason(kind=stop))
    usage = ir.Usage(input=2400 - cached, cache_read=cached, output=93)
    return ir.Response(id="a", model="gpt-5.4", choices=(choice,), usage=usage)


STEPS = (
    answer(
        ir.Text(text="I look for the test first."),
        call("Grep", '{"pattern":"tide_at","path":"tests"}', "b1"),
        call("Read", '{"file_path":"tests/test_tide.py"}', "b2"),
    ),
    answer(call("Bash", '{"command":"pytest -x tests/test_tide.py"}', "c7"), cached=1500),
    answer(
        call(
            "Edit",
            '{"file_path":"tide.py","old_string":"round(","new_string":"floor(",'
            '"replace_all":"false"}',
            "d1",
        ),
        call("Read", '{"file_path":"tide.py","limit":80}', "d2"),
        call("todo_write", '{"todos":[{"content":"rerun","status":"pending"}]}', "d3"),
        cached=2000,
    ),
    answer(call("Bash", '{"command":"pytest -x tests/test_tide.py"}', "e1"), cached=2100),
    answer(call("Bash", '{"command":"pytest -x tests/test_tide.py"}', "e2"), cached=2200),
    answer(ir.Text(text="The test passes: tide_at rounds down now."), cached=2300),
)
RESULTS = {
    "call_b1": "tests/test_tide.py:41: assert tide_at(noon) == '11:40'",
    "call_b2": "import datetime\n\nfrom tide import tide_at\n",
    "call_c7": ("exit 1: AssertionError: 11:40 != 11:41", True),
    "call_d1": "The file tide.py has been updated.",
    "call_d2": "def tide_at(when):\n    return floor(when)\n",
    "call_d3": ("No such tool", True),
    "call_e1": ("exit 1: NameError: floor", True),
    "call_e2": "1 passed",
}


class Upstream:
    """A provider that answers as a script says, and once refuses in words that are understood."""

    def __init__(self, steps=STEPS, protocol="openai-chat", pause=0.004, refuses_at=2):
        self.steps, self.protocol, self.pause = list(steps), protocol, pause
        self.refuses_at, self.asked = refuses_at, 0

    async def handle(self, request):
        body = await request.json()
        if self.asked == self.refuses_at and "max_tokens" in body:
            return web.json_response({"error": {"message": REFUSAL, "code": 400}}, status=400)
        step = self.steps[self.asked]
        self.asked += 1
        codec = get_protocol(self.protocol)
        if not body.get("stream"):
            return web.json_response(encode_response(step, target=self.protocol).body)
        reply = web.StreamResponse(headers={"Content-Type": codec.SURFACE.stream.media_type})
        await reply.prepare(request)
        encoder = codec.StreamEncoder(Context())
        for event in unfold(step):
            await reply.write(encoder.encode(event))
            await asyncio.sleep(self.pause)
        await reply.write(encoder.close())
        return reply


async def work(session, *, turns=9, title="fix the flaky tide test", headers=AGENT, **more):
    """An agent that asks, runs tools and asks again; its requests are in one protocol."""
    messages = [{"role": "user", "content": title}]
    for _ in range(turns):
        body = {
            "model": "claude-sonnet-5",
            "max_tokens": 32000,
            "stream": True,
            "system": [{"type": "text", "text": "You are an agent."}],
            "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]},
            "tools": declared(),
            "messages": messages,
            **more,
        }
        async with session.post("/v1/messages", json=body, headers=headers) as reply:
            said = fold_stream(await reply.read(), "anthropic")
        if not isinstance(said, ir.Response):
            return said
        calls = [part for part in said.choices[0].parts if isinstance(part, ir.ToolCall)]
        kept = (part for part in said.choices[0].parts if isinstance(part, ir.Text | ir.ToolCall))
        blocks = [block(part) for part in kept]
        messages = [*messages, {"role": "assistant", "content": blocks}]
        if not calls:
            return said
        messages.append({"role": "user", "content": [result(each) for each in calls]})
    return said


def fold_stream(data, protocol):
    """What a stream says."""
    from toolglot.gateway.inspector.exchange_facts import body_kind, read_answer

    return read_answer(data, protocol, body_kind("", data))


def block(part):
    """A part of an answer, as it is sent back."""
    return {"type": "text", "text": part.text} if isinstance(part, ir.Text) else part.to_anthropic()


def result(made):
    """What a tool gave."""
    said = RESULTS.get(made.id, "ok")
    text, failed = said if isinstance(said, tuple) else (said, False)
    return {"type": "tool_result", "tool_use_id": made.id, "content": text, "is_error": failed}


async def picture(session):
    """A conversation in which a tool gave a picture."""
    data = png(8, 8)
    source = {"type": "base64", "media_type": "image/png", "data": data}
    body = {
        "model": "claude-sonnet-5",
        "max_tokens": 100,
        "tools": declared(["Bash"]),
        "messages": [{"role": "user", "content": "draw the harbour"}],
    }
    async with session.post("/v1/messages", json=body) as reply:
        said = await reply.json()
    made = next(each for each in said["content"] if each["type"] == "tool_use")
    shown = {"type": "tool_result", "tool_use_id": made["id"], "content": []}
    shown["content"] = [{"type": "image", "source": source}, {"type": "text", "text": "8 by 8"}]
    body["messages"] += [
        {"role": "assistant", "content": said["content"]},
        {"role": "user", "content": [shown]},
    ]
    async with session.post("/v1/messages", json=body) as reply:
        return await reply.json()


async def breaks_off(request):
    """A provider whose stream is cut."""
    await request.read()
    reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await reply.prepare(request)
    for word in ("The ", "build ", "is "):
        piece = {"index": 0, "delta": {"content": word}}
        data = (
            f'{{"id":"x","object":"chat.completion.chunk","model":"q","choices":[{_json(piece)}]}}'
        )
        await reply.write(f"data: {data}\n\n".encode())
    request.transport.abort()
    return reply


def _json(value):
    import json

    return json.dumps(value)


async def dies(session):
    """A conversation whose provider breaks off."""
    body = {
        "model": "cut",
        "stream": True,
        "messages": [{"role": "user", "content": "why is the build red?"}],
    }
    headers = {"User-Agent": "opencode/1.18.33"}
    async with session.post("/v1/chat/completions", json=body, headers=headers) as reply:
        return await reply.read()


async def chats(session, words, count=1):
    """Short conversations with the built-in model."""
    for number in range(count):
        body = {"model": "demo", "messages": [{"role": "user", "content": f"{words} {number}"}]}
        async with session.post("/v1/chat/completions", json=body) as reply:
            await reply.read()


@asynccontextmanager
async def inspected(*, steps=STEPS, inspector=None, **server):
    """A gateway in front of the providers of these scenes, and a session to call it with."""
    script = Upstream(steps)
    async with upstream(script.handle) as url, upstream(breaks_off) as broken:
        providers = {
            "openai": provider("openai-chat", url, validate="repair"),
            "cut": provider("openai-chat", broken),
        }
        routes = [
            to("openai/gpt-5.4", match="claude-*"),
            to("cut/qwen3-coder", match="cut"),
            to("demo", match="demo"),
        ]
        config = Config(
            providers=providers,
            routes=tuple(routes),
            server=Server(inspector=inspector or Inspector(), **server),
        )
        async with serving(config) as here, aiohttp.ClientSession(here) as session:
            yield session
