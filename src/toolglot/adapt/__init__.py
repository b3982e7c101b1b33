"""Adapting: interlingua to interlingua, from what the source said to what the target can say.

Each pass is a function of a value and a `Context`, whose `source` and `target` surfaces tell it
what to do; none tests for a protocol's name. A pass that changes something says so in a note. The
order matters and is written down here: what speaks of places in the source comes before what moves
messages. The passes of an answer are listed in `answers/passes.py`.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from toolglot.adapt.answers.passes import adapt_response
from toolglot.adapt.calls.ids import alias_ids, chooses_ids
from toolglot.adapt.calls.pairing import pair_results
from toolglot.adapt.messages.content import adapt_content, restrict_items
from toolglot.adapt.messages.prompt_cache import adapt_cache_marks
from toolglot.adapt.messages.required_settings import bound_limits, require_limits, require_stream
from toolglot.adapt.messages.settings import (
    adapt_output,
    adapt_sampling,
    bound_temperature,
    drop_settings,
)
from toolglot.adapt.messages.system import drop_attribution, place_system, restrict_roles
from toolglot.adapt.messages.turns import merge_turns
from toolglot.adapt.reasoning.effort import adapt_effort_with_tools, adapt_reasoning
from toolglot.adapt.reasoning.sealed_state import unseal
from toolglot.adapt.tools.definitions import adapt_choice, adapt_tools, limit_tools
from toolglot.adapt.tools.emulated import emulate_tools
from toolglot.adapt.tools.freeform import freeform_to_function
from toolglot.adapt.tools.hosted import map_provider_tools
from toolglot.adapt.tools.names import alias_names, collapse_duplicates
from toolglot.adapt.tools.namespaces import flatten_namespaces
from toolglot.adapt.tools.schemas import narrow_schemas
from toolglot.adapt.tools.tool_rules import apply_rules
from toolglot.context import Context, Options
from toolglot.ir import Request
from toolglot.surface import Surface

RequestPass: TypeAlias = Callable[[Request, Context], Request]

__all__ = ["REQUEST_PASSES", "adapt_request", "adapt_response", "context_of_request"]

REQUEST_PASSES: Final[tuple[RequestPass, ...]] = (
    unseal,
    apply_rules,
    collapse_duplicates,
    flatten_namespaces,
    freeform_to_function,
    map_provider_tools,
    emulate_tools,
    drop_settings,
    adapt_reasoning,
    adapt_sampling,
    bound_temperature,
    adapt_output,
    adapt_tools,
    limit_tools,
    alias_names,
    narrow_schemas,
    adapt_choice,
    adapt_effort_with_tools,
    alias_ids,
    adapt_content,
    pair_results,
    drop_attribution,
    place_system,
    merge_turns,
    require_limits,
    bound_limits,
    require_stream,
    adapt_cache_marks,
)

EMULATING_PASSES: Final[tuple[RequestPass, ...]] = (
    unseal,
    collapse_duplicates,
    flatten_namespaces,
    freeform_to_function,
    map_provider_tools,
    emulate_tools,
)
"""What a request needs that stays in its protocol and whose tools are described as text."""

TOOL_RESTRICTIONS: Final[tuple[RequestPass, ...]] = (
    flatten_namespaces,
    freeform_to_function,
    map_provider_tools,
    limit_tools,
)
RENAMED_TOOLS: Final[tuple[RequestPass, ...]] = (alias_names, adapt_choice)
REASONING_RESTRICTIONS: Final[tuple[RequestPass, ...]] = (adapt_reasoning, adapt_sampling)
RESTRICTIONS: Final[tuple[RequestPass, ...]] = (
    drop_settings,
    bound_temperature,
    adapt_effort_with_tools,
    alias_ids,
    restrict_items,
    restrict_roles,
    bound_limits,
)
"""What a request needs that stays in its protocol, for a provider that accepts less of that: in
this order. Those in the middle run only where tools were replaced, or reasoning is restricted."""


def adapt_request(request: Request, ctx: Context) -> Request:
    """A request as the target can take it."""
    for adapt in (*ctx.options.passes, *REQUEST_PASSES):
        request = adapt(request, ctx)
    if ctx.declared is None:
        ctx.declared = request.tools
    return request


def emulate_tools_only(request: Request, ctx: Context) -> Request:
    """A request that stays in its protocol, with its tools described as text."""
    for adapt in EMULATING_PASSES:
        request = adapt(request, ctx)
    return request


def restrict_request(request: Request, ctx: Context) -> Request:
    """A request that stays in its protocol, as its provider accepts it: the same object if the
    provider accepts all of it.
    """
    source, target = ctx.surfaces
    if target is source:
        return request
    declared = request.tools
    request = _through(TOOL_RESTRICTIONS, request, ctx)
    rules = target.tools.choices, target.tools.name_rule
    if request.tools is not declared or rules != (source.tools.choices, source.tools.name_rule):
        request = _through(RENAMED_TOOLS, request, ctx)
    if target.schema != source.schema:
        request = narrow_schemas(request, ctx)
    if target.outputs != source.outputs:
        request = adapt_output(request, ctx)
    if target.cache != source.cache:
        request = adapt_cache_marks(request, ctx)
    if target.reasoning != source.reasoning:
        request = _through(REASONING_RESTRICTIONS, request, ctx)
    request = _through(RESTRICTIONS, request, ctx)
    if ctx.declared is None:
        ctx.declared = request.tools
    return request


def adapt_in_protocol(request: Request, ctx: Context) -> Request:
    """A request that stays in its protocol, for a provider that may be stricter than that."""
    request = apply_rules(request, ctx)
    if ctx.options.emulated_dialect is not None:
        return restrict_request(emulate_tools_only(request, ctx), ctx)
    request = unseal(request, ctx)
    if ctx.options.attribution == "drop":
        request = drop_attribution(request, ctx)
    if chooses_ids(ctx.options):
        request = alias_ids(request, ctx)
    return restrict_request(request, ctx)


def _through(passes: tuple[RequestPass, ...], request: Request, ctx: Context) -> Request:
    for adapt in passes:
        request = adapt(request, ctx)
    return request


def context_of_request(
    request: Request, client: Surface, provider: Surface, options: Options
) -> Context:
    """The context after adapting this request of a client: the tools as the provider knows them,
    and what is to be undone in the answer.
    """
    ctx = Context(options, source=client, target=provider)
    adapt = adapt_in_protocol if ctx.in_protocol else adapt_request
    adapt(request, ctx)
    return ctx
