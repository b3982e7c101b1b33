"""Members of tools that only their own protocol has."""

from toolglot import translate_request

TOOL = {
    "name": "look",
    "input_schema": {"type": "object", "properties": {}},
    "eager_input_streaming": True,
    "input_examples": [{}],
}
ASK = {
    "model": "m",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [TOOL, {"name": "plain", "input_schema": {"type": "object", "properties": {}}}],
}


def restricted(members):
    return translate_request(
        ASK, source="anthropic", target="anthropic", overrides={"tools.members": members}
    )


def test_what_is_not_accepted_is_left_out_and_named():
    wire, receipt = restricted(["input_examples"])
    assert "eager_input_streaming" not in wire.body["tools"][0]
    assert wire.body["tools"][0]["input_examples"] == [{}]
    assert [(note.code, note.path) for note in receipt] == [
        ("field-dropped", "tools[0].eager_input_streaming")
    ]


def test_what_is_accepted_stays_as_it_came():
    wire, receipt = restricted(["input_examples", "eager_input_streaming"])
    assert wire.body == ASK
    assert not receipt


def test_without_a_restriction_all_members_stay():
    wire, receipt = restricted("any")
    assert wire.body == ASK
    assert not receipt
