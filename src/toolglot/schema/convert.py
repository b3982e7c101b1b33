"""Arguments between two schemas: the one that the client declared, and the one that was sent.

A `Plan` comes with a narrowed schema and says only what differs: which texts stand for other
values, which members were made nullable because they could not be left out, and where the whole
was wrapped. It is as deep as the schema, at most, so that walking it is bounded whatever the
arguments are.
"""

from typing import Any, Final

from toolglot.errors import DecodeError
from toolglot.schema.keywords import same_value
from toolglot.wire import jsontext

WRAPPED: Final = "value"
"""The member that holds arguments that are no object."""


class Plan:
    """What differs at one place."""

    __slots__ = (
        "active",
        "fill",
        "items",
        "keeps",
        "labels",
        "members",
        "names",
        "null",
        "order",
        "renamed",
        "rest",
        "wrap",
    )

    def __init__(self) -> None:
        self.labels: dict[str, Any] | None = None
        """Texts and the values that they stand for."""
        self.names: dict[tuple[str, Any], str] | None = None
        """The same the other way round."""
        self.members: dict[str, Plan] = {}
        self.rest: Plan | None = None
        """For members that the schema does not name."""
        self.items: Plan | None = None
        self.null: frozenset[str] = frozenset()
        """Members whose null means that they are not there."""
        self.keeps: frozenset[str] = frozenset()
        """Members whose null is a value."""
        self.fill = True
        """Whether members that are not there are sent as null."""
        self.order: tuple[str, ...] = ()
        """The names of all members."""
        self.wrap = False
        self.renamed: dict[str, str] = {}
        """Members that have other names for the provider, by the client's."""
        self.active = False

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return self.active

    def done(self) -> "Plan":
        """The plan, once all below it are done."""
        below = (self.items, self.rest, *self.members.values())
        self.active = bool(self.wrap or self.labels or self.null or self.renamed or any(below))
        return self

    def with_names(self, renamed: dict[str, str]) -> "Plan":
        """The same plan for members that have other names besides."""
        plan = Plan()
        for slot in self.__slots__:
            setattr(plan, slot, getattr(self, slot))
        plan.renamed = renamed
        return plan.done()


def merged(plans: list[Plan]) -> Plan:
    """One plan for a place that has one of several schemas; only what holds for all of them."""
    if len(plans) == 1:
        return plans[0]
    plan = Plan()
    plan.fill = sum(bool(each.order) for each in plans) == 1 and all(each.fill for each in plans)
    plan.keeps = frozenset().union(*(each.keeps for each in plans))
    plan.null = frozenset().union(*(each.null for each in plans)) - plan.keeps
    plan.order = tuple(dict.fromkeys(name for each in plans for name in each.order))
    for name in plan.order:
        below = [each.members[name] for each in plans if name in each.members]
        if below:
            plan.members[name] = merged(below)
    items = [each.items for each in plans if each.items is not None]
    plan.items = merged(items) if items else None
    return plan.done()


def widen(plan: Plan, value: Any) -> Any:
    """The client's value from the provider's; the same object if nothing differs."""
    if plan.wrap and type(value) is dict and value.keys() == {WRAPPED}:
        value = value[WRAPPED]
        plan = plan.members.get(WRAPPED) or Plan()
    if type(value) is str and plan.labels is not None:
        return plan.labels.get(value, value)
    if type(value) is list and plan.items:
        return _each(value, plan.items, widen)
    if type(value) is dict:
        if plan.renamed:
            names = {sent: name for name, sent in plan.renamed.items()}
            value = {names.get(name, name): item for name, item in value.items()}
        return _members(value, plan, widen, plan.null)
    return value


def send(plan: Plan, value: Any) -> Any:
    """The provider's value from the client's; the reverse of `widen`."""
    if plan.wrap:
        inner = plan.members.get(WRAPPED)
        return {WRAPPED: send(inner, value) if inner else value}
    if plan.labels is not None:
        return _label(plan, plan.labels, value)
    if type(value) is list and plan.items:
        return _each(value, plan.items, send)
    if type(value) is dict:
        sent = _members(value, plan, send, frozenset())
        if plan.fill and not plan.null <= sent.keys():
            sent = _filled(sent, plan)
        renamed = plan.renamed
        return {renamed.get(name, name): item for name, item in sent.items()} if renamed else sent
    return value


def _filled(value: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """Members in the order of the schema, with null for those that are not there."""
    filled = {name: value.get(name) for name in plan.order if name in value or name in plan.null}
    return filled | value


def _each(value: list[Any], plan: Plan, convert: Any) -> list[Any]:
    new = [convert(plan, item) for item in value]
    return value if all(a is b for a, b in zip(new, value, strict=True)) else new


def _members(
    value: dict[str, Any], plan: Plan, convert: Any, absent: frozenset[str]
) -> dict[str, Any]:
    new: dict[str, Any] = {}
    same = True
    for name, item in value.items():
        if item is None and name in absent:
            same = False
            continue
        below = plan.members.get(name)
        if below is None and plan.rest and name not in plan.order:
            below = plan.rest
        new[name] = convert(below, item) if below else item
        same = same and new[name] is item
    return value if same else new


def _label(plan: Plan, labels: dict[str, Any], value: Any) -> Any:
    if plan.names is None:
        plan.names = {same_value(meant): label for label, meant in reversed(labels.items())}
    return plan.names.get(same_value(value), value)


# --- as texts ------------------------------------------------------------------------------------


class Texts:
    """The same for arguments as JSON text. What cannot be read stays as it is."""

    __slots__ = ("_plan",)

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def widen(self, text: str) -> str:
        """The client's arguments from the provider's."""
        return self._convert(text, widen)

    def send(self, text: str) -> str:
        """The provider's arguments from the client's."""
        return self._convert(text, send)

    def _convert(self, text: str, convert: Any) -> str:
        try:
            value = jsontext.decode(text)
        except DecodeError:
            return text
        new = convert(self._plan, value)
        return text if new is value else jsontext.text(new)
