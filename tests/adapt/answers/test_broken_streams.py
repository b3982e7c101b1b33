"""Answers that break off."""

import pytest
from tests.wires import pair

from toolglot import ir
from toolglot.adapt.answers.broken_streams import LeavePartOpen, leaves_part_open, retryable_error
from toolglot.context import Options
from toolglot.events import Failed, Finished, PartEnded

CUT = PartEnded(0, incomplete=True)
LATE = ir.ApiError(kind="timeout", message="late", status=504, raw="timeout_error")


def opened(target="anthropic", broken="open"):
    ctx = pair("openai-chat", target)
    ctx.options = Options(broken=broken)
    return ctx


def test_the_part_that_broke_off_stays_open():
    breaking = LeavePartOpen(opened())
    assert [*breaking.feed(CUT)] == []
    (failed,) = breaking.feed(Failed(LATE))
    assert failed.error.kind == "overloaded"
    assert failed.error.message == "late"


def test_a_part_that_was_cut_short_in_an_answer_that_ended_is_closed():
    breaking = LeavePartOpen(opened())
    assert [*breaking.feed(CUT)] == []
    ended = Finished((ir.StopReason(kind="length"),))
    assert [*breaking.feed(ended)] == [CUT, ended]
    assert [*breaking.feed(PartEnded(1))] == [PartEnded(1)]


@pytest.mark.parametrize("kind", ["invalid_request", "context_length", "quota", "authentication"])
def test_an_error_that_stays_is_told_as_it_is(kind):
    error = ir.ApiError(kind=kind, message="no")
    assert retryable_error(error, opened()) is error


def test_only_where_it_was_asked_for_and_clients_need_it():
    assert not leaves_part_open(opened(broken="closed"))
    assert retryable_error(LATE, opened(broken="closed")) is LATE
    assert not leaves_part_open(opened("openai-responses"))
    assert retryable_error(LATE, opened("openai-responses")) is LATE
