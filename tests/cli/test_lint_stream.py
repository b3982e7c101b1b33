"""`toolglot lint-stream`: a stream against the rules of its protocol."""

import pytest
from tests.laws.corpus import FIXTURES, NAMES

from toolglot.lint import lint_stream, rules_of


def test_a_sound_stream_is_0(cli):
    done = cli(
        "lint-stream", "--protocol", "anthropic", str(FIXTURES / "anthropic/text.stream.txt")
    )
    assert done == (0, b"no rule broken\n", "")


def test_violations_are_1_and_a_line_each(cli):
    data = (FIXTURES / "anthropic" / "error_mid.stream.txt").read_bytes()
    done = cli("lint-stream", "--protocol", "anthropic", data=data)
    lines = done.out.decode().splitlines()
    assert (done.code, done.err) == (1, "")
    assert lines == [str(violation) for violation in lint_stream(data, "anthropic")]
    assert lines[0] == "event 4: block-overlap: block 0 is still open"


@pytest.mark.parametrize("protocol", NAMES)
@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\x00", b"data: {}", b"{}" * 9, "data: \ud83d".encode("utf-8", "surrogatepass")],
)
def test_any_bytes_are_judged(cli, protocol, data):
    done = cli("lint-stream", "--protocol", protocol, data=data)
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith(b"event 1: ")


@pytest.mark.parametrize("protocol", NAMES)
def test_the_rules_can_be_listed(cli, protocol):
    done = cli("lint-stream", "--protocol", protocol, "--rules")
    text = done.out.decode()
    assert done.code == 0
    assert max(map(len, text.splitlines())) <= 80
    assert [line.split()[0] for line in text.splitlines()] == [r.code for r in rules_of(protocol)]
