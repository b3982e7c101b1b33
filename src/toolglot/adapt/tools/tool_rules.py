"""Tool rules applied: filtering, renaming, mapping parameters, guidance.

Calls of a filtered tool that a model makes anyway reach the client, as the kind of tool that it
declared, and are kept in the history.
"""

import re
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from toolglot.adapt.tools.freeform import freeform_to_function
from toolglot.adapt.tools.hosted import map_provider_tools
from toolglot.adapt.tools.namespaces import flatten_namespaces
from toolglot.context import Context
from toolglot.errors import UntranslatableError
from toolglot.ir import (
    FunctionTool,
    Json,
    Message,
    Part,
    ProviderTool,
    Request,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from toolglot.receipt import Note
from toolglot.rules import PRESETS, ToolRules
from toolglot.undo import UndoStep
from toolglot.wire import jsontext


def apply_rules(request: Request, ctx: Context) -> Request:
    """Apply the rules to the tools of a request."""
    if ctx.options.rules is None:
        return request
    rules = rules_of(ctx)
    request = _check_repeats(request, rules, ctx)
    filtered = {name for tool in request.tools if rules.filters(name := name_of(tool))}
    request = _filter(request, filtered, rules, ctx)
    return _rename(request, rules, ctx)


def rules_of(ctx: Context) -> ToolRules:
    """The rules of a translation, by value or by the name of a preset."""
    rules = ctx.options.rules
    if isinstance(rules, str):
        if rules not in PRESETS:
            raise ValueError(
                f"there is no preset of rules named {rules!r}; known: {', '.join(PRESETS)}"
            )
        return PRESETS[rules]
    return rules or ToolRules()


def name_of(tool: Tool) -> str:
    """What a tool is called; a provider's own tool by its type."""
    return tool.type if isinstance(tool, ProviderTool) else tool.name


# --- filtering ------------------------------------------------------------------------------------


def _filter(request: Request, filtered: set[str], rules: ToolRules, ctx: Context) -> Request:
    if not filtered:
        return request
    paths = []
    for index, tool in enumerate(request.tools):
        if name_of(tool) in filtered:
            words = f"{name_of(tool)} is not sent to the target"
            ctx.note("rule-applied", ctx.tool_at(index), words)
        else:
            paths.append(ctx.tool_at(index))
    ctx.tool_paths = tuple(paths)
    _keep_kinds(tuple(tool for tool in request.tools if name_of(tool) in filtered), ctx)
    request = replace(
        request,
        tools=tuple(tool for tool in request.tools if name_of(tool) not in filtered),
        tool_choice=_choice(request.tool_choice, filtered, ctx),
    )
    if not request.tools and request.tool_choice is not None:
        request = replace(request, tool_choice=None)
    if rules.clean:
        request = _cleaned(request, filtered, ctx)
    return _guided(request, filtered, rules, ctx)


def _keep_kinds(tools: tuple[Tool, ...], ctx: Context) -> None:
    """What calls of filtered tools are for the client: what they would be if they were declared."""
    tools = tuple(tool for tool in tools if not isinstance(tool, FunctionTool))
    if not tools:
        return
    source, target = ctx.surfaces
    aside = Context(ctx.options, source=source, target=target)
    request = Request(model="", messages=(), tools=tools)
    for adapt in (flatten_namespaces, freeform_to_function, map_provider_tools):
        request = adapt(request, aside)
    for name, steps in aside.undo.tools.items():
        ctx.undo.tools.setdefault(name, steps)


def _choice(choice: ToolChoice | None, filtered: set[str], ctx: Context) -> ToolChoice | None:
    if choice is None or filtered.isdisjoint(choice.names):
        return choice
    kept = tuple(name for name in choice.names if name not in filtered)
    ctx.note("choice-mapped", ctx.setting("tool_choice"), "it names a tool that a rule removes")
    return replace(choice, names=kept) if kept else ToolChoice(mode="auto")


def _guided(request: Request, filtered: set[str], rules: ToolRules, ctx: Context) -> Request:
    declared = {name_of(tool) for tool in request.tools}
    texts = (rules.guidance_for(name, declared) for name in rules.guidance if name in filtered)
    words = "\n".join(filter(None, texts))
    if not words:
        return request
    ctx.note("rule-applied", ctx.setting("system"), "guidance was put before the system text")
    guidance = Text(text=words)
    if request.system is not None:
        system = replace(request.system, parts=(guidance, *request.system.parts))
        return replace(request, system=system)
    lead = Message(role="system", parts=(guidance,))
    return replace(request, messages=(lead, *request.messages))


# --- cleaning -------------------------------------------------------------------------------------

_SENTENCE = re.compile(r"[^\S\n]*[^.!?\n]*[.!?]+(?=\s|$)|[^\S\n]*[^.!?\n]+")
"""A sentence, or what there is of one in a line, with the blanks before it."""


def _cleaned(request: Request, filtered: set[str], ctx: Context) -> Request:
    """Remove the sentences that mention a filtered tool from system text, and nothing else."""
    mention = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(filtered)))})(?!\w)")

    def clean(message: Message, path: str) -> Message:
        if message.role not in ("system", "developer"):
            return message
        parts = tuple(_clean_part(part, mention, path, ctx) for part in message.parts)
        return message if parts == message.parts else replace(message, parts=parts)

    system = clean(request.system, ctx.setting("system")) if request.system else None
    messages = tuple(clean(each, ctx.at(index)) for index, each in enumerate(request.messages))
    return replace(request, system=system, messages=messages)


def _clean_part(part: Part, mention: re.Pattern[str], path: str, ctx: Context) -> Part:
    if not isinstance(part, Text) or not mention.search(part.text):
        return part
    kept = _SENTENCE.sub(lambda found: "" if mention.search(found[0]) else found[0], part.text)
    ctx.note("rule-applied", path, "sentences about a filtered tool were removed")
    return replace(part, text=kept)


# --- renaming tools and parameters ----------------------------------------------------------------


def _rename(request: Request, rules: ToolRules, ctx: Context) -> Request:
    if not (rules.rename or rules.parameters):
        return request
    tools = tuple(
        _renamed_tool(tool, ctx.tool_at(index), rules, ctx)
        for index, tool in enumerate(request.tools)
    )
    messages = tuple(_renamed_message(message, rules) for message in request.messages)
    choice = request.tool_choice
    if choice is not None:
        names = tuple(rules.rename.get(name, name) for name in choice.names)
        choice = replace(choice, names=names)
    renamed = replace(request, tools=tools, messages=messages, tool_choice=choice)
    return request if renamed == request else renamed


def _renamed_tool(tool: Tool, path: str, rules: ToolRules, ctx: Context) -> Tool:
    name = name_of(tool)
    new, mapping = rules.rename.get(name, name), rules.parameters.get(name, {})
    if isinstance(tool, ProviderTool) or (new == name and not mapping):
        return tool
    ctx.note(
        "rule-applied",
        path,
        f"{name} is called {new} at the target" if new != name else "parameters mapped",
    )
    back = {after: before for before, after in mapping.items()}
    undo = (lambda text: map_arguments(text, back)) if back else None
    ctx.undo.tool(new, UndoStep(name=name, arguments=undo))
    if isinstance(tool, FunctionTool) and mapping and tool.parameters:
        tool = replace(tool, parameters=_mapped_schema(tool.parameters, mapping))
    return replace(tool, name=new)


def _mapped_schema(schema: Json, mapping: Mapping[str, str]) -> Json:
    mapped = dict(schema)
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, dict):
        mapped["properties"] = {mapping.get(key, key): value for key, value in properties.items()}
    if isinstance(required, list):
        mapped["required"] = [mapping.get(key, key) for key in required]
    return mapped


def _renamed_message(message: Message, rules: ToolRules) -> Message:
    if not any(isinstance(part, (ToolCall, ToolResult)) for part in message.parts):
        return message
    return replace(message, parts=tuple(_renamed_part(part, rules) for part in message.parts))


def _renamed_part(part: Part, rules: ToolRules) -> Part:
    if isinstance(part, ToolCall):
        mapping = rules.parameters.get(part.name)
        arguments = map_arguments(part.arguments, mapping) if mapping else part.arguments
        return replace(part, name=rules.rename.get(part.name, part.name), arguments=arguments)
    if isinstance(part, ToolResult) and part.name is not None:
        return replace(part, name=rules.rename.get(part.name, part.name))
    return part


def map_arguments(text: str, mapping: Mapping[str, str]) -> str:
    """Arguments with their top-level keys renamed; what is no object is unchanged, and so is a key
    whose new name another one has.
    """
    try:
        value: Any = jsontext.decode(text)
    except ValueError:
        return text
    if not isinstance(value, dict) or mapping.keys().isdisjoint(value):
        return text
    named = {key: new for key, new in mapping.items() if new not in value}
    return jsontext.text({named.get(key, key): each for key, each in value.items()})


# --- repeated calls -------------------------------------------------------------------------------


def _check_repeats(request: Request, rules: ToolRules, ctx: Context) -> Request:
    if rules.repeat_warning is None and rules.repeat_limit is None:
        return request
    count, call = _repeats(request)
    if call is None:
        return request
    words = f"{call.name} was called {count} times in a row with the same arguments"
    where = ctx.source.messages.path if ctx.source else ""
    if rules.repeat_limit is not None and count >= rules.repeat_limit:
        raise UntranslatableError((Note("call-repeated", "unsupported", where, words),))
    if rules.repeat_warning is None or count < rules.repeat_warning:
        return request
    *earlier, last = request.messages
    if not any(isinstance(part, ToolResult) for part in last.parts):
        ctx.note("call-repeated", where, words)
        return request
    ctx.note("call-repeated", where, f"{words}; the model is told so")
    warned = replace(last, parts=(*last.parts, Text(text=_WARNING.format(words))))
    return replace(request, messages=(*earlier, warned))


_WARNING = "{}, and will get the same result. Do something else, or answer with what is known."


def _repeats(request: Request) -> tuple[int, ToolCall | None]:
    """How often the last call was made in a row."""
    calls = [part for each in request.messages for part in each.parts if isinstance(part, ToolCall)]
    count = 0
    for call in reversed(calls):
        if (call.name, call.arguments) != (calls[-1].name, calls[-1].arguments):
            break
        count += 1
    return count, calls[-1] if calls else None
