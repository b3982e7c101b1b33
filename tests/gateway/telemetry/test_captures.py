"""What is kept of exchanges in memory, and what is not."""

import pytest

from toolglot.gateway.config import Inspector, Server
from toolglot.gateway.telemetry.captures import CapturedAttempt, Captures, captures_for
from toolglot.gateway.telemetry.request_record import RequestRecord


def start(captures, owner="", body=b"{}", **more):
    given = {"protocol": "anthropic", "path": "/v1/messages", "model": "m", "stream": False}
    given |= {"request_id": "r", "headers": {}, **more}
    return captures.start(owner=owner, body=body, **given)


def end(capture):
    capture.end(RequestRecord(request_id="r", client="anthropic", started=0.0))


def numbers(captures, owner=""):
    return [each.number for each in captures.of(owner)]


def test_only_the_latest_are_kept():
    captures = Captures(most=3)
    for _ in range(5):
        end(start(captures))
    assert numbers(captures) == [3, 4, 5]
    assert captures.find("", 2) is None
    assert captures.find("", 4).number == 4


def test_bytes_are_counted_and_bounded():
    captures = Captures(most_bytes=8000)
    for _ in range(20):
        capture = start(captures, body=b"x" * 500)
        capture.attempt(CapturedAttempt(provider="p", body=b"y" * 300))
        end(capture)
    assert numbers(captures) == list(range(11, 21))
    assert captures.size("") == 8000


def test_a_long_answer_is_cut_and_that_is_told():
    captures = Captures(most_bytes=80_000)
    capture = start(captures)
    capture.attempt(CapturedAttempt(provider="p"))
    for _ in range(100):
        capture.upstream_chunk(b"z" * 1000)
        capture.client_chunk(b"z" * 1000)
    end(capture)
    (kept,) = captures.of("")
    assert kept.left_out > 150_000
    assert len(kept.chunks) == len(kept.attempts[0].chunks) < 10


def test_a_long_request_is_cut():
    captures = Captures(most_bytes=800)
    exchange = start(captures, body=b"x" * 1000).exchange
    assert (len(exchange.body), exchange.left_out) == (100, 900)


def test_tenants_have_rings_of_their_own():
    captures = Captures(most=2)
    for _ in range(4):
        end(start(captures, "one"))
    end(start(captures, "two"))
    assert numbers(captures, "one") == [3, 4]
    assert numbers(captures, "two") == [5]
    assert captures.find("two", 4) is None
    captures.clear("one")
    assert numbers(captures, "one") == []
    assert numbers(captures, "two") == [5]


def test_all_tenants_together_are_bounded():
    captures = Captures(most_bytes=1000)
    for number in range(20):
        end(start(captures, str(number), b"x" * 100))
        end(start(captures, str(number), b"x" * 100))
    assert sum(captures.size(str(number)) for number in range(20)) <= 4000


def test_one_that_is_let_go_while_it_is_under_way_takes_no_room():
    captures = Captures(most=1)
    first = start(captures, body=b"x" * 100)
    second = start(captures, body=b"x" * 50)
    first.attempt(CapturedAttempt(provider="p", body=b"y" * 100))
    first.upstream_chunk(b"z" * 100)
    first.client_chunk(b"z" * 100)
    gone = first.exchange
    assert (gone.body, gone.pieces, gone.attempts[0].body) == (b"", [], b"")
    assert gone.attempts[0].pieces == []
    end(first)
    end(second)
    assert captures.size("") == 50


def test_attempts_say_why_they_were_made():
    capture = start(Captures())
    capture.attempt(CapturedAttempt(provider="one"))
    capture.tried(429)
    capture.attempt(CapturedAttempt(provider="two"))
    capture.attempt(CapturedAttempt(provider="two", reason="mended"))
    assert [each.reason for each in capture.exchange.attempts] == ["first", "fallback", "mended"]
    assert [each.status for each in capture.exchange.attempts[0].tries] == [429]


def test_those_who_listen_are_told_of_their_own():
    captures, told = Captures(), []
    captures.listen("one", lambda exchange: told.append((exchange.number, exchange.state)))
    capture = start(captures, "one")
    end(start(captures, "two"))
    capture.client_response(200, {})
    end(capture)
    assert told == [(1, "waiting"), (1, "answering"), (1, "ended")]


@pytest.mark.parametrize(
    ("server", "kept"),
    [
        (Server(), True),
        (Server(host="0.0.0.0", open=True), False),
        (Server(keys=True), False),
        (Server(keys=True, inspector=Inspector(enabled=True)), True),
        (Server(inspector=Inspector(enabled=False)), False),
        (Server(workers=2), False),
    ],
)
def test_where_exchanges_are_kept(server, kept):
    assert (captures_for(server) is not None) is kept
