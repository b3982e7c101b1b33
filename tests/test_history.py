"""Histories that providers refuse: found, explained and repaired."""

import copy
import json

import pytest
from tests.laws.corpus import fixture_id, fixtures, load, path_to
from tests.wires import NAMES, answer, asking, assistant, call, result, said, tool, user

from toolglot import diagnose, encode_response, ir, repair_history, translate_response
from toolglot.adapt.calls.pairing import UNANSWERED
from toolglot.adapt.reasoning.sealed_state import SealedState, pack
from toolglot.history import POLICIES
from toolglot.history.findings import turns_of
from toolglot.receipt import CATALOGUE
from toolglot.registry import get_protocol
from toolglot.schema import conform

ID_NAMES = tuple(name for name in NAMES if name != "ollama")
"""Protocols in which results find their calls by an id."""

SOUND = asking(
    user("What is the time?"),
    assistant("Let me see.", call("clock", id="call_1"), call("tide", id="call_2")),
    user(result("06:12", "call_1", name="clock"), result("low", "call_2", name="tide")),
    assistant("It is 06:12."),
    user("Thanks."),
    tools=(tool("clock"), tool("tide")),
)


def kinds(body, name):
    return [finding.kind for finding in diagnose(body, name)]


def broken(name, *messages, **more):
    return said(asking(*messages, tools=SOUND.tools, **more), name)


def healed(body, name, **how):
    repaired, receipt = repair_history(body, name, **how)
    left = [finding for finding in diagnose(repaired, name) if finding.kind != "call-unknown"]
    assert left == []
    assert repair_history(repaired, name)[0] is repaired
    return repaired, receipt


@pytest.mark.parametrize("name", NAMES)
def test_a_healthy_history_comes_back_as_it_is(name):
    """X-10"""
    body = said(SOUND, name)
    assert diagnose(body, name) == []
    repaired, receipt = repair_history(body, name)
    assert repaired is body
    assert not receipt


@pytest.mark.parametrize(("name", "file"), fixtures("request"), ids=fixture_id)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_fixture_can_be_healed(name, file, policy):
    """X-10: the input is not touched, and every finding is a note with its path."""
    body = load(file)
    kept = copy.deepcopy(body)
    findings = diagnose(body, name, path=path_to(name))
    repaired, receipt = repair_history(body, name, path=path_to(name), policy=policy)
    assert body == kept
    assert [note.path for note in receipt] == [finding.path for finding in findings]
    left = {finding.kind for finding in diagnose(repaired, name, path=path_to(name))}
    assert left <= {"call-unknown"}
    if not findings:
        assert repaired is body


# --- pairing


@pytest.mark.parametrize("name", NAMES)
def test_an_unanswered_call_gets_a_result_that_says_so(name):
    """X-10, case-32"""
    body = broken(
        name,
        user("Time?"),
        assistant(call("clock", id="call_1"), call("tide", id="call_2")),
        user(result("06:12", "call_1", name="clock")),
        user("And?"),
    )
    [finding] = diagnose(body, name)
    assert finding.kind == "call-unanswered"
    assert "the call of tide" in finding.message
    repaired, receipt = healed(body, name)
    assert UNANSWERED in json.dumps(repaired)
    assert receipt.codes() == {"call-unanswered": 1}
    assert receipt.losses


@pytest.mark.parametrize("name", NAMES)
def test_calls_at_the_end_need_results_too(name):
    """X-10"""
    body = broken(name, user("Time?"), assistant(call("clock")))
    assert kinds(body, name) == ["call-unanswered"]
    repaired, _ = healed(body, name)
    assert UNANSWERED in json.dumps(repaired)


@pytest.mark.parametrize("name", NAMES)
def test_an_orphan_result_becomes_text(name):
    """X-10, case-32"""
    body = broken(name, user("Time?"), user(result("06:12", "call_9", name="clock")))
    assert kinds(body, name) == ["result-orphan"]
    repaired, receipt = healed(body, name)
    assert "06:12" in json.dumps(repaired)
    assert receipt.codes() == {"result-unmatched": 1}


@pytest.mark.parametrize("name", ID_NAMES)
def test_of_two_results_the_last_counts(name):
    """case-32"""
    body = broken(
        name,
        user("Time?"),
        assistant(call("clock")),
        user(result("old", name="clock"), result("new", name="clock")),
    )
    assert kinds(body, name) == ["result-duplicate"]
    text = json.dumps(healed(body, name)[0])
    assert "new" in text
    assert "old" not in text


@pytest.mark.parametrize("name", ID_NAMES)
def test_a_result_before_its_call_is_moved(name):
    """X-10, case-32"""
    body = broken(
        name,
        user("Time?"),
        user(result("06:12", name="clock")),
        assistant(call("clock")),
        user("And?"),
    )
    assert kinds(body, name) == ["result-early"]
    text = json.dumps(healed(body, name)[0])
    assert text.index("And?") > text.index("06:12")
    assert UNANSWERED not in text


@pytest.mark.parametrize("name", ID_NAMES)
def test_a_result_behind_later_turns_is_moved(name):
    """X-10, case-32"""
    body = broken(
        name,
        user("Time?"),
        assistant(call("clock")),
        user("Never mind."),
        assistant("All right."),
        user(result("06:12", name="clock")),
    )
    assert kinds(body, name) == ["result-late"]
    repaired, receipt = healed(body, name)
    text = json.dumps(repaired)
    assert text.index("06:12") < text.index("Never mind.")
    assert UNANSWERED not in text
    assert not receipt.losses


@pytest.mark.parametrize("name", NAMES)
def test_a_result_behind_other_content_is_moved(name):
    """case-32"""
    body = broken(name, user("Time?"), assistant(call("clock")), user("Well?"))
    extra = said(asking(assistant(call("clock")), user(result("06:12", name="clock"))), name)
    messages = get_protocol(name).SURFACE.messages.path
    body[messages].append(extra[messages][-1])
    assert kinds(body, name) == ["result-late"]
    text = json.dumps(healed(body, name)[0])
    assert text.index("06:12") < text.index("Well?")


@pytest.mark.parametrize("name", ID_NAMES)
def test_an_id_that_is_taken_is_replaced_with_its_result(name):
    """X-10"""
    body = broken(
        name,
        user("Time?"),
        assistant(call("clock", id="call_0")),
        user(result("06:12", "call_0", name="clock")),
        assistant(call("tide", id="call_0")),
        user(result("low", "call_0", name="tide")),
    )
    assert kinds(body, name) == ["call-duplicate"]
    repaired, receipt = healed(body, name)
    assert json.dumps(repaired).count('"call_0_2"') == 2
    assert receipt.codes() == {"call-renamed": 1}


def test_one_id_twice_in_a_turn():
    """X-10: the first result belongs to the first call."""
    body = broken(
        "openai-chat",
        assistant(call("clock", id="c"), call("tide", id="c")),
        user(result("06:12", "c"), result("low", "c")),
    )
    repaired, _ = healed(body, "openai-chat")
    results = [m for m in repaired["messages"] if m["role"] == "tool"]
    assert [(m["tool_call_id"], m["content"]) for m in results] == [("c", "06:12"), ("c_2", "low")]


@pytest.mark.parametrize("name", ["gemini", "ollama"])
def test_the_order_of_results_matters_to_some(name):
    """case-32"""
    messages = list(SOUND.messages)
    messages[2] = user(*reversed(messages[2].parts))
    body = broken(name, *messages)
    assert kinds(body, name) == ["result-order"]
    repaired, _ = healed(body, name)
    assert repaired == said(SOUND, name)


def test_results_for_calls_that_the_provider_keeps():
    """case-32: with an earlier answer to go on from, the call is there."""
    body = said(asking(user(result("06:12", "call_9"))), "openai-responses")
    assert kinds(body, "openai-responses") == ["result-orphan"]
    body["previous_response_id"] = "resp_1"
    assert diagnose(body, "openai-responses") == []
    more = said(asking(assistant(call("clock"))), "openai-responses")["input"]
    body["input"] += more
    repaired, receipt = healed(body, "openai-responses")
    assert repaired["input"][0] == body["input"][0]
    assert receipt.codes() == {"call-unanswered": 1}


def test_freeform_calls_need_results():
    """X-10"""
    patch = ir.ToolCall(id="c", name="patch", arguments="***", type="custom")
    body = said(asking(user("Go."), assistant(patch), user("Well?")), "openai-responses")
    repaired, _ = healed(body, "openai-responses")
    assert [item["type"] for item in repaired["input"][1:3]] == [
        "custom_tool_call",
        "custom_tool_call_output",
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("policy", POLICIES)
def test_policies(name, policy):
    """X-10: whichever, a note tells of it."""
    body = broken(
        name,
        user(result("lost", "call_9", name="tide")),
        assistant("Hm.", call("clock")),
        user("Well?"),
    )
    repaired, receipt = healed(body, name, policy=policy)
    text = json.dumps(repaired)
    assert ("lost" in text) is (policy != "drop")
    assert (UNANSWERED in text) is (policy == "placeholder")
    assert ("[call of clock without a result" in text) is (policy == "text")
    assert receipt.codes() == {"result-unmatched": 1, "call-unanswered": 1}


def test_an_unknown_policy_is_refused():
    with pytest.raises(ValueError, match="placeholder, text, drop"):
        repair_history(said(SOUND, "anthropic"), "anthropic", policy="x")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_sound_is_not_touched(name):
    """X-10: fields that nobody knows included."""
    body = said(SOUND, name)
    key = get_protocol(name).SURFACE.messages.path
    body["vendor"] = {"a": 1}
    loose = said(asking(assistant(call("clock", id="z")), user("?")), name)[key]
    count = len(body[key])
    repaired, _ = healed({**body, key: [*body[key], *loose]}, name)
    assert repaired[key][:count] == body[key]
    assert repaired["vendor"] == {"a": 1}
    declared = "toolConfig" if name == "bedrock-converse" else "tools"
    assert repaired[declared] == body[declared]


# --- reasoning


def thinking(**block):
    said_ = {"type": "thinking", "thinking": "Hm.", **block}
    content = [said_, {"type": "text", "text": "Hello."}]
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": content}]
    return {
        "model": "m",
        "max_tokens": 9,
        "messages": [*messages, {"role": "user", "content": "?"}],
    }


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({}, "reasoning-unsigned"),
        ({"signature": ""}, "reasoning-unsigned"),
        ({"signature": pack(SealedState("gemini"))}, "reasoning-foreign"),
        ({"signature": "tg1.broken"}, "reasoning-foreign"),
    ],
)
def test_reasoning_that_its_provider_refuses(block, kind):
    """case-34"""
    body = thinking(**block)
    [finding] = diagnose(body, "anthropic")
    assert (finding.kind, finding.path) == (kind, "messages[1].content[0]")
    repaired, receipt = healed(body, "anthropic")
    assert repaired["messages"][1]["content"] == [{"type": "text", "text": "Hello."}]
    assert receipt.codes() == {"reasoning-dropped": 1}
    assert receipt.losses


def test_reasoning_of_the_provider_stays():
    """case-34"""
    body = thinking(signature="RXF1")
    assert diagnose(body, "anthropic") == []


def test_sealed_reasoning_is_opened_for_its_issuer():
    """case-34: and only for that one."""
    thought = ir.Reasoning(text="Hm.", signature="c2ln")
    wire = encode_response(answer(thought, "Hello."), target="anthropic")
    shown, _ = translate_response(wire.body, source="anthropic", target="openai-responses")
    back = {"model": "m", "input": [{"role": "user", "content": "Hi"}, *shown.body["output"]]}
    assert "reasoning-foreign" in kinds(back, "openai-responses")
    assert "anthropic" in diagnose(back, "openai-responses")[0].message
    healed(back, "openai-responses")
    sealed = {"signature": pack(SealedState("anthropic", reasoning=thought))}
    body = thinking(**sealed)
    assert kinds(body, "anthropic") == ["reasoning-sealed"]
    repaired, receipt = healed(body, "anthropic")
    assert repaired["messages"][1]["content"][0]["signature"] == "c2ln"
    assert not receipt.losses
    assert [f.kind for f in diagnose(body, "anthropic", issuer="vertex")] == ["reasoning-foreign"]


def test_a_message_that_only_thought_goes():
    body = thinking()
    body["messages"][1]["content"].pop()
    repaired, _ = healed(body, "anthropic")
    assert [m["role"] for m in repaired["messages"]] == ["user", "user"]


# --- arguments, names, empty messages


def chat(arguments, name="clock"):
    called = {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {
        "model": "m",
        "messages": [
            {"role": "assistant", "content": None, "tool_calls": [called]},
            {"role": "tool", "tool_call_id": "c", "content": "06:12"},
        ],
        "tools": [{"type": "function", "function": {"name": "clock"}}],
    }


@pytest.mark.parametrize(
    ("arguments", "words", "becomes"),
    [
        ("", "are empty", {}),
        ("null", "are empty", {}),
        ('"{\\"a\\":1}"', "are encoded twice", {"a": 1}),
        ("{'a': 1}", "are not JSON", {"a": 1}),
        ('{"a": 1', "are not JSON", {"a": 1}),
        ("what?", "are not JSON", {"$invalid": "what?"}),
    ],
)
def test_arguments_become_json(arguments, words, becomes):
    """S0-63, X-10"""
    body = chat(arguments)
    [finding] = diagnose(body, "openai-chat")
    assert finding.kind == "arguments-invalid"
    assert words in finding.message
    repaired, receipt = healed(body, "openai-chat")
    [called] = repaired["messages"][0]["tool_calls"]
    assert json.loads(called["function"]["arguments"]) == becomes
    assert receipt.codes() == {"arguments-normalised": 1}


def test_arguments_are_kept_where_nothing_can_read_them(monkeypatch):
    def without(name):
        raise ImportError(name)

    monkeypatch.setattr(conform, "import_module", without)
    repaired, _ = healed(chat("{'a': 1}"), "openai-chat")
    [called] = repaired["messages"][0]["tool_calls"]
    assert json.loads(called["function"]["arguments"]) == {"$invalid": "{'a': 1}"}


def test_arguments_as_text_where_an_object_belongs():
    """S0-63"""
    used = {"type": "tool_use", "id": "c", "name": "clock", "input": '{"a": 1}'}
    done = {"type": "tool_result", "tool_use_id": "c", "content": "06:12"}
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "assistant", "content": [used]}, {"role": "user", "content": [done]}],
    }
    assert kinds(body, "anthropic") == ["arguments-invalid"]
    repaired, _ = healed(body, "anthropic")
    assert repaired["messages"][0]["content"][0]["input"] == {"a": 1}


def test_a_call_of_an_unknown_tool_is_told_and_left():
    """X-10"""
    body = chat("{}", name="tide")
    [finding] = diagnose(body, "openai-chat")
    assert str(finding) == "messages[0]: a call of 'tide', which is not among the tools"
    repaired, receipt = repair_history(body, "openai-chat")
    assert repaired is body
    assert receipt.codes() == {"call-unknown": 1}
    assert not receipt.losses


def test_empty_messages_go():
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": []},
            {"role": "user", "content": ""},
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": []},
        ],
    }
    assert [str(f) for f in diagnose(body, "anthropic")] == [
        "messages[1]: the assistant message is empty",
        "messages[2]: the user message is empty",
    ]
    repaired, _ = healed(body, "anthropic")
    assert repaired["messages"] == [body["messages"][i] for i in (0, 3, 4)]


def test_bytes_will_do():
    body = chat("")
    assert diagnose(json.dumps(body).encode(), "openai-chat") == diagnose(body, "openai-chat")


def test_turns():
    roles = ["user", "assistant", "assistant", "user", "user", "assistant"]
    messages = [ir.Message(role=role, parts=()) for role in roles]  # type: ignore[arg-type]
    assert turns_of(messages) == [0, 1, 1, 1, 1, 2]


def test_notes_are_of_the_catalogue():
    from toolglot.history import _DONE
    from toolglot.history.findings import KINDS

    assert set(_DONE) == set(KINDS)
    assert {code for code, _ in _DONE.values()} <= CATALOGUE.keys()
