"""The table of provider tools is sound."""

import pytest

from toolglot.adapt.tools.hosted_table import NATIVE, RUN
from toolglot.registry import PROTOCOLS


def test_protocols_are_known():
    assert set(NATIVE) <= set(PROTOCOLS)
    assert set(RUN) <= set(PROTOCOLS)


@pytest.mark.parametrize("name", NATIVE)
def test_a_protocol_has_one_tool_for_a_purpose_and_one_purpose_for_a_type(name):
    purposes = [native.capability for native in NATIVE[name]]
    types = [each for native in NATIVE[name] for each in native.types]
    assert len(purposes) == len(set(purposes))
    assert len(types) == len(set(types))
    assert all(types)


def test_every_purpose_is_served_by_two_protocols_at_least():
    """A purpose that only one protocol serves could never be mapped: it belongs in no table."""
    served: dict[str, set[str]] = {}
    for name, natives in NATIVE.items():
        for native in natives:
            served.setdefault(native.capability, set()).add(name)
    assert served
    assert all(len(names) > 1 for names in served.values()), served
