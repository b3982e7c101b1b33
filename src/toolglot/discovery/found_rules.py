"""What a server was seen to refuse or ignore, as facts for its rules in `toolglot.toml`."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from toolglot.discovery.probe_findings import NO_TOOLS
from toolglot.discovery.result import DiscoveryResult
from toolglot.registry import get_protocol
from toolglot.surface import Surface

_Facts: TypeAlias = Iterator[tuple[str, Any]]
_NO: Final = ("refused",)
_INEFFECTIVE: Final = ("refused", "ignored")


def found_rules(result: DiscoveryResult) -> dict[str, Any]:
    """Facts about what the server accepts, by their dotted names, as `rules` of a provider takes
    them. What was not seen is not in it, and what was accepted may have been ignored. What the
    server said in words counts before what was seen.
    """
    if not result.protocol:
        return {}
    surface = get_protocol(result.protocol).SURFACE
    seen = {name: value for read in _READERS for name, value in read(result, surface)}
    dropped = {*seen.get(_DROPPED, ()), *result.rules.get(_DROPPED, ())}
    return {**seen, **result.rules, **({_DROPPED: sorted(dropped)} if dropped else {})}


_DROPPED: Final = "sampling.dropped"


def _kinds(result: DiscoveryResult, _surface: Surface) -> _Facts:
    if result.get("custom") in NO_TOOLS:  # some servers fail with a 500 there
        yield "tools.kinds", ["function"]
        yield "tools.own", []


def _choices(result: DiscoveryResult, surface: Surface) -> _Facts:
    refused = {
        choice
        for subject, choice in (("required", "required"), ("named", "tool"))
        if result.get(subject) in _INEFFECTIVE
    }
    if refused:
        yield "tools.choices", sorted(surface.tools.choices - refused - {"allowed", "any"})


def _strict(result: DiscoveryResult, _surface: Surface) -> _Facts:
    if result.get("strict") in _NO:
        yield "tools.strict_default", "any"
        yield "tools.explicit_strict", False


def _schemas(result: DiscoveryResult, _surface: Surface) -> _Facts:
    if result.get("schemas") in _NO:
        yield "schema.tools", "openapi"


def _single(result: DiscoveryResult, _surface: Surface) -> _Facts:
    if result.get("single") in _NO:
        yield "sampling.dropped", ["parallel_tool_calls"]


def _outputs(result: DiscoveryResult, surface: Surface) -> _Facts:
    if result.get("output") in _NO:
        yield "outputs", sorted(surface.outputs - {"schema"})


def _ids(result: DiscoveryResult, _surface: Surface) -> _Facts:
    if result.get("foreign-ids") in _NO:  # ids of this form were accepted
        yield "calls.id_rule", {"chars": "a-zA-Z0-9", "least": 9, "most": 9}


def _roles(result: DiscoveryResult, surface: Surface) -> _Facts:
    if surface.system.developer_role and result.get("developer") in _NO:
        yield "system.developer_role", False


def _limit(result: DiscoveryResult, surface: Surface) -> _Facts:
    if (name := result.get("limit")) in surface.limits.spellings:
        yield "limits.name", name


_READERS: Final[tuple[Callable[[DiscoveryResult, Surface], _Facts], ...]] = (
    _kinds,
    _choices,
    _strict,
    _schemas,
    _single,
    _outputs,
    _ids,
    _roles,
    _limit,
)


def to_rule_lines(rules: Mapping[str, Any], write: Callable[[Any], str]) -> Iterator[str]:
    """Lines of TOML for facts; `write` gives the text of a plain value."""
    for name, value in rules.items():
        if isinstance(value, Mapping):
            given = {key: each for key, each in value.items() if each is not None}
            inner = ", ".join(f"{key} = {write(each)}" for key, each in given.items())
            yield f'"{name}" = {{ {inner} }}'
        else:
            yield f'"{name}" = {write(value)}'
