import json

import pytest

from toolglot.gateway.relay.reframe import ArrayFraming, LineFraming


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_events_become_an_array(count, size):
    stream = b"".join(b'data: {"n":%d}\r\n\r\n' % number for number in range(count))
    framing = ArrayFraming()
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    written = b"".join(map(framing.feed, pieces)) + framing.close()
    assert json.loads(written) == [{"n": number} for number in range(count)]


def test_lines_of_another_shape():
    framing = LineFraming(lambda line: {"n": line["n"] + 1})
    assert framing.feed(b'{"n":1}\n{"n"') == b'{"n":2}\n'
    assert framing.feed(b":2}") + framing.close() == b'{"n":3}\n'
    assert framing.whole(b'{"n":3}') == b'{"n":4}'
    assert framing.whole(b"[1]") == b"[1]"
