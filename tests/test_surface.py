"""Surfaces: the facts about a protocol, and that those of the protocols use the known words."""

from typing import get_args

import msgspec
import pytest

from toolglot import ir
from toolglot.registry import PROTOCOLS
from toolglot.surface import MediaSupport, MessageSupport, Surface

PLAIN = Surface(
    name="a",
    path="/a",
    settings={},
    messages=MessageSupport(
        path="messages",
    ),
    media=MediaSupport(
        accepted={},
    ),
)
SURFACES = [pytest.param(codec.SURFACE, id=name) for name, codec in PROTOCOLS.items()]

PLACES = {"system", "user", "assistant", "result"}
PARTS = {kind.__struct_config__.tag for kind in get_args(ir.Part)}
SOURCES = {kind.__struct_config__.tag for kind in get_args(ir.Source)}
REASONING = {"switch", "adaptive", "effort", "budget", "summary", "show"} | {
    "effort_needs_switch",
    "show_needs_switch",
}
FIELDS = {field.name for field in msgspec.structs.fields(ir.Request)} | {
    f"output_{field.name}" for field in msgspec.structs.fields(ir.OutputFormat)
}


def test_facts_cannot_be_changed():
    with pytest.raises(AttributeError):
        PLAIN.name = "b"


def test_facts_are_given_by_name():
    with pytest.raises(TypeError):
        Surface("a", "/a", {}, "messages")


def test_what_must_be_said_and_what_goes_without_saying():
    needed = {field.name for field in msgspec.structs.fields(Surface) if field.required}
    assert needed == {"name", "path", "settings", "messages", "media"}
    assert PLAIN.messages.content == "content"
    assert PLAIN.tools.kinds == {"function"}
    assert PLAIN.tools.choices == {"auto", "required", "none", "tool"}
    assert PLAIN.system.slot is None


@pytest.mark.parametrize("surface", SURFACES)
def test_settings_are_fields_of_a_request(surface):
    assert surface.settings.keys() <= FIELDS


@pytest.mark.parametrize("surface", SURFACES)
def test_media_are_kinds_and_sources_in_known_places(surface):
    assert surface.media.accepted.keys() <= PLACES
    for kinds in surface.media.accepted.values():
        for kind in kinds:
            medium, _, source = kind.partition(".")
            assert medium in PARTS
            assert not source or source in SOURCES


@pytest.mark.parametrize("surface", SURFACES)
def test_words_are_known_ones(surface):
    assert surface.tools.kinds <= {"function", "custom", "namespace"}
    assert surface.tools.choices <= {
        *("auto", "required", "none", "tool"),
        *("allowed", "allowed.auto", "allowed.required", "any"),
    }
    assert surface.reasoning.controls <= REASONING
    assert surface.outputs <= {"text", "json", "schema"}


@pytest.mark.parametrize("surface", SURFACES)
def test_efforts_are_listed_from_least_to_most(surface):
    order = get_args(ir.Effort)
    assert [word for word in order if word in surface.reasoning.efforts] == list(
        surface.reasoning.efforts
    )
    assert bool(surface.reasoning.efforts) is ("effort" in surface.reasoning.controls)


@pytest.mark.parametrize("surface", SURFACES)
def test_facts_do_not_contradict_each_other(surface):
    assert surface.system.slot is not None or not surface.system.hoisted
    assert surface.cache.marks or surface.cache.max_marks is None
    assert "max_tokens" in surface.settings or not surface.requires_max_tokens
    assert surface.path.startswith("/")


def test_names_are_those_of_the_registry():
    assert [codec.SURFACE.name for codec in PROTOCOLS.values()] == list(PROTOCOLS)
