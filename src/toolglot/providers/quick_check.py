"""Whether a request in the provider's own protocol is accepted, seen from its outermost members.

Most requests are, and agents send long ones: they need not be decoded to know that. A check may be
wrong in one direction only: where it cannot tell, it says no, and the request is decoded.
"""

import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import Any, Final, TypeAlias

import msgspec

from toolglot.adapt.messages.settings import adapt_sampling
from toolglot.adapt.reasoning.effort import adapt_reasoning
from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.providers.facts import facts
from toolglot.registry import get_protocol
from toolglot.surface import Surface, differences
from toolglot.wire import jsontext
from toolglot.wire.message import WireRequest

_Members: TypeAlias = Mapping[str, Any]
_ITEMS: Final = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])
_LEADS: Final = frozenset({"system", "developer"})


def is_accepted(body: bytes, source: Surface, target: Surface) -> bool:
    """Whether nothing in a request is restricted; False if only decoding can tell."""
    checks = _checks(differences(source, target))
    if None in checks:
        return False
    try:
        seen = _Outside(jsontext.members(body), target)
        return all(check is not None and check(seen, target) for check in checks)
    except (DecodeError, msgspec.DecodeError, UnicodeError, RecursionError):
        return False


class _Outside:
    """The members of a request, and its messages, as far as the checks need them."""

    def __init__(self, members: _Members, target: Surface) -> None:
        self.members, self._target = members, target

    def value(self, path: str) -> Any:
        """The value at a wire path; None if it is not there."""
        key, _, rest = path.partition(".")
        members = self.members
        value = jsontext.read(members[key]) if key in members else None
        for inner in rest.split(".") if rest else ():
            value = value.get(inner) if isinstance(value, dict) else None
        return value

    def setting(self, field: str) -> Any:
        """The value of a setting; None if it is not there."""
        path = self._target.settings.get(field)
        return self.value(path) if path is not None else None

    @cached_property
    def text(self) -> Any:
        """The JSON of the messages, unread."""
        raw = self.members.get(self._target.messages.path, b"")
        if not isinstance(raw, (bytes, msgspec.Raw)):
            raise DecodeError(self._target.messages.path, "it is written in an odd way")
        return raw

    @cached_property
    def messages(self) -> list[dict[str, msgspec.Raw]]:
        """The messages or items, with their members unread."""
        return _ITEMS.decode(self.text) if _is_list(self.text) else []

    @cached_property
    def roles(self) -> list[str]:
        """Their roles; empty for items that have none."""
        return [_word(each.get("role")) for each in self.messages]

    @cached_property
    def types(self) -> set[str]:
        """The types of items, and of parts of their content."""
        found = set[str]()
        key = self._target.messages.content
        for each in self.messages:
            content = each.get(key, b"")
            found.add(_word(each.get("type")))
            if _is_list(content):
                found.update(_word(part.get("type")) for part in _ITEMS.decode(content))
        return found - {""}

    def has(self, pattern: re.Pattern[bytes]) -> bool:
        """Whether the JSON of the messages has something in it, wherever."""
        return pattern.search(self.text) is not None


_Check: TypeAlias = Callable[[_Outside, Surface], bool]


def _is_list(raw: Any) -> bool:
    return bytes(memoryview(raw)[:1]) == b"["


def _word(value: Any) -> str:
    """A short text of which it matters only which of some words it is."""
    return bytes(value).decode().strip('"') if value is not None else ""


@lru_cache(maxsize=512)
def _checks(differing: frozenset[str]) -> frozenset[_Check | None]:
    """What is to be looked at for the facts in which two surfaces differ; None: look closer."""
    return frozenset(_CHECKS.get(name) for name in facts() if name in differing)


# --- settings -------------------------------------------------------------------------------------


def _limit(seen: _Outside, target: Surface) -> bool:
    limits, members = target.limits, seen.members
    spelled = [key for key in limits.spellings if key in members]
    if len(spelled) > 1 or (limits.name is not None and spelled not in ([], [limits.name])):
        return False
    value = seen.value(spelled[0]) if spelled else seen.setting("max_tokens")
    if value is None:
        return not target.requires_max_tokens
    most = limits.most_whole if limits.most_whole is not None and not seen.value("stream") else None
    return (
        isinstance(value, int)
        and value >= (limits.least or 1)
        and (limits.most is None or value <= limits.most)
        and (most is None or value <= most)
    )


def _temperature(seen: _Outside, target: Surface) -> bool:
    value, allowed = seen.setting("temperature"), target.sampling.temperature
    return allowed is None or _within(value, allowed)


def _ranges(seen: _Outside, target: Surface) -> bool:
    ranges = target.sampling.ranges
    return all(_within(seen.setting(field), allowed) for field, allowed in ranges.items())


def _within(value: Any, allowed: tuple[float, float]) -> bool:
    if value is None:
        return True
    return isinstance(value, (int, float)) and allowed[0] <= value <= allowed[1]


def _one_of_two(seen: _Outside, _target: Surface) -> bool:
    return seen.setting("temperature") is None or seen.setting("top_p") is None


def _stops(seen: _Outside, target: Surface) -> bool:
    given, sampling = seen.setting("stop"), target.sampling
    stops = [given] if isinstance(given, str) else given or []
    few = sampling.most_stops is None or len(stops) <= sampling.most_stops
    return few and (given != []) and all(isinstance(each, str) and each.strip() for each in stops)


def _lengths(seen: _Outside, target: Surface) -> bool:
    return all(
        len(str(seen.setting(field) or "")) <= most
        for field, most in target.sampling.lengths.items()
    )


def _metadata(seen: _Outside, target: Surface) -> bool:
    given, most = seen.setting("metadata"), target.sampling.metadata
    if not isinstance(given, dict):
        return given is None
    return (
        len(given) <= most.get("pairs", len(given))
        and all(len(key) <= most.get("key", len(key)) for key in given)
        and all(isinstance(each, str) for each in given.values())
        and all(len(each) <= most.get("value", len(each)) for each in given.values())
    )


def _user(seen: _Outside, target: Surface) -> bool:
    chars, user = target.sampling.user_chars, seen.setting("user")
    return user is None or (isinstance(user, str) and bool(re.fullmatch(f"[{chars}]+", user)))


def _nothing_renamed(seen: _Outside, target: Surface) -> bool:
    return all(seen.setting(field) is None for field in target.sampling.renamed)


def _nothing_dropped(seen: _Outside, target: Surface) -> bool:
    paths = (target.settings.get(field, field) for field in target.sampling.dropped)
    return all(seen.value(path) is None for path in paths)


def _reasoning(seen: _Outside, target: Surface) -> bool:
    """Whether what is asked of reasoning stays as it is; for that, the settings alone are read."""
    members, settings = seen.members, target.settings
    if not target.reasoning.spellings.isdisjoint(members):
        return False
    asking = {_head(settings[field]) for field in _ASKING if field in settings}
    if asking.isdisjoint(members):
        return True
    heads = asking | {_head(settings[field]) for field in _BESIDE if field in settings}
    body = {key: jsontext.read(members[key]) for key in heads & members.keys()}
    wire = WireRequest(
        body={"model": "m", **body, target.messages.path: []}, path=target.path.format(model="m")
    )
    ctx = Context(source=target, target=target)
    codec = get_protocol(target.name)
    request = codec.decode_request(wire, ctx)
    if adapt_sampling(adapt_reasoning(request, ctx), ctx) is not request:
        return False
    return not target.reasoning.switch or codec.encode_request(request, ctx).body == wire.body


_ASKING: Final = ("reasoning", "output")
"""Settings in whose members reasoning is asked for."""
_BESIDE: Final = ("max_tokens", "temperature", "top_p", "top_k")
"""Settings that it depends on."""


def _head(path: str) -> str:
    return path.partition(".")[0]


def _no_output(seen: _Outside, _target: Surface) -> bool:
    return seen.setting("output") is None


def _no_output_beside_tools(seen: _Outside, target: Surface) -> bool:
    return _no_tools(seen, target) or _no_output(seen, target)


# --- tools ----------------------------------------------------------------------------------------

_CALLS: Final = re.compile(rb"call|tool_|custom|namespace")
_CUSTOM: Final = re.compile(rb"custom|namespace")
_STRICT: Final = re.compile(rb'"strict"')
_MARK: Final = re.compile(rb'"cache_control"')


def _number_of_tools(seen: _Outside, target: Surface) -> bool:
    most, members = target.tools.most, seen.members
    if most is None or "tools" not in members:
        return True
    return len(jsontext.elements(members["tools"])) <= most


def _no_tools(seen: _Outside, _target: Surface) -> bool:
    return "tools" not in seen.members


def _functions_only(seen: _Outside, target: Surface) -> bool:
    """Whether all tools, and all that was called, are functions."""
    known = target.messages.plain_types
    if not known or seen.has(_CUSTOM):
        return False
    tools = seen.members.get("tools")
    if tools is None or not isinstance(tools, msgspec.Raw):
        return tools is None
    return all(_word(tool.get("type")) in known for tool in _ITEMS.decode(tools))


def _alone(seen: _Outside, target: Surface) -> bool:
    """Whether all tools seem to be of one kind, where those of a provider must be alone."""
    tools = seen.members.get("tools")
    if target.tools.hosted_alone != "always" or tools is None:
        return True
    kinds = (frozenset(each) for each in _ITEMS.decode(tools))
    return isinstance(tools, msgspec.Raw) and len(frozenset().union(*kinds)) <= 1


def _free_choice(seen: _Outside, target: Surface) -> bool:
    choice = seen.setting("tool_choice")
    if choice is None:
        return seen.setting("parallel_tool_calls") is None or not _no_tools(seen, target)
    if _no_tools(seen, target) or choice == "none":
        return False
    forced = choice == "required" and target.reasoning.bars_forced_tools != "never"
    return isinstance(choice, str) and choice in target.tools.choices and not forced


def _no_calls(seen: _Outside, target: Surface) -> bool:
    return _no_tools(seen, target) and not seen.has(_CALLS)


def _ids(seen: _Outside, target: Surface) -> bool:
    """Whether no id is too long, where a rule says nothing else of ids."""
    rule = target.calls.id_rule
    if rule is None or rule.most is None or rule.chars is not None:
        return _no_calls(seen, target)
    return not seen.has(_long_id(rule.most))


@cache
def _long_id(most: int) -> re.Pattern[bytes]:
    return re.compile(rb'"(?:tool_call_|call_)?id"\s*:\s*"[^"]{%d,}"' % (most + 1))


def _object_arguments(seen: _Outside, target: Surface) -> bool:
    """Whether the arguments of all calls are texts of objects."""
    for each in seen.messages:
        for call in _ITEMS.decode(each.get(target.calls.member, b"[]")):
            function = jsontext.members(call.get("function", b"{}"))
            text = jsontext.read(function["arguments"]) if "arguments" in function else ""
            if not isinstance(text, str) or not isinstance(msgspec.json.decode(text), dict):
                return False
    return True


def _schemas_present(seen: _Outside, _target: Surface) -> bool:
    """Whether no tool seems to be without a schema."""
    tools = seen.members.get("tools")
    if tools is None or not isinstance(tools, msgspec.Raw):
        return tools is None
    return all(_SCHEMA.search(tool) for tool in jsontext.elements(tools))


_SCHEMA: Final = re.compile(rb'"(?:parameters|input_schema)"\s*:\s*\{\s*"')


def _no_strict(seen: _Outside, _target: Surface) -> bool:
    tools = seen.members.get("tools")
    return tools is None or (isinstance(tools, msgspec.Raw) and not _STRICT.search(tools))


def _no_schemas(seen: _Outside, target: Surface) -> bool:
    return _no_tools(seen, target) and _no_output(seen, target)


# --- messages -------------------------------------------------------------------------------------

_BLANK: Final = re.compile(rb'"(?:\s|\\[nrt])*"|\[\s*\]|null')


def _known_items(seen: _Outside, target: Surface) -> bool:
    plain, known = target.messages.plain_types, target.messages.items
    if not plain or known is None:
        return False
    others = seen.types - plain
    return all(any(fnmatchcase(each, pattern) for pattern in known) for each in others)


def _plain_content(seen: _Outside, target: Surface) -> bool:
    """Whether there is nothing but text; results inside of messages may hold anything."""
    plain = target.messages.plain_types
    return bool(plain) and not target.messages.holds_calls and seen.types <= plain


def _no_marks(seen: _Outside, _target: Surface) -> bool:
    return not any(
        isinstance(each, msgspec.Raw) and _MARK.search(each) for each in seen.members.values()
    )


def _unmarked(seen: _Outside, target: Surface) -> bool:
    """Whether there is no mark, and none would be set."""
    return not target.cache.marks and _no_marks(seen, target)


def _system(seen: _Outside, target: Surface) -> bool:
    roles, support = seen.roles, target.system
    if not target.messages.plain_types:
        return False
    count = 0
    while support.slot is None and count < len(roles) and roles[count] in _LEADS:
        count += 1
    if (support.single and count > 1) or ("developer" in roles and not support.developer_role):
        return False
    restricted = not support.later or support.after_user
    return not restricted or _LEADS.isdisjoint(roles[count:])


def _no_blanks(seen: _Outside, _target: Surface) -> bool:
    return not seen.has(_BLANK)


def _user_first(seen: _Outside, _target: Surface) -> bool:
    first = next((role for role in seen.roles if role not in _LEADS), "")
    return first == "user"


def _alternating(seen: _Outside, _target: Surface) -> bool:
    roles = ["user" if role == "tool" else role for role in seen.roles if role not in _LEADS]
    return all(one != other for one, other in pairwise(roles))


def _no_prefill(seen: _Outside, _target: Surface) -> bool:
    return bool(seen.roles) and seen.roles[-1] not in ("assistant", "")


def _history(seen: _Outside, target: Surface) -> bool:
    """Whether thoughts of earlier turns are where they belong, and nowhere else."""
    calls, support = target.calls.member, target.reasoning
    if not calls:
        return False
    allowed = {support.member} if support.member and support.history != "refused" else set[str]()
    for each in seen.messages:
        if any(key.startswith("reasoning") and key not in allowed for key in each):
            return False
        if support.history == "with_calls" and calls in each and support.member not in each:
            return False
    return True


def _state_beside_calls(seen: _Outside, target: Surface) -> bool:
    """Whether every message with calls seems to have the state that they need."""
    member = target.calls.member
    state = str(target.reasoning.stand_in.get("type", "ignature")).encode() + b'"'
    for each in seen.messages:
        texts = [bytes(value) for value in each.values()]
        called = member in each if member else any(map(_CALL.search, texts))
        if called and not any(state in text for text in texts):
            return False
    return True


_CALL: Final = re.compile(rb'[cC]all"\s*:')


def _known_members(seen: _Outside, target: Surface) -> bool:
    known = target.known_keys
    if known is None:
        return True
    return known.issuperset(seen.members) and not any(map(_is_null, seen.members.values()))


def _known_in_messages(seen: _Outside, target: Surface) -> bool:
    known = target.messages.known_keys
    return known is None or all(map(known.issuperset, seen.messages))


def _is_null(value: Any) -> bool:
    is_raw = isinstance(value, msgspec.Raw)
    return bytes(memoryview(value)[:1]) == b"n" if is_raw else value is None


def _no_dropped_members(seen: _Outside, target: Surface) -> bool:
    """Whether no member has a name that is not accepted there; the texts of long ones tell."""
    members = seen.members
    for path in target.body.dropped:
        first, last = path.partition("[")[0].partition(".")[0], path.rpartition(".")[2]
        if first in members and (first == path or _mentions(members[first], last)):
            return False
    return True


def _mentions(value: Any, key: str) -> bool:
    return f'"{key}"'.encode() in jsontext.encode(value)


_CHECKS: Final[Mapping[str, _Check]] = {
    "outputs": _no_output,
    "json_needs_word": _no_output,
    "known_keys": _known_members,
    "messages.known_keys": _known_in_messages,
    "requires_max_tokens": _limit,
    "messages.alternate": _alternating,
    "messages.blank_text": _no_blanks,
    "messages.items": _known_items,
    "messages.prefill": _no_prefill,
    "messages.prefill_mark": _no_prefill,
    "messages.text_before_calls": lambda _seen, _target: True,
    "messages.user_first": _user_first,
    "system.after_user": _system,
    "system.developer_role": _system,
    "system.later": _system,
    "system.single": _system,
    "calls.id_rule": _ids,
    "calls.object_arguments": _object_arguments,
    "tools.choices": _free_choice,
    "tools.effort": _no_tools,
    "tools.explicit_strict": _no_tools,
    "tools.kinds": _functions_only,
    "tools.forced_with_output": _no_output_beside_tools,
    "tools.hosted_alone": _alone,
    "tools.most": _number_of_tools,
    "tools.most_strict": _no_strict,
    "tools.name_rule": _no_calls,
    "tools.needs_schema": _schemas_present,
    "tools.outputs": _no_output_beside_tools,
    "tools.own": _functions_only,
    "tools.same_strict": _no_strict,
    "tools.strict_default": _no_strict,
    "schema.booleans": _no_schemas,
    "schema.enforced": _no_schemas,
    "schema.formats": _no_schemas,
    "schema.member_rule": _no_schemas,
    "schema.most_optional": _no_strict,
    "schema.most_unions": _no_strict,
    "schema.object_root": _no_schemas,
    "schema.output": _no_schemas,
    "schema.output_object": lambda _seen, _target: True,
    "schema.spelled_out": _no_schemas,
    "schema.strict": _no_schemas,
    "schema.tools": _no_schemas,
    "media.accepted": _plain_content,
    "media.fetches_urls": _plain_content,
    "media.in_failures": _plain_content,
    "media.types": _plain_content,
    "reasoning.bars_forced_tools": _free_choice,
    "reasoning.bars_prefill": _reasoning,
    "reasoning.bars_sampling": _reasoning,
    "reasoning.controls": _reasoning,
    "reasoning.efforts": _reasoning,
    "reasoning.history": _history,
    "reasoning.least_budget": _reasoning,
    "reasoning.member": _history,
    "reasoning.most_budget": _reasoning,
    "reasoning.stand_in": _state_beside_calls,
    "reasoning.switch": _reasoning,
    "cache.marks": _unmarked,
    "cache.max_marks": _no_marks,
    "cache.tools": _no_marks,
    "cache.whole": _no_marks,
    "limits.least": _limit,
    "limits.most": _limit,
    "limits.most_whole": _limit,
    "limits.name": _limit,
    "sampling.blank_stops": _stops,
    "sampling.dropped": _nothing_dropped,
    "sampling.exclusive": _one_of_two,
    "sampling.lengths": _lengths,
    "sampling.metadata": _metadata,
    "sampling.most_stops": _stops,
    "sampling.ranges": _ranges,
    "sampling.renamed": _nothing_renamed,
    "sampling.temperature": _temperature,
    "sampling.user_chars": _user,
    "body.dropped": _no_dropped_members,
    "form.refused_features": lambda _seen, _target: True,
}
"""How to see that a fact restricts nothing; for the others a request is decoded."""
