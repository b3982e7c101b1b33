"""`toolglot dialects`: every dialect with its models and an example."""

from toolglot.dialects.table import DIALECTS


def test_every_dialect_is_there(cli):
    done = cli("dialects")
    text = done.out.decode()
    assert (done.code, done.err) == (0, "")
    for dialect in DIALECTS.values():
        assert f"\n{dialect.name} " in f"\n{text}"
        first = dialect.example.strip("\n").split("\n")[0]
        assert f"    {first}" in text
