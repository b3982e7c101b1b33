"""Which exchanges are one conversation."""

import json

from toolglot.gateway.inspector.grouping import client_of, conversations
from toolglot.gateway.telemetry.captures import CapturedExchange
from toolglot.ir import ApiError


def exchange(number, *texts, failed=False, **headers):
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
    body = json.dumps({"model": "m", "messages": messages}).encode()
    return CapturedExchange(
        number=number,
        request_id=f"r{number}",
        owner="",
        started=float(number),
        clock=0.0,
        protocol="openai-chat",
        path="/v1/chat/completions",
        model="m",
        stream=False,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
        body=body,
        status=500 if failed else 200,
        state="ended",
        error=ApiError(kind="server", message="no", status=500) if failed else None,
    )


def grouped(*exchanges):
    return [[turn.exchange.number for turn in each.turns] for each in conversations(exchanges)]


def test_a_request_that_goes_on_from_another_is_in_its_conversation():
    assert grouped(exchange(1, "Hi"), exchange(2, "Other"), exchange(3, "Hi", "Hello", "And?")) == [
        [1, 3],
        [2],
    ]


def test_the_same_question_again_is_another_conversation():
    assert grouped(exchange(1, "Hi"), exchange(2, "Hi")) == [[1], [2]]
    assert grouped(exchange(1, "Hi"), exchange(2, "Hi", "a", "b"), exchange(3, "Hi")) == [
        [1, 2],
        [3],
    ]


def test_the_same_question_after_a_failure_is_the_same_conversation():
    assert grouped(exchange(1, "Hi", failed=True), exchange(2, "Hi")) == [[1, 2]]


def test_a_session_that_the_client_names_is_one_whatever_is_said():
    one, two = {"x_claude_code_session_id": "a"}, {"x_claude_code_session_id": "b"}
    assert grouped(exchange(1, "Hi", **one), exchange(2, "Hi", **two), exchange(3, "x", **one)) == [
        [1, 3],
        [2],
    ]


def test_different_clients_have_different_conversations():
    later = exchange(2, "Hi", "a", "b", user_agent="codex_cli_rs/0.140")
    assert grouped(exchange(1, "Hi", user_agent="opencode/1.18"), later) == [[1], [2]]


def test_a_request_that_cannot_be_read_is_alone():
    broken = exchange(1)
    broken.body = b"{"
    (only,) = conversations([broken])
    assert only.turns[0].facts.request.problem


def test_what_clients_are_called():
    assert client_of({"user-agent": "claude-cli/2.1.9 (external, cli)"}) == ("Claude Code", "2.1.9")
    assert client_of({"user-agent": "curl/8.5.0"}) == ("curl", "8.5.0")
    assert client_of({}) == ("", "")
