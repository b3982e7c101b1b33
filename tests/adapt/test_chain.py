"""The chain of passes, and passes of one's own."""

from msgspec.structs import replace

import toolglot
from toolglot.ir import Text


def shout(request, ctx):
    """A pass that changes all text of the user."""
    ctx.note("value-mapped", "messages", "shouted")
    messages = tuple(
        replace(
            message,
            parts=tuple(
                replace(part, text=part.text.upper()) if isinstance(part, Text) else part
                for part in message.parts
            ),
        )
        for message in request.messages
    )
    return replace(request, messages=messages)


def test_a_pass_of_ones_own_runs_in_a_translation_and_is_in_the_receipt():
    """S3-39"""
    wire, receipt = toolglot.translate_request(
        {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hello"}]},
        source="anthropic",
        target="openai-chat",
        passes=(shout,),
    )
    assert wire.body["messages"][0]["content"] == "HELLO"
    assert "shouted" in [note.message for note in receipt]


def test_a_pass_of_ones_own_over_responses_sees_the_clients_calls():
    """S3-40"""
    seen = []

    def look(response, _ctx):
        seen.extend(part.name for choice in response.choices for part in choice.parts)
        return response

    request = {
        "model": "m",
        "input": "go",
        "tools": [{"type": "function", "name": "cat", "parameters": {"type": "object"}}],
    }
    answer = {
        "content": [{"type": "tool_use", "id": "t", "name": "read_file", "input": {}}],
        "stop_reason": "tool_use",
    }
    toolglot.translate_response(
        answer,
        source="anthropic",
        target="openai-responses",
        request=request,
        rules=toolglot.ToolRules(rename={"cat": "read_file"}),
        response_passes=(look,),
    )
    assert seen == ["cat"]
