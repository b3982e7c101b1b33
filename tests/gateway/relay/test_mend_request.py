"""Refused requests through the gateway, over real sockets: changed, and sent once more."""

import asyncio
import json
import logging

import pytest
from aiohttp import web
from tests.gateway.answers import TEXT, kind_of, pieces_of, whole_of
from tests.gateway.running import gateway, provider, to, upstream

from toolglot.cli.replay import replay
from toolglot.registry import get_protocol

ASKING = [{"role": "user", "content": "Which way?"}]
CHAT = {"model": "m", "messages": ASKING, "max_tokens": 90}
CLAUDE = {**CHAT, "stream": False}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TOOL = {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}
RENAMED = (
    "Unsupported parameter: 'max_tokens' is not supported with this model."
    " Use 'max_completion_tokens' instead."
)
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "anthropic": "/v1/messages",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/m:generateContent",
    "ollama": "/api/chat",
}


class Picky:
    """An upstream that refuses what `wrong` finds words for, and answers all else."""

    def __init__(self, protocol, wrong, *, status=400, body=None):
        self.protocol, self.wrong, self.status = protocol, wrong, status
        self.body = body or (lambda words: {"error": {"message": words}})
        self.seen = []

    async def answer(self, http):
        asked = json.loads(await http.read())
        self.seen.append(asked)
        words = self.wrong(asked)
        if words is not None:
            return web.json_response(self.body(words), status=self.status)
        if asked.get("stream") or "stream" in http.path:
            data, kind = b"".join(pieces_of(self.protocol)), kind_of(self.protocol)
            return web.Response(body=data, content_type=kind)
        return web.Response(body=whole_of(self.protocol), content_type="application/json")


def through(picky, *bodies, client=None, mend=None, strict=False, **config):
    """What a client gets for bodies that it sends one after the other, each with its receipt."""
    client = client or picky.protocol

    async def run():
        got = []
        async with (
            upstream(picky.answer) as url,
            gateway(
                {"them": provider(picky.protocol, url, mend=mend, **config)}, [to("them/m")]
            ) as session,
        ):
            for body in bodies:
                headers = {"x-toolglot-strict": "true"} if strict else {}
                async with session.post(PATHS[client], json=body, headers=headers) as reply:
                    data = await reply.read()
                    number = reply.headers["x-request-id"]
                    status = reply.status
                async with session.get(f"/toolglot/receipts/{number}") as reply:
                    notes = (await reply.json())["notes"]
                got.append((status, data, notes))
        return got

    return asyncio.run(run())


def codes(notes):
    return [note["code"] for note in notes]


def old_limit(asked):
    return RENAMED if "max_tokens" in asked else None


# --- mended, and remembered -----------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_that_is_understood_is_mended_and_remembered(stream, caplog):
    caplog.set_level(logging.INFO, "toolglot")
    picky = Picky("openai-chat", old_limit)
    body = {**CHAT, "stream": stream}
    first, second = through(picky, body, body)
    limits = [sorted(key for key in asked if "max" in key) for asked in picky.seen]
    assert limits == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]
    assert [status for status, _, _ in (first, second)] == [200, 200]
    assert TEXT.split()[0].encode() in first[1]
    (mended,) = (note for note in first[2] if note["code"] == "request-mended")
    assert RENAMED in mended["message"]
    assert "limits.name = 'max_completion_tokens'" in mended["message"]
    assert "request-mended" not in codes(second[2])
    (learned,) = (note for note in second[2] if note["code"] == "fact-learned")
    assert "limits.name" in learned["message"]
    lines = [record.getMessage() for record in caplog.records if "refused" in record.getMessage()]
    assert len(lines) == 1, "one line, when it is learned"
    assert '[providers.them.rules] "limits.name" = "max_completion_tokens"' in lines[0]
    assert "limit-renamed" in lines[0]
    assert "Unsupported" not in lines[0], "what a provider says may repeat a prompt"


@pytest.mark.parametrize("client", ["anthropic", "openai-responses"])
def test_a_translated_request_is_mended_too(client):
    picky = Picky("openai-chat", old_limit)
    bodies = {
        "anthropic": {"model": "m", "messages": ASKING, "max_tokens": 90},
        "openai-responses": {"model": "m", "input": "Which way?", "max_output_tokens": 90},
    }
    ((status, _, notes),) = through(picky, bodies[client], client=client)
    assert status == 200
    assert picky.seen[1]["max_completion_tokens"] == 90
    assert "request-mended" in codes(notes)


def test_each_of_several_facts_is_kept():
    def wrong(asked):
        if "top_p" in asked:
            return "Unsupported parameter: 'top_p' is not supported with this model."
        return old_limit(asked)

    picky = Picky("openai-chat", wrong)
    body = {**CHAT, "top_p": 0.5}
    first, second, third = through(picky, body, body, body)
    assert [each[0] for each in (first, second, third)] == [400, 200, 200]
    assert len(picky.seen) == 2 + 2 + 1, "once for each request"
    assert "top_p" not in picky.seen[-1]
    assert "max_completion_tokens" in picky.seen[-1]


def test_another_model_of_the_provider_is_not_touched():
    picky = Picky("openai-chat", lambda asked: RENAMED if asked["model"] == "new" else None)

    async def run():
        async with (
            upstream(picky.answer) as url,
            gateway({"them": provider("openai-chat", url)}, [to("them/*")]) as session,
        ):
            for model in ("new", "old"):
                async with session.post(PATHS["openai-chat"], json={**CHAT, "model": model}):
                    pass

    asyncio.run(run())
    assert [("max_tokens" in asked) for asked in picky.seen] == [True, False, True]


# --- never twice, and never without a change ------------------------------------------------------


def test_a_mended_request_that_is_refused_is_not_mended_again():
    picky = Picky("openai-chat", lambda _: RENAMED)
    ((status, data, notes),) = through(picky, CHAT)
    assert (status, len(picky.seen)) == (400, 2)
    assert RENAMED.encode() in data
    assert "request-mended" in codes(notes)


def test_nothing_is_sent_again_that_would_be_the_same():
    words = "Invalid 'tools': array too long. Expected an array with maximum length 128."
    picky = Picky("openai-chat", lambda _: words)
    ((status, data, notes),) = through(picky, CHAT)
    assert (status, len(picky.seen)) == (400, 1)
    assert words.encode() in data
    assert notes == []


@pytest.mark.parametrize("words", ["no", "The model `x` does not exist.", ""])
def test_a_refusal_that_is_not_understood_goes_to_the_client(words):
    picky = Picky("openai-chat", lambda _: words)
    ((status, data, _),) = through(picky, CHAT)
    assert (status, len(picky.seen)) == (400, 1)
    assert json.loads(data) == {"error": {"message": words}}


def test_off_passes_refusals_on():
    picky = Picky("openai-chat", old_limit)
    ((status, data, notes),) = through(picky, CHAT, mend="off")
    assert (status, len(picky.seen)) == (400, 1)
    assert json.loads(data) == {"error": {"message": RENAMED}}
    assert notes == []


def test_a_strict_request_is_not_changed_at_a_loss():
    def wrong(asked):
        return "Unknown parameter: 'top_p'." if "top_p" in asked else None

    picky = Picky("openai-chat", wrong)
    ((status, data, _),) = through(picky, {**CHAT, "top_p": 0.5}, strict=True)
    assert (status, len(picky.seen)) == (400, 1)
    assert b"top_p" in data


def test_retries_are_left_for_a_mended_request():
    answers = iter([400, 500, 200])

    async def handler(http):
        asked = json.loads(await http.read())
        seen.append("max_tokens" in asked)
        status = next(answers)
        if status == 200:
            return web.Response(body=whole_of("openai-chat"), content_type="application/json")
        return web.json_response({"error": {"message": RENAMED}}, status=status)

    seen = []

    async def run():
        async with (
            upstream(handler) as url,
            gateway({"them": provider("openai-chat", url, retries=2)}, [to("them/m")]) as session,
            session.post(PATHS["openai-chat"], json=CHAT) as reply,
        ):
            return reply.status

    assert asyncio.run(run()) == 200
    assert seen == [True, False, False]


# --- other targets --------------------------------------------------------------------------------


def test_another_target_is_asked_after_a_refusal_that_cannot_be_mended():
    gone = Picky("openai-chat", lambda _: "The model `m` does not exist.", status=404)
    picky = Picky("openai-chat", old_limit)

    async def run():
        async with (
            upstream(gone.answer) as one,
            upstream(picky.answer) as two,
            gateway(
                {"one": provider("openai-chat", one), "two": provider("openai-chat", two)},
                [to("one/m", "two/m")],
            ) as session,
            session.post(PATHS["openai-chat"], json=CHAT) as reply,
        ):
            return reply.status, reply.headers["x-toolglot-provider"]

    assert asyncio.run(run()) == (200, "two")
    assert (len(gone.seen), len(picky.seen)) == (1, 2)


def test_a_server_that_calls_a_refusal_its_own_failure_is_mended_before_it_is_retried():
    def wrong(asked):
        kinds = {tool["type"] for tool in asked.get("tools", ())}
        return "Failed to parse tools: Unsupported tool type: custom" if "custom" in kinds else None

    picky = Picky("openai-chat", wrong, status=500)
    tools = [{"type": "custom", "custom": {"name": "look"}}]
    rules = {"tools.kinds": ["function", "custom"]}
    ((status, _, notes),) = through(picky, {**CHAT, "tools": tools}, rules=rules)
    assert (status, len(picky.seen)) == (200, 2)
    assert picky.seen[1]["tools"][0]["type"] == "function"
    assert "request-mended" in codes(notes)


# --- one-off repairs ------------------------------------------------------------------------------


def unanswered(asked):
    messages = asked["messages"]
    called = any(message.get("tool_calls") for message in messages)
    answered = any(message["role"] == "tool" for message in messages)
    words = "An assistant message with 'tool_calls' must be followed by tool messages responding"
    return f"{words} to each 'tool_call_id'." if called and not answered else None


def test_a_call_without_a_result_is_answered_each_time_and_teaches_nothing():
    picky = Picky("openai-chat", unanswered)
    body = {**CHAT, "messages": [*ASKING, {"role": "assistant", "tool_calls": [CALL]}, *ASKING]}
    first, second = through(picky, body, body)
    assert (first[0], second[0], len(picky.seen)) == (200, 200, 4)
    assert "call-unanswered" in codes(first[2])
    assert "fact-learned" not in codes(second[2])


HISTORIES = {
    "anthropic": (
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        {
            **CHAT,
            "messages": [
                *ASKING,
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "Hm.", "signature": "foreign"},
                        {"type": "text", "text": "West."},
                    ],
                },
                *ASKING,
            ],
        },
        lambda asked: "foreign" in json.dumps(asked),
    ),
    "gemini": (
        "Function call is missing a thought_signature in functionCall parts.",
        {
            "contents": [
                {"role": "user", "parts": [{"text": "Look."}]},
                {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"name": "look", "response": {"a": 1}}}],
                },
            ]
        },
        lambda asked: "thoughtSignature" not in json.dumps(asked),
    ),
    "openai-responses": (
        "The encrypted content for item rs_1 could not be verified.",
        {
            "model": "m",
            "input": [
                {"type": "message", "role": "user", "content": "Look."},
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "foreign"},
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "West.", "annotations": []}],
                },
                {"type": "message", "role": "user", "content": "Sure?"},
            ],
        },
        lambda asked: "foreign" in json.dumps(asked),
    ),
    "openai-chat": (
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        {
            **CHAT,
            "messages": [
                *ASKING,
                {"role": "assistant", "content": "", "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "c1", "content": "A hill."},
            ],
        },
        lambda asked: "reasoning_content" not in asked["messages"][1],
    ),
}


@pytest.mark.parametrize("protocol", HISTORIES)
def test_signatures_that_are_foreign_or_missing(protocol):
    words, body, wrong = HISTORIES[protocol]
    picky = Picky(protocol, lambda asked: words if wrong(asked) else None)
    ((status, _, notes),) = through(picky, body)
    assert (status, len(picky.seen)) == (200, 2)
    assert "request-mended" in codes(notes)


def test_blank_text():
    words = "messages: text content blocks must contain non-whitespace text"
    blank = [{"type": "text", "text": " \n"}, {"type": "text", "text": "Which way?"}]
    body = {**CHAT, "messages": [{"role": "user", "content": blank}]}
    picky = Picky("anthropic", lambda asked: words if '" \\n"' in json.dumps(asked) else None)
    ((status, _, notes),) = through(picky, body)
    assert (status, len(picky.seen)) == (200, 2)
    assert "request-mended" in codes(notes)


def test_tools_for_a_model_that_has_none_are_described_and_their_calls_found():
    def wrong(asked):
        return "m does not support tools" if "tools" in asked else None

    picky = Picky("ollama", wrong, body=lambda words: {"error": words})
    tools = [{"type": "function", "function": TOOL}]
    first, second = through(
        picky, *[{"model": "m", "messages": ASKING, "tools": tools, "stream": False}] * 2
    )
    assert (first[0], second[0], len(picky.seen)) == (200, 200, 3)
    assert "look" in picky.seen[2]["messages"][0]["content"]
    assert "tools-emulated" in codes(second[2])


def test_a_member_at_any_depth_is_left_out_from_then_on():
    def wrong(asked):
        at = [i for i, each in enumerate(asked["messages"]) if "reasoning_content" in each]
        return at[0] if at else None

    def body(at):
        loc = ["body", "messages", at, "assistant", "reasoning_content"]
        kind, words = "extra_forbidden", "Extra inputs are not permitted"
        return {"detail": [{"type": kind, "loc": loc, "msg": words}]}

    picky = Picky("openai-chat", wrong, status=422, body=body)
    thought = {"role": "assistant", "content": "West.", "reasoning_content": "Hm."}
    longer = {**CHAT, "messages": [*ASKING, thought, *ASKING, thought, *ASKING]}
    first, second = through(picky, {**CHAT, "messages": [*ASKING, thought, *ASKING]}, longer)
    assert (first[0], second[0], len(picky.seen)) == (200, 200, 3)
    paths = [note["path"] for note in second[2] if note["code"] == "field-dropped"]
    assert paths == ["messages[1].reasoning_content", "messages[3].reasoning_content"]


# --- calls that came as an error ------------------------------------------------------------------


def failed(text):
    return {
        "error": {
            "message": "Failed to call a function. See 'failed_generation' for more details.",
            "code": "tool_use_failed",
            "failed_generation": text,
        }
    }


CALLING = '<function=look>{"at": "the river"}</function>'
LOOKS = {**CHAT, "tools": [{"type": "function", "function": TOOL}]}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("client", ["openai-chat", "anthropic"])
def test_a_call_that_the_provider_could_not_read_reaches_the_client(client, stream):
    picky = Picky("openai-chat", lambda _: CALLING, body=failed)
    body = {**LOOKS, "stream": stream}
    if client == "anthropic":
        tool = {"name": "look", "input_schema": TOOL["parameters"]}
        body = {**CHAT, "tools": [tool], "stream": stream}
    ((status, data, notes),) = through(picky, body, client=client)
    assert (status, len(picky.seen)) == (200, 1)
    assert "call-recovered" in codes(notes)
    assert b"the river" in data
    linter = get_protocol(client).LINTER
    assert not stream or linter.run(data) == []
    if not stream and client == "openai-chat":
        (choice,) = json.loads(data)["choices"]
        (call,) = choice["message"]["tool_calls"]
        assert choice["finish_reason"] == "tool_calls"
        assert call["function"]["name"] == "look"
        assert json.loads(call["function"]["arguments"]) == {"at": "the river"}


@pytest.mark.parametrize(
    "text", ["maybe", '<function=jump>{"at": "the river"}</function>', '<function=look>{"at": "th']
)
def test_text_without_a_call_of_a_declared_tool_stays_an_error(text):
    picky = Picky("openai-chat", lambda _: text, body=failed)
    ((status, data, notes),) = through(picky, LOOKS)
    assert (status, len(picky.seen)) == (400, 1)
    assert json.loads(data) == failed(text)
    assert codes(notes) == []


def test_off_leaves_such_an_error_as_it_is():
    picky = Picky("openai-chat", lambda _: CALLING, body=failed)
    ((status, data, _),) = through(picky, LOOKS, mend="off")
    assert (status, json.loads(data)) == (400, failed(CALLING))


# --- streams that begin with a refusal ------------------------------------------------------------


@pytest.mark.parametrize("client", ["openai-chat", "anthropic"])
def test_an_error_in_the_first_event_of_a_stream(client):
    async def handler(http):
        asked = json.loads(await http.read())
        seen.append(asked)
        if "max_tokens" in asked:
            event = json.dumps({"error": {"message": RENAMED, "code": 400}}).encode()
            return web.Response(body=b"data: " + event + b"\n\n", content_type="text/event-stream")
        data = b"".join(pieces_of("openai-chat"))
        return web.Response(body=data, content_type="text/event-stream")

    seen = []

    async def run():
        async with (
            upstream(handler) as url,
            gateway({"them": provider("openai-chat", url)}, [to("them/m")]) as session,
            session.post(PATHS[client], json={**CHAT, "stream": True}) as reply,
        ):
            return reply.status, await reply.read()

    status, data = asyncio.run(run())
    assert (status, len(seen)) == (200, 2)
    assert b"error" not in data
    assert get_protocol(client).LINTER.run(data) == []


def test_nothing_is_sent_again_once_an_answer_has_begun():
    async def handler(http):
        seen.append(await http.read())
        first = pieces_of("openai-chat")[:2]
        event = json.dumps({"error": {"message": RENAMED, "code": 400}}).encode()
        data = b"".join(first) + b"data: " + event + b"\n\n"
        return web.Response(body=data, content_type="text/event-stream")

    seen = []

    async def run():
        async with (
            upstream(handler) as url,
            gateway({"them": provider("openai-chat", url)}, [to("them/m")]) as session,
            session.post(PATHS["anthropic"], json={**CHAT, "stream": True}) as reply,
        ):
            return await reply.read()

    data = asyncio.run(run())
    assert len(seen) == 1
    assert RENAMED.encode() in data


# --- tools ----------------------------------------------------------------------------------------

UNION = {
    "anyOf": [
        {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
        {"type": "object", "properties": {"far": {"type": "boolean"}}},
    ]
}


@pytest.mark.parametrize(
    ("protocol", "tool", "words"),
    [
        (
            "openai-chat",
            {"type": "function", "function": {"name": "look", "parameters": UNION}},
            (
                "Invalid schema for function 'look': schema must have type 'object' and not have"
                " 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
            ),
        ),
        (
            "anthropic",
            {"name": "look", "input_schema": UNION},
            (
                "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf"
                " at the top level"
            ),
        ),
    ],
)
def test_a_union_at_the_top_of_a_schema(protocol, tool, words):
    def wrong(asked):
        [tool] = asked["tools"]
        schema = tool["input_schema"] if "input_schema" in tool else tool["function"]["parameters"]
        return words if "anyOf" in schema else None

    picky = Picky(protocol, wrong)
    first, second = through(picky, *[{**CHAT, "tools": [tool]}] * 2)
    assert (first[0], second[0], len(picky.seen)) == (200, 200, 3)
    assert "schema-described" in codes(second[2])


def test_too_many_tools():
    def wrong(asked):
        many = len(asked["tools"]) > 3
        return "'tools' : maximum number of items is 3" if many else None

    picky = Picky("openai-chat", wrong)
    tools = [{"type": "function", "function": {**TOOL, "name": f"look{n}"}} for n in range(9)]
    first, second = through(picky, *[{**CHAT, "tools": tools}] * 2)
    assert (first[0], second[0], len(picky.seen)) == (200, 200, 3)
    assert [tool["function"]["name"] for tool in picky.seen[2]["tools"]] == [
        "look0",
        "look1",
        "look2",
    ]
    assert "tool-dropped" in codes(second[2])


def test_mended_requests_are_counted():
    picky = Picky("openai-chat", old_limit)

    async def run():
        async with (
            upstream(picky.answer) as url,
            gateway({"them": provider("openai-chat", url)}, [to("them/m")]) as session,
        ):
            async with session.post(PATHS["openai-chat"], json=CHAT):
                pass
            async with session.get("/metrics") as reply:
                return await reply.text()

    lines = asyncio.run(run()).splitlines()
    (counted,) = (line for line in lines if line.startswith("toolglot_mended_requests_total{"))
    assert 'provider="them"' in counted
    assert 'refusal="limit-renamed"' in counted
    assert counted.endswith(" 1")
    assert not any(line.startswith("toolglot_retries_total{") for line in lines)


# --- recordings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["fact", "repair", "recovered"])
def test_a_mended_exchange_can_be_replayed(case, tmp_path):
    history = [*ASKING, {"role": "assistant", "tool_calls": [CALL]}, *ASKING]
    picky, body = {
        "fact": (Picky("openai-chat", old_limit), CHAT),
        "repair": (Picky("openai-chat", unanswered), {**CHAT, "messages": history}),
        "recovered": (Picky("openai-chat", lambda _: CALLING, body=failed), LOOKS),
    }[case]

    async def run():
        async with (
            upstream(picky.answer) as url,
            gateway(
                {"them": provider("openai-chat", url)}, [to("them/m")], record=str(tmp_path)
            ) as session,
            session.post(PATHS["openai-chat"], json=body) as reply,
        ):
            await reply.read()
            return reply.status

    assert asyncio.run(run()) == 200
    (folder,) = (each for each in tmp_path.iterdir() if each.is_dir())
    request, answer = replay(folder)
    assert request.same
    assert answer.same


# --- features in headers, and routes --------------------------------------------------------------

BETA = "anthropic-beta"


def features(refusal, *, sends=1):
    """What a provider that refuses a feature saw in the header, and the notes of the requests."""
    seen, found = [], []

    async def answer(http):
        await http.read()
        seen.append(http.headers.get(BETA))
        if "new-2026" in (seen[-1] or ""):
            return web.json_response({"error": {"message": refusal}}, status=400)
        return web.Response(body=whole_of("anthropic"), content_type="application/json")

    async def run():
        async with (
            upstream(answer) as url,
            gateway({"them": provider("anthropic", url)}, [to("them/m")]) as session,
        ):
            for _ in range(sends):
                headers = {BETA: "old-2025,new-2026, other-2025"}
                async with session.post(PATHS["anthropic"], json=CLAUDE, headers=headers) as reply:
                    assert reply.status == 200, await reply.text()
                    number = reply.headers["x-request-id"]
                async with session.get(f"/toolglot/receipts/{number}") as reply:
                    found.append((await reply.json())["notes"])

    asyncio.run(run())
    return seen, found


def test_a_feature_that_is_refused_is_left_out_and_remembered():
    words = (
        "Unexpected value(s) `new-2026` for the `anthropic-beta` header. Please consult our"
        " documentation at docs.anthropic.com or try again without the header."
    )
    seen, (first, second) = features(words, sends=2)
    assert seen == ["old-2025,new-2026, other-2025", *["old-2025,other-2025"] * 2]
    assert "request-mended" in codes(first)
    (dropped,) = (note for note in second if note["code"] == "field-dropped")
    assert dropped["path"] == f"headers.{BETA}"
    assert "new-2026" in dropped["message"]


def test_all_features_are_left_out_if_none_is_named():
    seen, _ = features("invalid beta flag")
    assert seen == ["old-2025,new-2026, other-2025", None]


@pytest.mark.parametrize(("mend", "route", "status"), [("on", "off", 400), ("off", "on", 200)])
def test_what_a_route_says_of_mending_counts_first(mend, route, status):
    picky = Picky("openai-chat", old_limit)

    async def run():
        async with (
            upstream(picky.answer) as url,
            gateway(
                {"them": provider("openai-chat", url, mend=mend)}, [to("them/m", mend=route)]
            ) as session,
            session.post(PATHS["openai-chat"], json=CHAT) as reply,
        ):
            return reply.status

    assert asyncio.run(run()) == status
