"""The facts of a surface that a rule or a user may change, by their dotted names."""

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from types import NoneType
from typing import Any, Final, get_args, get_type_hints

from msgspec import ValidationError, convert, to_builtins
from msgspec.structs import replace

from toolglot.providers.fact_values import value_problem
from toolglot.surface import Surface

ANY: Final = "any"
"""In place of a value: there is no restriction."""

_CHANGEABLE: Final = (
    "outputs",
    "json_needs_word",
    "known_keys",
    "requires_max_tokens",
    "messages.alternate",
    "messages.blank_text",
    "messages.items",
    "messages.known_keys",
    "messages.prefill",
    "messages.prefill_mark",
    "messages.text_before_calls",
    "messages.user_first",
    "system.after_user",
    "system.developer_role",
    "system.later",
    "system.single",
    "calls.id_rule",
    "calls.object_arguments",
    "tools.choices",
    "tools.effort",
    "tools.explicit_strict",
    "tools.forced_with_output",
    "tools.hosted_alone",
    "tools.kinds",
    "tools.most",
    "tools.most_strict",
    "tools.name_rule",
    "tools.needs_schema",
    "tools.outputs",
    "tools.own",
    "tools.same_strict",
    "tools.strict_default",
    "schema.booleans",
    "schema.enforced",
    "schema.formats",
    "schema.member_rule",
    "schema.most_optional",
    "schema.most_unions",
    "schema.object_root",
    "schema.output",
    "schema.output_object",
    "schema.spelled_out",
    "schema.strict",
    "schema.tools",
    "media.accepted",
    "media.fetches_urls",
    "media.in_failures",
    "media.types",
    "reasoning.bars_forced_tools",
    "reasoning.bars_prefill",
    "reasoning.bars_sampling",
    "reasoning.controls",
    "reasoning.efforts",
    "reasoning.history",
    "reasoning.least_budget",
    "reasoning.member",
    "reasoning.most_budget",
    "reasoning.stand_in",
    "reasoning.switch",
    "reasoning.takes_unsigned",
    "cache.marks",
    "cache.max_marks",
    "cache.tools",
    "cache.whole",
    "limits.least",
    "limits.most",
    "limits.most_whole",
    "limits.name",
    "sampling.blank_stops",
    "sampling.dropped",
    "sampling.exclusive",
    "sampling.lengths",
    "sampling.metadata",
    "sampling.most_stops",
    "sampling.ranges",
    "sampling.renamed",
    "sampling.temperature",
    "sampling.user_chars",
    "body.dropped",
    "form.adds",
    "form.leaves_out",
    "form.path",
    "form.refused_features",
    "form.stream_path",
)
"""What a provider may accept less of; the other facts are the form of the protocol itself."""


@cache
def facts() -> Mapping[str, Any]:
    """All facts that can be changed, with their types."""
    return dict(_facts())


def _facts() -> Iterator[tuple[str, Any]]:
    for name in _CHANGEABLE:
        group, _, fact = name.rpartition(".")
        holder: Any = get_type_hints(Surface)[group] if group else Surface
        yield name, get_type_hints(holder)[fact]


def read_fact(name: str, value: Any) -> Any:
    """The value of a fact as the surface has it; a `ValueError` says what is wrong with it."""
    kind = facts().get(name)
    if kind is None:
        meant = get_close_matches(name, facts(), n=1)
        raise ValueError("there is no such fact" + (f"; perhaps {meant[0]}?" if meant else ""))
    if value == ANY and NoneType in get_args(kind):
        return None
    try:
        read = convert(value, kind)
    except ValidationError as error:
        raise ValueError(str(error).partition(" - at `$")[0]) from None
    problem = value_problem(name, read)
    if problem is not None:
        raise ValueError(problem)
    return read


def flatten(table: Mapping[str, Any]) -> dict[str, Any]:
    """Facts by their dotted names, also where the names came as tables inside of tables."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping) and key not in facts():
            flat |= flatten({f"{key}.{inner}": each for inner, each in value.items()})
        else:
            flat[key] = value
    return flat


def with_facts(
    surface: Surface,
    changes: Mapping[str, Any],
    combine: Callable[[Any, Any], Any] = lambda _old, new: new,
) -> Surface:
    """The surface with other facts; `combine` gets the old and the new value of each."""
    for name, value in changes.items():
        group, _, fact = name.rpartition(".")
        holder: Any = getattr(surface, group) if group else surface
        made = replace(holder, **{fact: combine(getattr(holder, fact), read_fact(name, value))})
        surface = replace(surface, **{group: made}) if group else made
    return surface


def plain_fact(surface: Surface, name: str) -> Any:
    """The value of a fact as a user would write it."""
    group, _, fact = name.rpartition(".")
    value = getattr(getattr(surface, group) if group else surface, fact)
    if value is None:
        return ANY
    plain = to_builtins(value)
    if isinstance(value, frozenset):
        return sorted(plain)
    return list(plain) if isinstance(plain, tuple) else plain
