"""Members by their paths, as providers name them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.wire.member_paths import find_member, without_members

BODY = {
    "top_p": 1,
    "reasoning": {"effort": "low"},
    "generationConfig": {"topK": 1, "thinkingConfig": {"thinkingBudget": 1}},
    "messages": [
        {"role": "user", "content": "a"},
        {"role": "assistant", "name": "n", "content": [{"type": "text", "cache_control": {}}]},
    ],
    "tools": [{"type": "custom", "input_examples": []}, {"function": {"strict": True}}],
}


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("top_p", "top_p"),
        ("topP", "top_p"),
        ("$.top_p", "top_p"),
        ("#/top_p", "top_p"),
        ("body.top_p", "top_p"),
        ("reasoning.effort", "reasoning.effort"),
        ("generation_config.top_k", "generationConfig.topK"),
        ("generationConfig.thinkingConfig.thinkingBudget",) * 2,
        ("messages[1].name", "messages[].name"),
        ("messages.1.name", "messages[].name"),
        ("messages.[1].name", "messages[].name"),
        ("body.messages.1.assistant.name", "messages[].name"),
        ("messages.1.content.0.text.cache_control", "messages[].content[].cache_control"),
        ("tools.0.custom.input_examples", "tools[].input_examples"),
        ("tools[1].function.strict", "tools[].function.strict"),
        ("messages[0].name", None),
        ("messages[9].name", None),
        ("other", None),
        ("reasoning.max_tokens", None),
        ("", None),
        ("...", None),
    ],
)
def test_what_a_provider_names(named, found):
    assert find_member(BODY, named) == found


def dropped(body, *paths):
    noted = []
    return without_members(body, frozenset(paths), lambda path, _: noted.append(path)), noted


def test_members_are_left_out_wherever_they_stand():
    body, noted = dropped(BODY, "messages[].name", "top_p", "tools[].function.strict")
    assert "top_p" not in body
    assert body["messages"][0] is BODY["messages"][0]
    assert "name" not in body["messages"][1]
    assert body["tools"][1] == {}
    assert noted == ["messages[1].name", "tools[1].function.strict", "top_p"]
    assert "name" in BODY["messages"][1], "what came is not changed"


def test_an_object_with_nothing_left_goes_as_well():
    body, noted = dropped(
        BODY, "reasoning.effort", "generationConfig.thinkingConfig.thinkingBudget"
    )
    assert "reasoning" not in body
    assert body["generationConfig"] == {"topK": 1}
    assert len(noted) == 2


@pytest.mark.parametrize("path", ["other", "messages[].other", "top_p[].x", "messages[]", "", "[]"])
def test_nothing_to_leave_out(path):
    body, noted = dropped(BODY, path)
    assert body is BODY
    assert noted == []


@given(st.text(max_size=60))
def test_any_text_is_a_path_or_none(text):
    found = find_member(BODY, text)
    if found is not None and not found.endswith("[]"):
        assert dropped(BODY, found)[0] != BODY
