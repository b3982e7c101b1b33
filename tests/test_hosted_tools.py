"""What protocols declare of tools that their providers define."""

import pytest

from toolglot.adapt.tools.hosted import PURPOSES
from toolglot.hosted_tools import object_schema, text_schema
from toolglot.registry import PROTOCOLS

SURFACES = {name: protocol.SURFACE for name, protocol in PROTOCOLS.items()}
for_all = pytest.mark.parametrize("name", SURFACES)


@for_all
def test_a_protocol_has_one_tool_for_a_purpose_and_one_purpose_for_a_type(name):
    tools = SURFACES[name].tools.hosted
    purposes = [tool.purpose for tool in tools]
    # A tool that the client runs only with some values of its members may also be the provider's.
    always = [tool for tool in SURFACES[name].client_tools if not tool.only]
    types = [each for tool in (*tools, *always) for each in tool.types]
    assert len(purposes) == len(set(purposes))
    assert len(types) == len(set(types))
    assert all(types)


@for_all
def test_purposes_and_settings_have_a_meaning(name):
    for tool in SURFACES[name].tools.hosted:
        assert set(tool.settings) <= PURPOSES[tool.purpose]


@for_all
def test_a_tool_with_calls_of_its_own_says_how_they_look(name):
    for tool in SURFACES[name].client_tools:
        assert tool.parameters
        assert bool(tool.call) == bool(tool.output) == bool(tool.member) == bool(tool.id)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_every_purpose_is_served_by_two_protocols_at_least(purpose):
    """A purpose that only one protocol serves could never be mapped: it belongs in no table."""
    served = {
        name
        for name, surface in SURFACES.items()
        if any(tool.purpose == purpose for tool in surface.tools.hosted)
    }
    assert len(served) > 1


def test_schemas():
    assert object_schema(("a",), a=text_schema("It.")) == {
        "type": "object",
        "properties": {"a": {"type": "string", "description": "It."}},
        "required": ["a"],
    }
