"""Tools made of typed Python functions: their schemas, and calling them."""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from toolglot.errors import ToolglotError
from toolglot.ir import FunctionTool, Json

Function = Callable[..., Any] | Callable[..., Awaitable[Any]]

_ARGUMENTS: Final = re.compile(r"^\s*(Args|Arguments|Parameters):\s*$", re.IGNORECASE)
_ARGUMENT: Final = re.compile(r"^\s+\*{0,2}(\w+)(?:\s*\([^)]*\))?\s*:\s*(.+)$")
_SECTION: Final = re.compile(r"^\s*(Returns|Yields|Raises|Examples?|Notes?):\s*$", re.IGNORECASE)


class ToolFunctionError(ToolglotError, TypeError):
    """A function cannot be a tool; says why."""


class ToolFunction(Struct, frozen=True):
    """A function that a model can call."""

    tool: FunctionTool
    function: Function
    arguments: type[Struct]
    """What the arguments of a call are converted to."""

    @property
    def name(self) -> str:
        return self.tool.name

    def call(self, arguments: str) -> Any:
        """What the function returns for the arguments of a call, which may have to be awaited.

        A `msgspec.ValidationError` or `msgspec.DecodeError` if they do not fit.
        """
        given = msgspec.json.decode(arguments.strip() or "{}", type=self.arguments, strict=False)
        return self.function(**{name: getattr(given, name) for name in given.__struct_fields__})


def tool_function(function: Function) -> ToolFunction:
    """The tool that a function is: its name, its docstring, and the types of its parameters."""
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        raise ToolFunctionError(f"{function!r} has no name that a model could call it by")
    summary, described = _read_docstring(inspect.getdoc(function) or "")
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ToolFunctionError(
                f"{name}: a model cannot be told what *{parameter.name} takes; name each parameter"
            )
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise ToolFunctionError(f"{name}: {parameter.name} must be accepted by its name")
        if parameter.name not in hints:
            raise ToolFunctionError(f"{name}: parameter {parameter.name} needs a type")
        kind = _described(hints[parameter.name], described.get(parameter.name))
        default = parameter.default
        fields.append(
            (parameter.name, kind)
            if default is parameter.empty
            else (parameter.name, kind, msgspec.field(default_factory=_always(default)))
        )
    try:
        arguments = msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)
        schema = _schema(arguments, inspect.signature(function))
    except TypeError as error:
        raise ToolFunctionError(f"{name}: {error}") from None
    tool = FunctionTool(name=name, description=summary or None, parameters=schema)
    return ToolFunction(tool, function, arguments)


def _always(value: Any) -> Callable[[], Any]:
    """A default of any type, also one that msgspec would take for a mistake, such as a list."""
    return lambda: value


def _schema(arguments: type[Struct], signature: inspect.Signature) -> Json:
    """The JSON Schema of the arguments, in one piece but for types that are used by name."""
    (_, components) = msgspec.json.schema_components((arguments,), ref_template="#/$defs/{name}")
    schema: dict[str, Any] = components.pop(arguments.__name__)
    schema.pop("title", None)
    schema.pop("additionalProperties", None)
    for name, parameter in signature.parameters.items():
        default = parameter.default
        if default is parameter.empty:
            continue
        try:
            schema["properties"][name]["default"] = msgspec.to_builtins(default)
        except TypeError:
            continue  # A default that JSON cannot say is still used.
    if components:
        schema["$defs"] = components
    return schema


def _described(kind: Any, words: str | None) -> Any:
    """A type with the description of its parameter: that of `Annotated`, else the words given."""
    if get_origin(kind) is Annotated:
        plain = next((each for each in kind.__metadata__ if isinstance(each, str)), None)
        metas = [each for each in kind.__metadata__ if isinstance(each, Meta)]
        if any(each.description for each in metas):
            return kind
        kind, words = (
            Annotated[(kind.__origin__, *metas)] if metas else kind.__origin__,
            plain or words,
        )
    return Annotated[kind, Meta(description=words)] if words else kind


def _read_docstring(text: str) -> tuple[str, Mapping[str, str]]:
    """What comes before the sections of a docstring, and what its `Args:` say of each parameter."""
    lines, described, last = [], dict[str, str](), ""
    section = ""
    for line in text.splitlines():
        if _ARGUMENTS.match(line):
            section, last = "arguments", ""
        elif _SECTION.match(line):
            section = "other"
        elif section == "arguments" and (found := _ARGUMENT.match(line)):
            last = found[1]
            described[last] = found[2].strip()
        elif section == "arguments" and last and line.strip():
            described[last] += " " + line.strip()
        elif not section:
            lines.append(line)
    return "\n".join(lines).strip(), described
