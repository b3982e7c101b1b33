"""Digests depend on their input alone."""

from toolglot.digest import digest


def test_equal_input_gives_equal_digests_of_the_size_asked_for():
    assert digest(b"a", 12) == digest(b"a", 12)
    assert len(digest(b"a", 12)) == 12


def test_data_and_salt_count():
    assert len({digest(b"a", 8), digest(b"b", 8), digest(b"a", 8, 1), digest(b"a", 8, 2)}) == 4
