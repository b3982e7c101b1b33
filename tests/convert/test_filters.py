import pytest

from toolglot.convert.filters import Filter, FilterError, Seen, keeps, parse_filter

SEEN = Seen(
    model="gpt-5",
    messages=4,
    calls=2,
    tools=1,
    lossy=False,
    invalid=True,
    codes=frozenset({"id-made"}),
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("has-calls", True),
        ("no-calls", False),
        ("has-tools", True),
        ("lossless", True),
        ("valid", False),
        ("invalid", True),
        ("model=gpt-*", True),
        ("model!=gpt-*", False),
        ("messages>=4", True),
        ("messages > 4", False),
        ("calls<=2", True),
        ("tools=2", False),
        ("note=id-*", True),
        ("note!=id-made", False),
    ],
)
def test_expressions(text, kept):
    assert keeps([parse_filter(text)], SEEN) is kept


def test_all_of_several():
    assert not keeps([Filter("has-calls"), Filter("valid")], SEEN)


@pytest.mark.parametrize("text", ["", "calls", "messages>=many", "model>x", "colour=red"])
def test_what_means_nothing_is_refused_with_what_there_is(text):
    with pytest.raises(FilterError, match="has-calls"):
        parse_filter(text)
