"""`toolglot protocols`: every protocol and every pair, readable in a terminal."""

import pytest

from toolglot.matrix import pairs
from toolglot.registry import PROTOCOLS


@pytest.mark.parametrize("columns", [80, 120])
def test_every_protocol_and_every_loss_is_there_and_fits(cli, columns):
    done = cli("protocols", columns=columns)
    text = done.out.decode()
    flat = " ".join(text.split())
    assert (done.code, done.err) == (0, "")
    assert max(map(len, text.splitlines())) <= columns
    for codec in PROTOCOLS.values():
        assert f"{codec.NAME} {codec.__doc__.splitlines()[0]}" in flat
        assert f"from {codec.NAME} to" in text
    for source, target, lost in pairs():
        if source != target:
            group = flat.partition(f"from {source} to")[2]
            assert f"{target} {', '.join(lost) or 'nothing'}" in group
