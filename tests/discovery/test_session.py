"""Discovery against scripted servers: what is found, and what stays unknown."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.discovery.scripted import (
    HELLO,
    JSON,
    NOT_FOUND,
    USAGE,
    WRONG,
    Faithful,
    ask,
    chat,
    chat_call,
    chat_only,
    chunk,
    path_of,
    reply,
    sse,
)
from tests.evidence import evidence

from toolglot import profiles
from toolglot.dialects.text import parse_text
from toolglot.discovery import MAX_PROBES, Discovery, ProbeResponse, to_profile
from toolglot.discovery.probe_findings import SUBJECTS
from toolglot.parsers import get_parser, parse_tool_calls
from toolglot.profiles import register_profile
from toolglot.registry import PROTOCOLS


@pytest.fixture(autouse=True)
def _nothing_registered(monkeypatch):
    monkeypatch.setattr(profiles, "_profiles", {})


STYLES = {
    "anthropic": "anthropic",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "ollama": "openai",
    "gemini-interactions": "openai",
    "gemini": "custom",
    "bedrock-converse": "custom",
}


WRITTEN = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
"""A call as a model writes it into its text."""


def known(result):
    return {each.subject: each.value for each in result.findings}


def words(result):
    return {quirk.partition(":")[0] for quirk in result.tooling.quirks}


# --- each protocol --------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_protocol_is_found_and_explored(protocol):
    """S3-43, S3-44: the five answers about tools, from a live server and without a model's help."""
    server = Faithful(protocols=(protocol,))
    result = ask(server)
    assert [each.protocol for each in result.provider.protocols] == [protocol]
    assert result.provider.model == "tiny"
    assert result.provider.auth == "none"
    assert result.tooling.format == "json"
    assert result.tooling.parser == protocol
    assert result.tooling.schema_style == STYLES[protocol]
    assert "Paris" in result.tooling.example
    assert result.sdk is not None
    found = known(result)
    assert found["tools"] == "called"
    assert found["parallel"] == "yes"
    assert found["streaming"] == "yes"
    assert found["usage"] == found["stream-usage"] == "yes"
    assert found["errors"] == PROTOCOLS[protocol].API.error_style
    assert found["foreign-ids"] == found["system"] == "accepted"
    assert "reasoning" not in found
    assert words(result) == set()


@pytest.mark.parametrize(
    "protocol", ["anthropic", "openai-chat", "openai-responses", "gemini-interactions"]
)
def test_calls_streamed_in_pieces_are_deltas(protocol):
    assert ask(Faithful(protocols=(protocol,))).get("stream") == "deltas"


@pytest.mark.parametrize("protocol", ["ollama", "gemini"])
def test_calls_streamed_at_once_are_whole(protocol):
    assert ask(Faithful(protocols=(protocol,))).get("stream") == "whole"


@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "ollama"])
def test_a_tool_choice_that_is_kept_to_is_seen(protocol):
    result = ask(Faithful(protocols=(protocol,)))
    assert result.get("required") == result.get("named") == "obeyed"


def test_a_protocol_without_tool_choice_is_not_asked_for_one():
    server = Faithful(protocols=("ollama",))
    result = ask(server)
    assert result.get("named") is None
    assert "strict" not in {probe.name for probe in server.asked}
    assert result.get("ids") == "call_ and 8 letters and digits"


def test_a_server_of_all_protocols_is_asked_few_questions_in_one():
    server = Faithful()
    result = ask(server)
    assert len(result.provider.protocols) == len(PROTOCOLS)
    assert len(server.asked) == len(result.asked) <= MAX_PROBES
    further = [probe for probe in server.asked if probe.name not in ("models", "tools")]
    assert {path_of(probe).split("/")[1] for probe in further} == {"model"}


def test_the_same_server_is_asked_the_same_and_gives_the_same():
    one, other = Faithful(), Faithful()
    assert ask(one) == ask(other)
    assert one.asked == other.asked


def test_models_that_do_not_chat_are_not_asked_unless_named():
    server = Faithful(protocols=("openai-chat",))
    assert ask(server).provider.models == ("tiny-embed", "tiny")
    bodies = [probe.body for probe in server.asked if "model" in (probe.body or {})]
    assert {body["model"] for body in bodies} == {"tiny"}
    assert ask(server, model="tiny-embed").provider.model == "tiny-embed"


def test_a_list_of_models_in_its_own_shape_makes_a_protocol_the_first():
    entry = {"type": "model", "id": "large-1", "display_name": "Large"}
    faithful = Faithful(protocols=("anthropic", "openai-chat"))

    def server(probe):
        if probe.method == "GET":
            return reply(200, {"data": [entry], "has_more": False})
        return faithful(probe)

    result = ask(server)
    assert result.protocol == "anthropic"
    assert result.sdk is not None
    assert (result.sdk.name, result.sdk.base_url) == ("anthropic", "http://models.test")


# --- what the result is good for ------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_result_selects_the_parser(protocol):
    """S3-44: what was found reads the next answer."""
    server = Faithful(protocols=(protocol,))
    result = ask(server)
    question = next(
        probe for probe in server.asked if probe.name == "tools" and server(probe).status == 200
    )
    body = server(question).body
    assert parse_tool_calls(body, result.tooling.parser)[0].input == {"city": "Paris"}
    profile = register_profile("found", to_profile(result, date="2026-11-15"))
    assert profile.endpoint().base_url == result.provider.base_url
    assert not profile.auth.required
    assert [call.name for call in get_parser("found").parse(body)] == ["get_weather"]


# --- odd servers ----------------------------------------------------------------------------------

LLAMA_STREAM = sse(
    chunk({"role": "assistant", "content": None}),
    chunk(
        {
            "tool_calls": [
                {
                    "index": 0,
                    "id": "Ab" * 16,
                    "type": "function",
                    "function": {"name": "get_weather", "arguments": "{"},
                }
            ]
        }
    ),
    *(
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
        for piece in ('"city":', ' "Paris"', "}")
    ),
    chunk({}, "tool_calls"),
    {**chunk({}), "choices": [], "usage": USAGE},
)


def test_a_server_like_llama_cpp():
    """Its ids are bare, and a tool choice by name means nothing to it."""
    call = chat_call("Ab" * 16)
    answers = {
        "tools": call,
        "stream": reply(200, LLAMA_STREAM, "text/event-stream"),
        "required": call,
        "named": chat_call("Cd" * 16, "add", '{"a": 17, "b": 25}'),
        "limit": chat({"content": "1, 2"}, "length", usage=USAGE),
        "error": WRONG,
    }
    result = ask(chat_only(answers, HELLO), "http://models.test/v1")
    found = known(result)
    assert found["ids"] == "32 letters and digits"
    assert found["named"] == "ignored"
    assert found["required"] == "obeyed"
    assert found["stream"] == "deltas"
    assert found["stream-usage"] == "yes"
    assert found["limit"] == "both names"
    assert found["errors"] == "openai"
    assert "parallel" not in found
    assert words(result) == {"named-choice-ignored"}
    assert result.sdk is not None
    assert result.sdk.base_url == "http://models.test/v1"


def test_a_server_like_vllm():
    """Its first piece of a call has no arguments, empty fields are everywhere, errors vary."""
    call = {"index": 0, "id": "chatcmpl-tool-0123456789abcdef", "type": "function"}
    stream = sse(
        chunk({"role": "assistant", "content": ""}, logprobs=None),
        chunk({"content": None, "tool_calls": [{**call, "function": {"name": "get_weather"}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"city": "Par'}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": 'is"}'}}]}),
        chunk({}, "stop"),
    )
    message = {"content": None, "reasoning": None, "refusal": None, "function_call": None}
    call = {
        "id": "chatcmpl-tool-0123456789abcdef",
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
    }
    named = chat({**message, "tool_calls": [call]}, "stop", usage=USAGE)
    answers = {
        "tools": chat({**message, "tool_calls": [call]}, "tool_calls", usage=USAGE),
        "stream": reply(200, stream, "text/event-stream"),
        "required": named,
        "named": named,
        "developer": reply(400, {"detail": [{"loc": ["body", "messages"], "msg": "bad role"}]}),
    }
    result = ask(chat_only(answers, HELLO))
    found = known(result)
    assert found["ids"] == "chatcmpl-tool- and 16 letters and digits"
    assert found["named"] == found["required"] == "obeyed"
    assert found["stream"] == "deltas"
    assert found["stream-usage"] == "no"
    assert found["developer"] == "refused"
    assert found["errors"] == "detail"
    assert "reasoning" not in found, "a field that is there and empty is no reasoning"
    assert words(result) == {"no-stream-usage", "no-developer-role", "other-errors"}


def test_a_server_that_repeats_names_and_breaks():
    """Name and id in every piece, a 500 for what it cannot read, and streams of nothing."""
    piece = {"index": 0, "id": "call__0_get_weather_x", "type": "function"}
    stream = sse(
        *(
            chunk(
                {"tool_calls": [{**piece, "function": {"name": "get_weather", "arguments": text}}]}
            )
            for text in ("{", '"city": ', '"Paris"}')
        ),
        chunk({}, "tool_calls"),
    )
    broken = reply(500, {"error": {"message": "7 validation errors", "type": "internal"}})
    answers = {
        "tools": chat_call("call__0_get_weather_x"),
        "stream": reply(200, stream, "text/event-stream"),
        "required": broken,
        "long-id": broken,
        "short-id": broken,
        "limit": chat({"content": "1, 2, 3"}, usage={**USAGE, "completion_tokens": 226}),
    }
    result = ask(chat_only(answers, HELLO))
    assert result.get("required") == "fails"
    assert result.get("foreign-ids") is None, "the id is not what it stumbles over"
    assert result.get("limit") == "max_tokens"
    assert {"repeated-names", "results-refused", "old-limit"} <= words(result)
    empty = ask(chat_only({**answers, "stream": reply(200, b"")}, HELLO))
    assert empty.get("streaming") is None
    assert "empty-streams" in words(empty)


def test_a_server_that_leaks_calls_into_the_text():
    """S3-04, S3-44: nobody named the dialect; it is found and reads the next answer."""
    leaked = f"Let me look. {WRITTEN}"
    result = ask(chat_only({"tools": chat({"content": leaked})}, HELLO))
    assert result.get("tools") == "in text"
    assert result.get("usage") == "no"
    assert result.tooling.parser == "hermes"
    assert result.tooling.format == "custom"
    assert result.tooling.example.startswith("<tool_call>")
    assert words(result) >= {"calls-in-text"}
    (call,) = parse_text(leaked, dialect=result.tooling.parser).calls
    assert json.loads(call.arguments) == {"city": "Paris"}
    assert to_profile(result)["tools"]["dialects"] == ["hermes"]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (
            "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>",
            "xml",
        ),
        ('{"name": "get_weather", "arguments": {"city": "Paris"}}', "json"),
        ('[TOOL_CALLS]get_weather{"city": "Paris"}', "custom"),
    ],
)
def test_the_form_of_a_call_in_text_is_told(text, form):
    result = ask(chat_only({"tools": chat({"content": text})}, HELLO))
    assert result.get("tools") == "in text"
    assert result.tooling.format == form


def test_a_server_that_refuses_tools():
    """A refusal counts only because the same request without tools is answered."""
    no = reply(400, {"error": {"message": "this model does not support tools", "type": "bad"}})
    taught = chat({"content": WRITTEN})
    stream = reply(200, sse(chunk({"content": "Hello."}), chunk({}, "stop")), "text/event-stream")
    answers = {"tools": no, "taught": taught, "stream-hello": stream}
    server = chat_only(answers, HELLO)
    result = ask(server)
    found = known(result)
    assert found["tools"] == "refused"
    assert found["dialect"] == "hermes"
    assert found["streaming"] == "yes"
    assert found["stream-usage"] == "no"
    assert not {"stream", "strict", "schemas", "required", "foreign-ids"} & found.keys()
    assert result.tooling.parser == "hermes"
    assert "no-tools" in words(result)
    never = ask(chat_only({"tools": no, "hello": no}, no))
    assert never.provider.protocols == ()
    assert never.get("tools") is None


def test_a_server_that_ignores_tools_is_not_said_to_refuse_them():
    result = ask(chat_only({}, HELLO))
    assert result.get("tools") == "not called"
    assert result.tooling.format == "unknown"
    assert result.tooling.parser == ""
    cut = chat({"content": "Well, in Paris the weather"}, "length")
    assert ask(chat_only({"tools": cut}, cut)).get("tools") is None


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"reasoning_content": "They want the weather."}, "reasoning_content"),
        ({"reasoning": "They want the weather."}, "reasoning"),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]}, "reasoning_details"),
        ({"content": "<think>They want it.</think>Here."}, "tags"),
    ],
)
def test_reasoning_is_found_where_it_is(message, field):
    result = ask(chat_only({"tools": chat({"content": "Here.", **message})}, HELLO))
    assert result.get("reasoning") == field
    if field == "tags":
        assert "think-tags" in words(result)


def test_reasoning_of_other_protocols():
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    body = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "model": "m",
        "content": [thinking],
    }

    def server(probe):
        return reply(200, body) if path_of(probe) == "/v1/messages" else NOT_FOUND

    assert ask(server).get("reasoning") == "signature"
    thought = {"message": {"role": "assistant", "content": "Hi", "thinking": "Hm."}, "done": True}

    def ollama(probe):
        return reply(200, {"model": "m", **thought}) if "/api/chat" in probe.url else NOT_FOUND

    assert ask(ollama).get("reasoning") == "thinking"


def test_settings_that_are_refused_are_said_otherwise():
    """Where an error names the setting, the question is put again without it."""

    def server(probe):
        if path_of(probe) != "/v1/chat/completions":
            return NOT_FOUND
        if "max_tokens" in probe.body:
            return reply(400, {"error": {"message": "use 'max_completion_tokens' instead"}})
        if "temperature" in probe.body:
            return reply(400, {"error": {"message": "'temperature' does not support 0"}})
        return chat_call("call_1")

    result = ask(server)
    assert result.get("tools") == "called"
    assert result.get("limit") == "max_completion_tokens"
    assert {"other-limit", "fixed-temperature"} <= words(result)


def test_refusals_of_single_things():
    """A 400 is a refusal, a 500 may have any reason."""
    no, broken = reply(400, {"error": {"message": "no"}}), reply(500, {"error": {"message": "oh"}})
    call = chat_call("call_1")
    names = ("stream", "limit", "strict", "schemas", "required", "named", "system", "developer")
    refusing = ask(chat_only(dict.fromkeys(names, no), call))
    for subject in ("streaming", "strict", "schemas", "required", "named", "system", "developer"):
        assert refusing.get(subject) == "refused", subject
    assert refusing.get("limit") == "max_tokens"
    assert "no-streams" in words(refusing)
    breaking = ask(chat_only(dict.fromkeys(names, broken), call))
    assert breaking.get("limit") is None
    assert breaking.get("strict") == breaking.get("streaming") == "fails"


def test_a_choice_cannot_be_seen_where_calls_are_text():
    result = ask(chat_only({}, chat({"content": WRITTEN})))
    assert result.get("tools") == "in text"
    assert result.get("required") is None


def test_ids_of_nine_characters_are_a_rule_once_longer_ones_are_refused():
    no = reply(400, {"message": "Tool call id must be a-z, A-Z, 0-9, with a length of 9"})
    answers = {"tools": chat_call("a1B2c3D4e"), "long-id": no}
    result = ask(chat_only(answers, HELLO))
    assert result.get("ids") == "9 letters and digits"
    assert result.get("foreign-ids") == "refused"
    assert "own-ids" in words(result)


def test_a_server_that_streams_whatever_is_asked():
    stream = reply(200, LLAMA_STREAM, "text/event-stream")
    result = ask(chat_only({}, stream))
    assert result.get("tools") == "called"
    assert "streams-always" in words(result)
    whole = ask(chat_only({"stream": chat_call("call_1")}, chat_call("call_1")))
    assert whole.get("stream") == "no stream"
    assert "never-streams" in words(whole)


def test_a_path_that_answers_in_another_shape_is_no_protocol():
    def server(probe):
        return chat_call("call_1") if probe.method == "POST" else NOT_FOUND

    result = ask(server)
    assert [each.protocol for each in result.provider.protocols] == ["openai-chat"]
    assert "other-shape" in words(result)


# --- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://models.test",
        "models.test/",
        "http://models.test/v1",
        "http://models.test/v1/chat/completions",
        "http://models.test/v1/messages?beta=true",
        "http://models.test/api/chat",
        "http://models.test/v1beta/models/m:generateContent",
    ],
)
def test_any_address_of_a_server_leads_to_its_protocols(url):
    bases = {each.base_url for each in ask(Faithful(), url).provider.protocols}
    assert bases == {f"http://models.test/{end}" for end in ("v1", "v1beta", "api", "model")}


@pytest.mark.parametrize("url", ["http://models.test/openai/v4", "http://models.test/plain"])
def test_a_base_without_the_usual_version(url):
    def server(probe):
        return chat_call("call_1") if probe.url == f"{url}/chat/completions" else NOT_FOUND

    result = ask(server, url)
    assert result.provider.base_url == url
    assert result.protocol == "openai-chat"


@pytest.mark.parametrize("url", ["", "ftp://x", "http://", "http://a b", "http://me:secret@x"])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(ValueError, match="this is no address"):
        Discovery(url)


# --- keys -----------------------------------------------------------------------------------------


def locked(server, style, error=None):
    """A server behind a key that is sent in one way only."""
    error = error or {"error": {"message": "who are you?", "type": "authentication_error"}}

    def gate(probe):
        return server(probe) if probe.auth == style else reply(401, error)

    return gate


@pytest.mark.parametrize("style", ["bearer", "x-api-key", "x-goog-api-key", "api-key"])
def test_the_way_in_which_a_key_is_sent_is_found(style):
    result = ask(locked(Faithful(protocols=("openai-chat",)), style), key=True)
    assert result.provider.auth == style
    assert result.get("key") == "needed"
    assert ("key-header" in words(result)) is (style != "bearer")
    profile = register_profile("found", to_profile(result))
    assert profile.auth.required
    assert profile.auth.header.lower() == {"bearer": "authorization"}.get(style, style)


def test_a_list_of_models_that_is_open_to_all_proves_no_way_of_sending_a_key():
    faithful = Faithful(protocols=("openai-chat",))
    gate = locked(faithful, "x-api-key")
    result = ask(lambda probe: (faithful if probe.method == "GET" else gate)(probe), key=True)
    assert result.provider.auth == "x-api-key"
    assert result.get("tools") == "called"


def test_a_key_that_is_refused_for_one_path_is_no_finding_where_another_takes_it():
    faithful = Faithful(protocols=("openai-chat",))
    gate = locked(faithful, "bearer")
    result = ask(lambda probe: reply(403, {}) if "v1beta" in probe.url else gate(probe), key=True)
    assert result.provider.auth == "bearer"
    assert result.get("key") == "needed"


def test_a_key_that_is_not_needed_is_said_so():
    assert ask(Faithful(protocols=("anthropic",)), key=True).provider.auth == "none"


def test_without_a_key_the_paths_are_told_only_if_the_lock_tells_them_apart():
    error = {"type": "error", "error": {"type": "authentication_error", "message": "no x-api-key"}}

    def some(probe):
        return reply(401, error) if path_of(probe) == "/v1/messages" else NOT_FOUND

    result = ask(some)
    assert result.locked
    assert result.provider.protocols == ()
    assert result.get("path") == "anthropic at http://models.test/v1"
    everything = ask(lambda _: reply(401, error))
    assert everything.locked
    assert everything.get("path") is None


def test_a_key_that_is_not_accepted():
    result = ask(lambda _: reply(403, {"error": "no"}), key=True)
    assert result.locked
    assert result.get("key") == "not accepted"
    assert len(result.asked) <= MAX_PROBES


def test_a_model_that_a_server_does_not_know():
    error = reply(404, {"error": "model 'default' not found"})
    result = ask(lambda probe: error if probe.method == "POST" else NOT_FOUND)
    assert result.get("model") == "not known to it"
    assert result.provider.model == ""


# --- nothing to be found --------------------------------------------------------------------------

PAGE = reply(200, b"<!DOCTYPE html><html><title>Router</title></html>", "text/html")


@pytest.mark.parametrize(
    "answer",
    [
        PAGE,
        NOT_FOUND,
        ProbeResponse(failure="no answer within 20 s"),
        reply(200, b"\x00\xff"),
        reply(200, []),
    ],
    ids=["page", "404", "silence", "garbage", "list"],
)
def test_what_is_no_such_server_has_no_findings(answer):
    """S3-44: unknown stays unknown."""
    result = ask(lambda _: answer)
    assert result.findings == ()
    assert result.protocol == ""
    assert result.sdk is None
    assert result.tooling.format == result.tooling.schema_style == "unknown"
    assert not result.locked


def test_the_number_of_probes_is_bounded():
    server = Faithful()
    result = ask(server, limit=7)
    assert len(server.asked) == 7
    assert result.get("named") is None


def test_evidence_is_short_and_on_one_line():
    long = "word\n\x1b[31m" * 200
    result = ask(chat_only({"tools": chat({"content": long})}, HELLO))
    for each in result.findings:
        assert len(each.evidence.excerpt) <= 120
        assert each.evidence.excerpt.isprintable()
        assert each.evidence.status == 200


BODIES = (
    st.binary(max_size=60)
    | JSON.map(lambda value: json.dumps(value).encode())
    | st.lists(JSON, max_size=3).map(lambda values: sse(*values))
    | st.lists(JSON, max_size=3).map(
        lambda values: b"".join(json.dumps(value).encode() + b"\n" for value in values)
    )
)
ANSWERS = st.builds(
    ProbeResponse,
    status=st.sampled_from([0, 200, 201, 302, 400, 401, 404, 429, 500, 503]),
    body=BODIES,
)


@given(st.lists(ANSWERS, min_size=1, max_size=8), st.booleans())
def test_arbitrary_answers_never_raise(answers, key):
    """S3-06, S3-44: whatever comes, discovery ends, within its bounds and in its own words."""
    turns = [0]

    def server(_):
        turns[0] += 1
        return answers[turns[0] % len(answers)]

    result = ask(server, key=key)
    assert turns[0] <= MAX_PROBES
    assert {each.subject for each in result.findings} <= {subject for subject, _ in SUBJECTS}
    if not any(answer.ok for answer in answers):
        assert result.protocol == ""
    register_profile("found", {"endpoints": [], **to_profile(result)})


# --- recordings -----------------------------------------------------------------------------------

RECORDED = {
    "tools": "03_tools_auto",
    "stream": "04_tools_auto_stream",
    "parallel": "16_parallel_true",
    "required": "05_tools_required",
    "named": "09_tools_named_against_prompt",
    "long-id": "11_tool_result",
    "limit": "21_max_completion_tokens",
}
OTHERS = {"/v1/messages": "52_messages_tools", "/v1/responses": "42_responses_tools"}


@pytest.mark.parametrize(
    ("name", "named", "spoken"), [("llama.cpp", "ignored", 3), ("vllm", "obeyed", 3)]
)
def test_what_real_servers_sent(name, named, spoken):
    # The last file is what was recorded, where it is there, else what was made after it.
    file = evidence("servers", f"{name}.jsonl")[-1]
    entries = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    bodies = {entry["name"]: (int(entry["status"]), entry["body"].encode()) for entry in entries}

    def server(probe):
        path = path_of(probe)
        chosen = {"/v1/models": "60_models", **OTHERS}.get(path)
        if path == "/v1/chat/completions":
            chosen = RECORDED.get(probe.name, "01_chat")
        return reply(*bodies[chosen]) if chosen else NOT_FOUND

    result = ask(server)
    assert len(result.provider.protocols) == spoken
    assert result.protocol == "openai-chat"
    assert result.get("tools") == "called"
    assert result.get("stream") == "deltas"
    assert result.get("named") == named
    assert result.get("limit") == "both names"
