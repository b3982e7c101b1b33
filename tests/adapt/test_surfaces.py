"""The two surfaces of a translation."""

import pytest
from tests.wires import pair

from toolglot import Context, get_protocol
from toolglot.adapt.surfaces import surfaces


def test_both_surfaces():
    ctx = pair("ollama", "gemini")
    assert surfaces(ctx) == (get_protocol("ollama").SURFACE, get_protocol("gemini").SURFACE)


@pytest.mark.parametrize("known", ["source", "target", None])
def test_adapting_needs_both(known):
    given = {known: get_protocol("gemini").SURFACE} if known else {}
    with pytest.raises(ValueError, match="a source and a target"):
        surfaces(Context(**given))
