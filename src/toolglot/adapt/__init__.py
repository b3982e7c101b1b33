"""Adapting: interlingua to interlingua, from what the source said to what the target can say.

Each pass is a function of a value and a `Context`, whose `source` and `target` surfaces tell it
what to do; none tests for a protocol's name. A pass that changes something says so in a note. The
order matters and is written down here: what speaks of places in the source comes before what moves
messages. The passes of an answer are listed in `answers/passes.py`.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from toolglot.adapt.answers.passes import adapt_response
from toolglot.adapt.calls.ids import alias_ids
from toolglot.adapt.calls.pairing import pair_results
from toolglot.adapt.messages.content import adapt_content
from toolglot.adapt.messages.prompt_cache import adapt_cache_marks
from toolglot.adapt.messages.required_settings import require_limits, require_stream
from toolglot.adapt.messages.settings import adapt_output, adapt_sampling, drop_settings
from toolglot.adapt.messages.system import drop_attribution, place_system
from toolglot.adapt.messages.turns import merge_turns
from toolglot.adapt.reasoning.effort import adapt_reasoning
from toolglot.adapt.reasoning.sealed_state import unseal
from toolglot.adapt.tools.definitions import adapt_choice, adapt_tools
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
    adapt_output,
    adapt_tools,
    alias_names,
    narrow_schemas,
    adapt_choice,
    alias_ids,
    adapt_content,
    pair_results,
    drop_attribution,
    place_system,
    merge_turns,
    require_limits,
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


def context_of_request(
    request: Request, client: Surface, provider: Surface, options: Options
) -> Context:
    """The context after adapting this request of a client: the tools as the provider knows them,
    and what is to be undone in the answer.
    """
    ctx = Context(options, source=client, target=provider)
    adapt = emulate_tools_only if client is provider else adapt_request
    adapt(request, ctx)
    return ctx
