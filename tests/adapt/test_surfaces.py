"""The two surfaces of a translation."""

import pytest
from tests.wires import pair

from toolglot import Context, Options, get_protocol
from toolglot.adapt.surfaces import emulation, surfaces, tool_surfaces


def test_both_surfaces():
    ctx = pair("ollama", "gemini")
    assert surfaces(ctx) == (get_protocol("ollama").SURFACE, get_protocol("gemini").SURFACE)


@pytest.mark.parametrize("known", ["source", "target", None])
def test_adapting_needs_both(known):
    given = {known: get_protocol("gemini").SURFACE} if known else {}
    with pytest.raises(ValueError, match="a source and a target"):
        surfaces(Context(**given))


def test_text_tells_functions_and_nothing_else():
    source, target = (get_protocol(name).SURFACE for name in ("anthropic", "openai-responses"))
    ctx = Context(Options(tools="emulated"), source=source, target=target)
    assert tool_surfaces(ctx)[1].tools == {"function"}
    assert tool_surfaces(ctx)[1].name != target.name
    assert tool_surfaces(Context(source=source, target=target)) == (source, target)


def test_the_dialect_of_an_emulation():
    found = [emulation(Options(tools=how)) for how in ("native", "emulated", "emulated:react")]
    assert found == [None, "hermes", "react"]
