"""What is computed from the record of a request."""

from toolglot.gateway.telemetry.request_record import RequestRecord


def record(**more):
    return RequestRecord(request_id="req_1", client="anthropic", started=10.0, **more)


def test_overhead_is_what_was_not_waited_for():
    assert record(duration=5.0, waited=3.0).overhead == 2.0
    assert record(duration=5.0, waited=5.1).overhead == 0.0, "clocks round"


def test_the_first_byte_counts_from_the_request():
    assert record().time_to_first_byte is None
    assert record(first_byte=10.5).time_to_first_byte == 0.5


def test_records_do_not_share_what_changes():
    assert record().receipt == record().receipt
    assert not record().receipt
