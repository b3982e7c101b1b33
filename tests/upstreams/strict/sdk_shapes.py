"""Whether JSON has the form that a provider's own SDK declares: its TypedDicts and models.

The types of the installed SDKs are what is compared with; `VERSIONS` names them.
"""

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from typing_extensions import get_type_hints, is_typeddict

VERSIONS: Mapping[str, str] = {
    name: version(name) for name in ("anthropic", "openai", "google-genai", "ollama")
}

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Misfit:
    """Something that the type does not allow."""

    kind: Literal["unknown", "missing", "value", "type"]
    path: Path
    got: Any = None
    allowed: tuple[Any, ...] = ()
    """Values, if the kind is `value`; else what may stand there."""
    inside: str | None = None
    """The `type` of the object around it."""


def misfits(value: Any, kind: Any, path: Path = ()) -> Iterator[Misfit]:
    """Everything in a value that is not as the type says."""
    if kind in (Any, object):
        return
    kinds = _alternatives(kind)
    if len(kinds) > 1:
        yield from _union(value, kinds, path)
    else:
        yield from _single(value, kinds[0], path)


@lru_cache(maxsize=4096)
def _cached_alternatives(kind: Any) -> tuple[Any, ...]:
    if hasattr(kind, "__value__"):  # A name for another type.
        return _cached_alternatives(kind.__value__)
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return tuple(each for arg in get_args(kind) for each in _cached_alternatives(arg))
    if origin is not None and getattr(origin, "__name__", "") in {"Required", "NotRequired"}:
        return _cached_alternatives(get_args(kind)[0])
    if hasattr(kind, "__metadata__"):
        return _cached_alternatives(kind.__origin__)
    return (kind,)


def _alternatives(kind: Any) -> tuple[Any, ...]:
    try:
        return _cached_alternatives(kind)
    except TypeError:
        return (kind,)


def _is_object(kind: Any) -> bool:
    return is_typeddict(kind) or (isinstance(kind, type) and issubclass(kind, BaseModel))


def _is_list(kind: Any) -> bool:
    name = getattr(get_origin(kind), "__name__", "")
    return name in {"list", "List", "Iterable", "Sequence", "SequenceNotStr", "tuple", "set"}


def _is_map(kind: Any) -> bool:
    return get_origin(kind) in (dict, Mapping) or kind is dict


def _union(value: Any, kinds: tuple[Any, ...], path: Path) -> Iterator[Misfit]:
    if Any in kinds or object in kinds:
        return
    if isinstance(value, dict):
        # Beside a TypedDict, a model is that of an answer: the SDK writes what it has read.
        objects = [kind for kind in kinds if is_typeddict(kind)]
        objects = objects or [kind for kind in kinds if _is_object(kind)]
        if not objects:
            if not any(map(_is_map, kinds)):
                yield Misfit("type", path, value, tuple(map(_name, kinds)))
            return
        yield from _best(value, _said(value, objects), path)
        return
    fitting = [kind for kind in kinds if _outer_fit(value, kind)]
    if not fitting:
        allowed = tuple(each for kind in kinds for each in _literals(kind))
        if allowed and isinstance(value, str):
            yield Misfit("value", path, value, allowed)
        else:
            yield Misfit("type", path, value, tuple(map(_name, kinds)))
        return
    yield from min((list(misfits(value, kind, path)) for kind in fitting), key=len)


def _said(value: dict[str, Any], objects: list[Any]) -> list[Any]:
    """The objects that it can be, by what it says of itself."""
    for key in ("type", "role"):
        if isinstance(value.get(key), str):
            named = [kind for kind in objects if value[key] in _tags(kind, key)]
            if named:
                objects = named
    return objects


def _best(value: dict[str, Any], objects: list[Any], path: Path) -> Iterator[Misfit]:
    if len(objects) > 1:
        tags = [tag for kind in objects for tag in _tags(kind, "type")]
        said = value.get("type")
        if (
            said is not None
            and tags
            and said not in tags
            and all(_tags(k, "type") for k in objects)
        ):
            yield Misfit("value", (*path, "type"), said, tuple(dict.fromkeys(tags)))
            return
    found = [list(_object(value, kind, path)) for kind in objects]
    yield from min(found, key=len)


@lru_cache(maxsize=4096)
def _tags(kind: Any, key: str) -> tuple[str, ...]:
    declared = _members(kind).get(key)
    if declared is None:
        return ()
    return tuple(each for one in _alternatives(declared[0]) for each in _literals(one))


def _literals(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) is Literal else ()


def _outer_fit(value: Any, kind: Any) -> bool:
    if kind is type(None):
        return value is None
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if isinstance(value, list):
        return _is_list(kind)
    if isinstance(value, dict):
        return _is_object(kind) or _is_map(kind)
    return _scalar(value, kind)


def _scalar(value: Any, kind: Any) -> bool:
    if value is None:
        return kind is type(None)
    if isinstance(value, bool):
        return kind is bool
    if isinstance(value, (int, float)):
        return kind in (int, float) and (kind is float or float(value).is_integer())
    return isinstance(value, str) and (
        kind in (str, bytes)
        or getattr(kind, "__name__", "") in {"datetime", "date", "Base64FileInput"}
        or (isinstance(kind, type) and issubclass(kind, str))
    )


def _name(kind: Any) -> str:
    if kind is type(None):
        return "null"
    if _is_list(kind):
        return "an array"
    if _is_object(kind) or _is_map(kind):
        return "an object"
    return {str: "a string", int: "an integer", float: "a decimal", bool: "a boolean"}.get(
        kind, getattr(kind, "__name__", str(kind))
    )


def _single(value: Any, kind: Any, path: Path) -> Iterator[Misfit]:
    if _is_object(kind):
        if isinstance(value, dict):
            yield from _object(value, kind, path)
        else:
            yield Misfit("type", path, value, ("an object",))
    elif _is_list(kind):
        if not isinstance(value, list):
            yield Misfit("type", path, value, ("an array",))
            return
        for index, each in enumerate(value):
            yield from misfits(each, get_args(kind)[0], (*path, index))
    elif _is_map(kind):
        if not isinstance(value, dict):
            yield Misfit("type", path, value, ("an object",))
            return
        inner = get_args(kind)
        for key, each in value.items() if inner else ():
            yield from misfits(each, inner[1], (*path, key))
    elif get_origin(kind) is Literal:
        if value not in get_args(kind):
            yield Misfit("value", path, value, get_args(kind))
    elif not _known_scalar(kind) or _scalar(value, kind):
        return
    else:
        yield Misfit("type", path, value, (_name(kind),))


def _known_scalar(kind: Any) -> bool:
    return kind in (str, int, float, bool, bytes, type(None))


def _object(value: dict[str, Any], kind: Any, path: Path) -> Iterator[Misfit]:
    members, said = _members(kind), value.get("type")
    inside = said if isinstance(said, str) else None
    for key, each in value.items():
        declared = members.get(key)
        if declared is None:
            yield Misfit("unknown", (*path, key), each, tuple(members), inside)
        elif not (each is None and _lenient(kind)):
            yield from misfits(each, declared[0], (*path, key))
    for key, (_, required) in members.items():
        if required and key not in value:
            yield Misfit("missing", (*path, key), inside=inside)


def _lenient(kind: Any) -> bool:
    """Whether null stands for nothing: in protobuf's JSON it does."""
    return not is_typeddict(kind)


@cache
def _members(kind: Any) -> Mapping[str, tuple[Any, bool]]:
    """The members of an object by their names on the wire: type, and whether it is required."""
    if is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=True)
        return {_alias(hint) or name: (hint, _is_required(hint)) for name, hint in hints.items()}
    found: dict[str, tuple[Any, bool]] = {}
    for name, declared in kind.model_fields.items():
        found[name] = found[declared.alias or name] = (declared.annotation, False)
    return found


def _is_required(hint: Any) -> bool:
    """Whether a member must be there; `__required_keys__` does not know where hints are texts."""
    return (
        getattr(get_origin(hint), "__name__", getattr(get_origin(hint), "_name", "")) == "Required"
    )


def _alias(hint: Any) -> str | None:
    """The name on the wire, where an SDK has another one in Python."""
    for each in getattr(hint, "__metadata__", ()):
        if alias := getattr(each, "alias", None):
            return str(alias)
    return next((_alias(arg) for arg in get_args(hint) if hasattr(arg, "__metadata__")), None)
