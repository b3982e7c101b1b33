"""Adapting: interlingua to interlingua, from what the source said to what the target can say.

Each pass is a function of a value and a `Context`, whose `source` and `target` surfaces tell it
what to do; none tests for a protocol's name. A pass that changes something says so in a note. The
order matters and is written down here: what speaks of places in the source comes before what moves
messages.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from toolglot.adapt.answers.parts import adapt_answer
from toolglot.adapt.answers.token_scale import scale_usage
from toolglot.adapt.calls.ids import alias_ids, prefix_ids
from toolglot.adapt.calls.pairing import pair_results
from toolglot.adapt.calls.text_calls import promote
from toolglot.adapt.calls.undo_calls import restore
from toolglot.adapt.calls.validate import check_calls
from toolglot.adapt.messages.content import adapt_content
from toolglot.adapt.messages.required_settings import (
    limit_cache_marks,
    require_limits,
    require_stream,
)
from toolglot.adapt.messages.settings import adapt_output, adapt_sampling, drop_settings
from toolglot.adapt.messages.system import drop_attribution, place_system
from toolglot.adapt.messages.turns import merge_turns
from toolglot.adapt.reasoning.effort import adapt_reasoning
from toolglot.adapt.reasoning.kept_state import keep_state
from toolglot.adapt.reasoning.sealed_state import seal, unseal
from toolglot.adapt.tools.definitions import adapt_choice, adapt_tools
from toolglot.adapt.tools.emulated import emulate_tools
from toolglot.adapt.tools.freeform import freeform_to_function
from toolglot.adapt.tools.hosted import map_provider_tools
from toolglot.adapt.tools.names import alias_names, collapse_duplicates
from toolglot.adapt.tools.namespaces import flatten_namespaces
from toolglot.adapt.tools.schemas import narrow_schemas
from toolglot.adapt.tools.tool_rules import apply_rules
from toolglot.context import Context, Options
from toolglot.ir import Request, Response
from toolglot.surface import Surface

RequestPass: TypeAlias = Callable[[Request, Context], Request]
ResponsePass: TypeAlias = Callable[[Response, Context], Response]

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
    limit_cache_marks,
)

EMULATING_PASSES: Final[tuple[RequestPass, ...]] = (
    unseal,
    collapse_duplicates,
    flatten_namespaces,
    freeform_to_function,
    map_provider_tools,
    emulate_tools,
)
"""What a request needs that stays in its protocol and whose tools are told as text."""

RESTORING_PASSES: Final[tuple[ResponsePass, ...]] = (promote, prefix_ids, restore, check_calls)
"""After these, calls are as the client declared them; a user's own passes come next."""

SHOWING_PASSES: Final[tuple[ResponsePass, ...]] = (adapt_answer, keep_state, seal, scale_usage)


def adapt_request(request: Request, ctx: Context) -> Request:
    """A request as the target can take it."""
    for adapt in (*ctx.options.passes, *REQUEST_PASSES):
        request = adapt(request, ctx)
    if ctx.declared is None:
        ctx.declared = request.tools
    return request


def emulate_at_home(request: Request, ctx: Context) -> Request:
    """A request that stays in its protocol, with its tools told as text."""
    for adapt in EMULATING_PASSES:
        request = adapt(request, ctx)
    return request


def adapt_response(response: Response, ctx: Context) -> Response:
    """A response as the target can take it."""
    for adapt in (*RESTORING_PASSES, *ctx.options.response_passes, *SHOWING_PASSES):
        response = adapt(response, ctx)
    return response


def told(request: Request, client: Surface, provider: Surface, options: Options) -> Context:
    """What the provider was told for this request of a client: the tools as it declares them, and
    what is to be undone in the answer.
    """
    ctx = Context(options, source=client, target=provider)
    adapt = emulate_at_home if client is provider else adapt_request
    adapt(request, ctx)
    return ctx
