"""`toolglot demo`: the bundled example through every pair."""

from toolglot.cli.demo import EXAMPLE
from toolglot.registry import PROTOCOLS
from toolglot.translate import translate_request


def test_every_pair_is_shown_with_its_receipt(cli):
    done = cli("demo")
    text = done.out.decode()
    assert (done.code, done.err) == (0, "")
    assert max(map(len, text.splitlines())) <= 80
    groups = text.split("\nfrom ")[1:]
    assert [group.split()[0] for group in groups] == list(PROTOCOLS)
    for source, group in zip(PROTOCOLS, groups, strict=True):
        assert [name for name in PROTOCOLS if f"\n  {name} " not in group] == [], source
    wire, receipt = translate_request(EXAMPLE, source="anthropic", target="ollama")
    line = next(line for line in groups[0].splitlines() if line.startswith("  ollama"))
    assert f"{len(wire.data())} bytes" in line
    assert next(iter(receipt.codes())) in line
    assert "nothing changed" in groups[0]
