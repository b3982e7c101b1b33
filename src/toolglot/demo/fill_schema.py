"""Values that conform to a JSON Schema, with words of the prompt where they fit.

A schema gives a lazy row of candidates, the best first; limits that its descriptions tell count as
if they were keywords, since a model would read them. Where the extra `validate` is installed,
the first that conforms is taken; without it the first, which is right for all but odd schemas.
"""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain, count, islice
from typing import Any, Final

from toolglot.demo.flat_schema import (
    FORMATS,
    MOST,
    SAMPLES,
    count_of,
    given,
    has_shape,
    is_command,
    is_number,
    is_within,
    limit,
    member,
    offers,
    pattern_of,
    properties_of,
    reluctance,
    required_of,
    sized,
    types_of,
)
from toolglot.demo.hints import Hints
from toolglot.errors import MissingExtraError
from toolglot.ir import Json
from toolglot.schema.conform import SchemaError, checker
from toolglot.schema.describe import read_told
from toolglot.schema.merge import Flat, References, flatten
from toolglot.schema.openapi import from_openapi

_TRIES: Final = 200
_FEW: Final = 12
_DEEPEST: Final = 12
_FULL: Final = 2
"""How deep objects are tried with all their members."""


def value_of(schema: Json | None, hints: Hints) -> Any:
    """A value that conforms to a schema; an empty object where there is none."""
    known = read_told(from_openapi(schema)) if schema else {"type": "object"}
    maker = _Maker(known, hints)
    best: list[Any] = []
    for value in islice(maker.candidates(known, "", 0, ("#",)), _TRIES):
        if _fits(known, value):
            return value
        best = best or [value]
    return best[0] if best else {}


def _fits(schema: Json, value: Any) -> bool:
    try:
        return not checker(schema).problems(value)
    except (MissingExtraError, SchemaError):
        return True  # nobody can tell


class _Maker:
    """Makes the values of one schema."""

    def __init__(self, root: Json, hints: Hints) -> None:
        self._references = References(root)
        self._shared: Json = {key: root[key] for key in ("$defs", "definitions") if key in root}
        self._hints = hints

    def candidates(
        self, schema: Any, name: str, depth: int, refs: tuple[str, ...]
    ) -> Iterator[Any]:
        """Values for a schema; none if it allows none or goes too deep."""
        flat = flatten(schema, self._references, refs)
        if flat.never or depth > _DEEPEST:
            return
        made = self._candidates(flat, name, depth)
        limits: list[Any] = list(flat.lost)
        if "not" in flat.schema:
            limits.append({"not": flat.schema["not"]})
        yield from filter(partial(self._holds, {"allOf": limits}), made) if limits else made

    def _candidates(self, flat: Flat, name: str, depth: int) -> Iterator[Any]:
        node = flat.schema
        for key in ("anyOf", "oneOf"):
            branches = node.get(key)
            if isinstance(branches, list) and branches:
                rest = {word: held for word, held in node.items() if word != key}
                made = self._branches(rest, branches, name, depth + 1, flat.refs)
                yield from filter(partial(self._is_one, branches), made) if key == "oneOf" else made
                return
        listed = given(node)
        if listed is not None:
            said = [value for value in listed if self._hints.mentions(value)]
            yield from chain(said, (value for value in listed if value not in said))
            return
        kinds = [_KINDS[kind](self, node, name, depth, flat.refs) for kind in types_of(node)]
        yield from _in_turn(kinds)

    def _branches(
        self, rest: Json, branches: list[Any], name: str, depth: int, refs: tuple[str, ...]
    ) -> Iterator[Any]:
        ordered = sorted(branches, key=partial(reluctance, refs=refs))
        makers = [
            self.candidates({"allOf": [rest, branch]} if rest else branch, name, depth, refs)
            for branch in ordered
        ]
        yield from _in_turn(makers)

    def _is_one(self, branches: list[Any], value: Any) -> bool:
        """Whether exactly one of the branches takes a value, as far as anyone can tell."""
        if {"$ref": "#"} in branches:
            return True  # here the root would be another
        try:
            checks = [checker({**self._shared, "allOf": [branch]}) for branch in branches]
        except (MissingExtraError, SchemaError):
            return True
        return sum(not check.problems(value) for check in checks) == 1

    def _holds(self, schema: Any, value: Any) -> bool:
        """Whether a value conforms to a schema inside the whole, as far as anyone can tell."""
        return _fits({**self._shared, "allOf": [schema]}, value)

    # --- by type

    def texts(self, node: Json, name: str, _depth: int, _refs: tuple[str, ...]) -> Iterator[str]:
        """Texts: what the prompt says, then what the schema offers, then anything that fits."""
        about = str(node.get("description", ""))
        offered = [each for each in offers(node) if isinstance(each, str)]
        known = self._hints.found(name, about)
        form = FORMATS.get(str(node.get("format")))
        usual = [form] if form is not None else self._hints.texts(name, about)
        if form is not None:
            known = [each for each in known if has_shape(each, node["format"])]
        pattern = pattern_of(node)
        for each in chain(known, offered, usual, SAMPLES):
            text = sized(each, node)
            if pattern is None or pattern.search(text):
                yield text

    def numbers(
        self, node: Json, _name: str, _depth: int, _refs: tuple[str, ...], *, whole: bool = False
    ) -> Iterator[int | float]:
        """Numbers within the limits."""
        low, high = limit(node, "inimum", max), limit(node, "aximum", min)
        offered = [each for each in offers(node) if is_number(each)]
        usual = [1 + self._hints.variant, 0, low, high, (low or 0) + 1, (high or 0) - 1, 0.5]
        usual += [10, 100, -10]
        if low is not None and high is not None:
            usual.append((low + high) / 2)
        step = node.get("multipleOf")
        for number in chain(self._hints.numbers(), offered, usual):
            if number is None:
                continue
            if is_number(step) and step > 0:
                number = math.ceil(number / step) * step  # noqa: PLW2901 - the next that is one
            if whole:
                number = math.ceil(number)  # noqa: PLW2901
            if is_within(number, node):
                yield number

    def booleans(
        self, node: Json, _name: str, _depth: int, _refs: tuple[str, ...]
    ) -> Iterator[bool]:
        """What the schema offers, or no before yes."""
        yield from dict.fromkeys(
            [each for each in offers(node) if isinstance(each, bool)] + [False, True]
        )

    def nulls(self, *_: object) -> Iterator[None]:
        """Null."""
        yield None

    def lists(
        self, node: Json, name: str, depth: int, refs: tuple[str, ...]
    ) -> Iterator[list[Any]]:
        """Lists that are as short as allowed, but have one item if they may."""
        prefix = node.get("prefixItems")
        prefix = prefix if isinstance(prefix, list) else []
        least = min(count_of(node, "minItems", 0), MOST)
        most = count_of(node, "maxItems", MOST)
        items, wanted = node.get("items", True), node.get("contains")
        if is_command(name, items):
            yield from ([*_SHELL, each] for each in self._hints.texts(name))
        length = min(max(least, len(prefix), 1), most)
        sizes = (least, length) if reluctance(items, refs) > 1 else (length, least)
        for size in dict.fromkeys(sizes):
            schemas = [prefix[at] if at < len(prefix) else items for at in range(size)]
            if wanted is not None and schemas:
                schemas[-1] = {"allOf": [schemas[-1], wanted]}
            yield from self._rows(schemas, name, depth, refs, unique=bool(node.get("uniqueItems")))

    def _rows(
        self, schemas: list[Any], name: str, depth: int, refs: tuple[str, ...], *, unique: bool
    ) -> Iterator[list[Any]]:
        if not schemas:
            yield []
            return
        for skip in range(_FEW):
            row: list[Any] = []
            for schema in schemas:
                made = self.candidates(schema, name, depth + 1, refs)
                value = next(
                    (each for each in islice(made, skip, None) if not unique or each not in row),
                    _MISSING,
                )
                if value is _MISSING:
                    return
                row.append(value)
            yield row

    def objects(self, node: Json, _name: str, depth: int, refs: tuple[str, ...]) -> Iterator[Json]:
        """Objects with all required members, and those that the prompt has something for."""
        names = self._members(node, depth)
        makers = {
            each: partial(self.candidates, member(node, each), each, depth + 1, refs)
            for each in names
        }
        first: Json = {}
        for name, make in makers.items():
            value = next(make(), _MISSING)
            if value is not _MISSING:
                first[name] = value
            elif name in required_of(node):
                return
        yield first
        spare = [name for name in properties_of(node) if name not in first]
        if spare and depth <= _FULL:
            yield first | self._filled(node, spare, depth, refs)
        others = [
            map(partial(_with, first, name), islice(makers[name](), 1, _FEW)) for name in first
        ]
        yield from _in_turn([*others])

    def _filled(self, node: Json, names: list[str], depth: int, refs: tuple[str, ...]) -> Json:
        """The members that an object need not have."""
        made = {
            name: next(self.candidates(member(node, name), name, depth + 1, refs), _MISSING)
            for name in names
        }
        return {name: value for name, value in made.items() if value is not _MISSING}

    def _members(self, node: Json, depth: int) -> list[str]:
        properties = properties_of(node)
        required = required_of(node)
        names = [name for name in properties if name in required]
        names += [name for name in required if name not in properties]
        bound = node.get("dependentRequired")
        if isinstance(bound, dict):
            for name in names:
                names += [each for each in bound.get(name, ()) if each not in names]
        if not names and depth == 0:
            names = [name for name, held in properties.items() if self._is_said(name, held)]
        least = min(count_of(node, "minProperties", 0), MOST)
        spare = chain(properties, (f"demo{number}" for number in count(1)))
        while len(names) < least:
            name = next(spare)
            names += [name] if name not in names else []
        return names

    def _is_said(self, name: str, schema: Any) -> bool:
        held = flatten(schema, self._references).schema
        if "string" not in types_of(held) or "enum" in held:
            return False
        return bool(self._hints.found(name, str(held.get("description", ""))))


def _with(value: Json, name: str, held: Any) -> Json:
    return {**value, name: held}


def _in_turn(makers: list[Iterator[Any]]) -> Iterator[Any]:
    """One value of each before the second of any: where one kind fails, another may do."""
    while makers:
        for maker in list(makers):
            value = next(maker, _MISSING)
            if value is _MISSING:
                makers.remove(maker)
            else:
                yield value


_MISSING: Final = object()
_SHELL: Final = ("bash", "-lc")
_KINDS: Final[Mapping[str, Any]] = {
    "string": _Maker.texts,
    "integer": partial(_Maker.numbers, whole=True),
    "number": _Maker.numbers,
    "boolean": _Maker.booleans,
    "array": _Maker.lists,
    "object": _Maker.objects,
    "null": _Maker.nulls,
}
