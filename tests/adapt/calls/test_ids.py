"""Ids of calls: preserved, aliased where forbidden, prefixed where that is asked for."""

import json
import re

import pytest
from tests.wires import (
    NAMES,
    PAIRS,
    TRIO,
    TRIO_PAIRS,
    across,
    answer,
    asking,
    assistant,
    call,
    carried,
    codes,
    heard,
    pair,
    parts_of,
    path_to,
    result,
    said,
    seen,
    shown,
    tool,
    user,
)

from toolglot import Options, StreamTranslator, get_protocol, ir, translate_request
from toolglot.adapt.answers.passes import answer_passes
from toolglot.adapt.calls.ids import PREFIXES, PrefixIds, alias_ids, call_ids, with_prefix
from toolglot.calls import translate_id
from toolglot.events import unfold
from toolglot.surface import ID_RULES

PREFIX = {"anthropic": "toolu_", "openai-chat": "call_", "openai-responses": "fc_"}
LONG = "a" * 949


def talk(*ids, name="look"):
    """A conversation in which calls with these ids were made and answered."""
    turns = [
        message
        for each in ids
        for message in (assistant(call(name, id=each)), user(result("seen", id=each)))
    ]
    return asking(user("look"), *turns, tools=(tool(name),), max_tokens=99)


def asked(request, name):
    """A body that says the model too, which one protocol keeps in the path."""
    return {"model": request.model, **said(request, name)}


def calls(request):
    return [part.id for part in parts_of(request, ir.ToolCall)]


def results(request):
    return [part.id for part in parts_of(request, ir.ToolResult)]


# --- preserved -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "target"), TRIO_PAIRS)
def test_ids_are_preserved(source, target):
    """D-01: whatever they look like, as long as the target takes them."""
    ids = ["toolu_01A", "call_abc", "fc_9", "chatcmpl-tool-7", "x", "1"]
    request, receipt = carried(talk(*ids), source, target)
    assert calls(heard(request, target)) == results(heard(request, target)) == ids
    assert "id-aliased" not in codes(receipt)


def test_a_request_that_fits_is_the_same_object():
    request = talk("call_1")
    assert alias_ids(request, pair("openai-chat", "anthropic")) is request
    free = talk("functions.Bash:0")
    assert alias_ids(free, pair("openai-chat", "gemini")) is free


# --- aliased -------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["openai-chat", "openai-responses", "gemini"])
def test_ids_that_anthropic_forbids(source):
    """X-19, case-18: a digest keeps `call.0` and `call:0` apart; the call and its result agree."""
    ids = ["functions.Bash:0", "call.0", "call:0", "call_0", LONG + "."]
    request = across(talk(*ids), source, "anthropic")
    assert calls(request) == results(request)
    assert len(set(calls(request))) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", each) for each in calls(request))
    assert calls(request)[0].startswith("functions_Bash_0_")
    assert calls(request)[3] == "call_0", "one that conforms is the same, byte for byte"


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
def test_ids_that_are_too_long_for_openai(target):
    """X-19, case-18: 64 characters at most, of any kind."""
    ids = [LONG, LONG + "b", "a" * 64, "functions.Bash:0"]
    request = across(talk(*ids), "anthropic", target)
    assert calls(request) == results(request)
    assert len(set(calls(request))) == len(ids)
    assert [len(each) for each in calls(request)] == [64, 64, 64, len(ids[3])]
    assert calls(request)[2:] == ids[2:]


def test_servers_that_stop_at_forty():
    """X-19, case-18: a limit of the provider's own."""
    ids = ["a" * 46, "a" * 40]
    request = across(talk(*ids), "anthropic", "openai-chat", id_max=40)
    assert len(calls(request)[0]) == 40
    assert calls(request)[1] == ids[1]
    above = across(talk("a" * 80), "anthropic", "openai-chat", id_max=100)
    assert len(calls(above)[0]) == 64, "the protocol's own limit stays"
    with pytest.raises(ValueError, match="id_max: 3 is too short"):
        across(talk("call_1"), "anthropic", "openai-chat", id_max=3)


@pytest.mark.parametrize("source", NAMES)
def test_nine_letters_and_digits(source):
    """X-19: Mistral's ids, also for clients that speak its protocol already."""
    ids = ["call_1", "aB3xK9mP2", "call_2"]
    wire = said(talk(*ids), source)
    path = path_to(source)
    there, receipt = translate_request(
        wire, source=source, target="openai-chat", path=path, id_rule="mistral"
    )
    request = heard(there, "openai-chat")
    assert calls(request) == results(request)
    assert all(re.fullmatch(r"[a-zA-Z0-9]{9}", each) for each in calls(request))
    assert calls(request)[1] == ids[1]
    assert len(set(calls(request))) == 3
    assert receipt.codes()["id-aliased"] == 4


def test_a_rule_has_a_known_name():
    assert set(ID_RULES) == {"mistral"}
    with pytest.raises(ValueError, match="id_rule: 'mistrel' is none of mistral"):
        across(talk("call_1"), "anthropic", "openai-chat", id_rule="mistrel")


def test_the_same_protocol_is_untouched_unless_asked():
    """D-01: who accepts its own odd ids keeps them."""
    body = said(talk(LONG), "openai-chat")
    wire, receipt = translate_request(body, source="openai-chat", target="openai-chat")
    assert wire.body == body
    assert not receipt


def test_each_place_is_named():
    _, receipt = carried(talk("call.1"), "openai-chat", "anthropic")
    found = [note for note in receipt if note.code == "id-aliased"]
    assert [(note.path, note.severity) for note in found] == [
        ("messages[1]", "info"),
        ("messages[2]", "info"),
    ]
    assert found[0].message.startswith("call.1 became call_1_")


def test_an_empty_id_is_not_sent_where_that_is_forbidden():
    request = alias_ids(talk(""), pair("openai-responses", "anthropic"))
    assert calls(request) == results(request)
    assert calls(request)[0]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_aliases_are_undone_in_the_answer(source, target):
    """X-19, D-01, case-18: a provider that repeats an alias means the client's id."""
    if target == "ollama":
        return
    request = talk("functions.Bash:0", LONG)
    theirs = calls(across(request, source, target))
    echo = answer(*(call("look", id=each) for each in theirs))
    back = seen(echo, target, source, request=asked(request, source))
    assert calls(back) == ["functions.Bash:0", LONG]


def test_nothing_is_hidden_in_an_id():
    """case-18: state has its own place; what a provider signed does not enter ids."""
    signed = ir.ToolCall(id="call_1", name="look", arguments="{}", signature="c2lnbmF0dXJl" * 40)
    back = seen(answer(signed), "gemini", "openai-chat")
    assert calls(back) == ["call_1"]


# --- prefixed ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "provider", "wanted"),
    [
        pytest.param("toolu_xyz", "openai", "call_xyz", id="S0-39"),
        pytest.param("toolu_xyz", "responses", "fc_xyz", id="S0-40"),
        pytest.param("call_xyz", "anthropic", "toolu_xyz", id="S0-41"),
        pytest.param("call_xyz", "responses", "fc_xyz", id="S0-42"),
        pytest.param("fc_xyz", "anthropic", "toolu_xyz", id="S0-43"),
        pytest.param("fc_xyz", "openai", "call_xyz", id="S0-44"),
        pytest.param("fc_x", "responses", "fc_x", id="S0-45"),
        pytest.param("call_x", "openai", "call_x", id="S0-45"),
        pytest.param("toolu_x", "anthropic", "toolu_x", id="S0-45"),
        pytest.param("abc", "responses", "fc_abc", id="S0-46"),
        pytest.param("abc", "openai", "call_abc", id="S0-46"),
        pytest.param("abc", "anthropic", "toolu_abc", id="S0-46"),
        pytest.param("", "responses", "", id="S0-47"),
        pytest.param("", "anthropic", "", id="S0-47"),
        pytest.param("abc", "gemini", "abc", id="no-prefix"),
    ],
)
def test_the_table_of_prefixes(given, provider, wanted):
    """S0-39, S0-40, S0-41, S0-42, S0-43, S0-44, S0-45, S0-46, S0-47: one prefix for another."""
    assert translate_id(given, provider) == wanted
    assert translate_id(wanted, provider) == wanted, "twice is once"


def test_every_prefix_of_a_protocol_is_known():
    surfaces = [get_protocol(name).SURFACE for name in NAMES]
    assert {each.calls.id_prefix for each in surfaces} == {*PREFIXES, None}
    assert with_prefix("fc_call_1", "call_") == "call_call_1"


@pytest.mark.parametrize(("source", "target"), TRIO_PAIRS)
def test_prefixes_of_requests(source, target):
    """S0-39, S0-40, S0-41, S0-42, S0-43, S0-44, S0-46, D-01: calls and results, only on request."""
    own, other = PREFIX[source], PREFIX[target]
    request, receipt = carried(talk(f"{own}1", "abc", f"{other}2"), source, target, ids="prefix")
    there = heard(request, target)
    assert calls(there) == results(there) == [f"{other}1", f"{other}abc", f"{other}2"]
    assert receipt.codes()["id-aliased"] == 4
    assert not receipt.losses


@pytest.mark.parametrize("target", TRIO)
def test_ids_that_would_meet_stay_apart(target):
    """S0-48: the first has the plain one, and keeps it when more are said."""
    source = next(name for name in TRIO if name != target)
    ids = ["call_1", "toolu_1", "fc_1", "1"]
    there = across(talk(*ids), source, target, ids="prefix")
    assert calls(there) == results(there)
    assert calls(there)[0] == f"{PREFIX[target]}1"
    assert len(set(calls(there))) == 4
    assert all(each.startswith(PREFIX[target]) for each in calls(there))
    assert calls(across(talk(*ids[:2]), source, target, ids="prefix")) == calls(there)[:2]


def test_a_prefix_keeps_to_the_limit():
    there = across(talk("a" * 64), "anthropic", "openai-responses", ids="prefix")
    assert len(calls(there)[0]) == 64
    assert calls(there)[0].startswith("fc_aaa")


@pytest.mark.parametrize(("source", "target"), TRIO_PAIRS)
def test_prefixes_of_answers(source, target):
    """S0-39, S0-41, S0-44, D-01: the way to the client, and back to the provider as it was."""
    mine, theirs = PREFIX[target], PREFIX[source]
    back, receipt = shown(answer(call("look", id=f"{theirs}x")), source, target, ids="prefix")
    assert f'"{mine}x"' in json.dumps(back.body)
    assert "id-aliased" in codes(receipt)
    history = talk(f"{mine}x")
    assert calls(across(history, target, source, ids="prefix")) == [f"{theirs}x"]


@pytest.mark.parametrize(("source", "target"), TRIO_PAIRS)
def test_prefixes_of_streams(source, target):
    """S0-39, S0-41, S0-44: the same ids as in a whole answer."""
    said_before = talk(f"{PREFIX[target]}1")
    given = answer(call("look", id=f"{PREFIX[source]}2"), call("look", id="new"))
    body = said(said_before, target)
    whole = seen(given, source, target, request=body, ids="prefix")
    encoder = get_protocol(source).StreamEncoder(pair(target, source))
    sent = b"".join(map(encoder.encode, unfold(given))) + encoder.close()
    translator = StreamTranslator(source, target, request=body, ids="prefix")
    written = (translator.feed(sent) + translator.close()).decode()
    assert calls(whole) == [f"{PREFIX[target]}2", f"{PREFIX[target]}new"]
    assert all(f'"{each}"' in written for each in calls(whole))
    assert "id-aliased" in codes(translator.receipt)


def test_new_ids_do_not_meet_those_of_the_history():
    """S0-48: the client has a `toolu_1`, which is not the `1` of the provider."""
    body, new = said(talk("toolu_1"), "anthropic"), answer(call("look", id="1"))
    back = seen(new, "openai-chat", "anthropic", request=body, ids="prefix")
    assert calls(back)[0].startswith("toolu_1_")
    assert calls(seen(new, "openai-chat", "anthropic", ids="prefix")) == ["toolu_1"]


def test_ids_of_the_request_come_back_as_they_were():
    """D-01: also where the prefix was changed for the provider."""
    request = talk("abc", "toolu_7")
    theirs = calls(across(request, "anthropic", "openai-chat", ids="prefix"))
    assert theirs == ["call_abc", "call_7"]
    echo = answer(*(call("look", id=each) for each in theirs))
    body = said(request, "anthropic")
    assert calls(seen(echo, "openai-chat", "anthropic", request=body, ids="prefix")) == [
        "abc",
        "toolu_7",
    ]


def test_without_being_asked_nothing_is_prefixed():
    ctx = pair("openai-chat", "anthropic")
    assert PrefixIds not in map(type, answer_passes(ctx))
    ctx = pair("openai-chat", "gemini", options=Options(ids="prefix"))
    assert PrefixIds not in map(type, answer_passes(ctx)), "no custom there"
    ctx = pair("openai-chat", "anthropic", options=Options(ids="prefix"))
    for whole in (None, answer(call("look"))):
        assert PrefixIds in map(type, answer_passes(ctx, whole))


def test_a_stream_pass_leaves_everything_else_alone():
    ctx = pair("openai-chat", "anthropic", options=Options(ids="prefix"))
    prefixing = PrefixIds(ctx)
    events = list(unfold(answer("words")))
    assert [each for event in events for each in prefixing.feed(event)] == events


def test_ids_of_the_conversation_are_known():
    ask = asking(assistant(call("f", id="a")), user(result("x", id="b")))
    assert call_ids(ask.messages) == {"a", "b"}
    assert call_ids(()) == set()


# --- two ids -------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [name for name in NAMES if name != "openai-responses"])
@pytest.mark.parametrize("ids", ["preserve", "prefix"])
def test_items_have_ids_of_their_own_kind_or_none(source, ids):
    """S0-62, D-02: `call_id` ties a call to its result; `id` is the provider's to give."""
    wire, _ = carried(talk("toolu_1", "call_2"), source, "openai-responses", ids=ids)
    items = [item for item in wire.body["input"] if item["type"].startswith("function_call")]
    assert len(items) == 4
    for item in items:
        assert item.get("id", "fc_").startswith("fc_")
        assert item["call_id"]
    assert [item["call_id"] for item in items[::2]] == [item["call_id"] for item in items[1::2]]


@pytest.mark.parametrize("ids", ["preserve", "prefix"])
def test_items_of_answers_have_two_ids(ids):
    """S0-62, D-02: the item's begins with `fc_`, whatever the call's is."""
    wire, _ = shown(answer(call("look")), "openai-chat", "openai-responses", ids=ids)
    (item,) = wire.body["output"]
    assert item["id"].startswith("fc_")
    assert item["call_id"] == ("call_1" if ids == "preserve" else "fc_1")


def test_a_longest_id_above_what_the_provider_takes_changes_nothing():
    request = across(talk("abcdefghij12"), "anthropic", "openai-chat", id_rule="mistral", id_max=40)
    assert [len(part.id) for part in parts_of(request, ir.ToolCall)] == [9]
    assert [len(part.id) for part in parts_of(request, ir.ToolResult)] == [9]


def test_at_home_a_longest_id_is_all_that_is_asked_of_it():
    odd = "call:1/é"
    kept = parts_of(across(talk(odd), "anthropic", "anthropic", id_max=40), ir.ToolCall)
    assert [part.id for part in kept] == [odd]
