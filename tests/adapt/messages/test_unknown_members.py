"""Members that a provider does not know."""

import json

from toolglot.context import Options
from toolglot.exchange import Exchange

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


def sent(provider, body, protocol="openai-chat"):
    exchange = Exchange(protocol, protocol, Options(provider=provider))
    made = exchange.request(json.dumps(body).encode())
    return json.loads(made.data), [(note.code, note.path) for note in exchange.notes]


def test_members_of_other_providers_are_dropped_and_named():
    asked = {**ASK, "thinking": {"type": "enabled"}, "min_p": 0.1, "seed": 3}
    body, notes = sent("openai", asked)
    assert body == {**ASK, "seed": 3}
    assert notes == [("field-dropped", "thinking"), ("field-dropped", "min_p")]


def test_null_is_left_out_where_it_is_refused():
    body, notes = sent("openai", {**ASK, "tool_choice": None})
    assert body == ASK
    assert notes == [("field-minor", "tool_choice")]


def test_members_of_messages_count_too():
    named = {"role": "user", "content": "Hi", "name": "ada", "weight": 3}
    body, notes = sent("mistral", {**ASK, "messages": [named]})
    assert body["messages"] == ASK["messages"]
    assert notes == [("field-dropped", "messages[0].name"), ("field-dropped", "messages[0].weight")]


def test_who_takes_anything_gets_everything():
    asked = {**ASK, "transforms": [], "top_a": 1}
    assert sent("openrouter", asked) == (asked, [])
