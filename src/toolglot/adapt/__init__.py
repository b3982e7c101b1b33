"""Adapting: interlingua to interlingua, from what the source said to what the target can say.

Each pass is a function of a value and a `Context`, whose `source` and `target` surfaces tell it
what to do; none tests for a protocol's name. A pass that changes something says so in a note. The
order matters and is written down here: what speaks of places in the source comes before what moves
messages. The passes of an answer are listed in `answers/passes.py`.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from msgspec.structs import replace

from toolglot.adapt.answers.passes import adapt_response
from toolglot.adapt.calls.arguments import require_objects
from toolglot.adapt.calls.ids import alias_ids, chooses_ids
from toolglot.adapt.calls.pairing import pair_results
from toolglot.adapt.messages.blank_text import fill_blanks
from toolglot.adapt.messages.content import adapt_content, restrict_content
from toolglot.adapt.messages.prompt_cache import adapt_cache_marks, restrict_cache_marks
from toolglot.adapt.messages.required_settings import (
    bound_limits,
    drop_zero_limit,
    require_limits,
    require_stream,
)
from toolglot.adapt.messages.settings import (
    adapt_output,
    adapt_sampling,
    bound_settings,
    bound_temperature,
    drop_settings,
    require_json_word,
)
from toolglot.adapt.messages.system import drop_attribution, place_system, restrict_roles
from toolglot.adapt.messages.turn_order import (
    adapt_prefill,
    require_messages,
    require_user_first,
)
from toolglot.adapt.messages.turns import merge_turns
from toolglot.adapt.messages.unknown_members import drop_unknown_members
from toolglot.adapt.reasoning.earlier_reasoning import restrict_reasoning_history
from toolglot.adapt.reasoning.effort import adapt_effort_with_tools, adapt_reasoning
from toolglot.adapt.reasoning.sealed_state import unseal
from toolglot.adapt.tools.definitions import (
    adapt_choice,
    adapt_tools,
    declare_called_tools,
    limit_strict,
    limit_tools,
    require_schemas,
    restrict_details,
    unify_strict,
)
from toolglot.adapt.tools.emulated import emulate_tools
from toolglot.adapt.tools.freeform import freeform_to_function
from toolglot.adapt.tools.hosted import map_provider_tools
from toolglot.adapt.tools.names import alias_names, collapse_duplicates
from toolglot.adapt.tools.namespaces import flatten_namespaces
from toolglot.adapt.tools.schemas import narrow_schemas
from toolglot.adapt.tools.tool_rules import apply_rules
from toolglot.context import Context, Options
from toolglot.ir import Request
from toolglot.surface import LimitSupport, SamplingSupport, Surface, differences, once_per_pair

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
    drop_zero_limit,
    adapt_reasoning,
    adapt_sampling,
    bound_temperature,
    bound_settings,
    adapt_output,
    adapt_tools,
    limit_tools,
    alias_names,
    narrow_schemas,
    limit_strict,
    unify_strict,
    adapt_choice,
    adapt_effort_with_tools,
    alias_ids,
    require_objects,
    adapt_content,
    fill_blanks,
    pair_results,
    drop_attribution,
    place_system,
    merge_turns,
    restrict_reasoning_history,
    require_messages,
    require_user_first,
    adapt_prefill,
    declare_called_tools,
    require_json_word,
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

_SCHEMAS: Final = (
    "schema.booleans schema.enforced schema.formats schema.member_rule schema.object_root "
    "schema.output schema.spelled_out schema.strict schema.tools"
)
"""All facts of schemas but `output_object`, which a client of the protocol knows of itself."""

RESTRICTIONS: Final[tuple[tuple[str, RequestPass], ...]] = (
    ("tools.kinds tools.own", flatten_namespaces),
    ("tools.kinds tools.own", freeform_to_function),
    ("tools.kinds tools.own tools.hosted_alone", map_provider_tools),
    ("tools.most", limit_tools),
    ("tools.strict_default cache.marks", restrict_details),
    ("tools.needs_schema", require_schemas),
    ("tools.name_rule REPLACED", alias_names),
    (_SCHEMAS, narrow_schemas),
    ("tools.most_strict schema.most_optional schema.most_unions", limit_strict),
    ("tools.same_strict", unify_strict),
    ("limits.least", drop_zero_limit),
    ("reasoning", adapt_reasoning),
    ("reasoning", adapt_sampling),
    ("tools.choices reasoning.bars_forced_tools reasoning.controls REPLACED", adapt_choice),
    ("sampling.dropped", drop_settings),
    ("known_keys messages.known_keys", drop_unknown_members),
    ("sampling.temperature", bound_temperature),
    ("sampling", bound_settings),
    ("outputs tools.outputs tools.forced_with_output", adapt_output),
    ("tools.effort", adapt_effort_with_tools),
    ("calls.id_rule", alias_ids),
    ("calls.object_arguments", require_objects),
    ("messages.items media cache.marks", restrict_content),
    ("reasoning.history", restrict_reasoning_history),
    ("messages.blank_text", fill_blanks),
    ("system", restrict_roles),
    ("messages.alternate", merge_turns),
    ("messages.user_first", require_user_first),
    ("messages.prefill messages.prefill_mark", adapt_prefill),
    ("json_needs_word", require_json_word),
    ("requires_max_tokens", require_limits),
    ("limits", bound_limits),
    ("cache", restrict_cache_marks),
)
"""What a request needs that stays in its protocol, for a provider that accepts less of that: the
facts, or groups of facts, that a pass enforces, in this order. A pass runs where the provider
differs in one of them; `REPLACED`: also where tools were replaced before."""

_IDLE: Final[Mapping[RequestPass, Callable[[Surface, Surface], bool]]] = {
    flatten_namespaces: lambda source, _: "namespace" not in source.tools.kinds,
    freeform_to_function: lambda source, _: "custom" not in source.tools.kinds,
    drop_zero_limit: lambda source, _: source.limits.zero_counts,
    adapt_sampling: lambda _, target: not target.reasoning.bars_sampling,
    bound_temperature: lambda _, target: target.sampling.temperature is None,
    bound_settings: lambda _, target: (
        replace(target.sampling, temperature=None, dropped=frozenset()) == SamplingSupport()
    ),
    limit_tools: lambda _, target: target.tools.most is None,
    alias_names: lambda _, target: target.tools.name_rule is None,
    limit_strict: lambda _, target: (
        target.tools.most_strict is None
        and target.schema.most_optional is None
        and target.schema.most_unions is None
    ),
    adapt_effort_with_tools: lambda _, target: target.tools.effort == "keep",
    fill_blanks: lambda _, target: target.messages.blank_text,
    drop_attribution: lambda source, _: not source.system.attributions,
    restrict_reasoning_history: lambda _, target: target.reasoning.history == "kept",
    require_user_first: lambda _, target: not target.messages.user_first,
    adapt_prefill: lambda _, target: target.messages.prefill == "kept",
    declare_called_tools: lambda _, target: not target.tools.needed_by_history,
    require_json_word: lambda _, target: not target.json_needs_word,
    require_limits: lambda _, target: not target.requires_max_tokens,
    bound_limits: lambda _, target: (
        replace(target.limits, name=None, spellings=(), zero_counts=False) == LimitSupport()
    ),
    require_stream: lambda source, target: source.stream.by_default == target.stream.by_default,
    adapt_cache_marks: lambda _, target: not target.cache.marks,
}
"""Where a pass has nothing to do, whatever is asked. It is left out there: about half of all passes
for most pairs, and a tenth of the time of a request."""


@once_per_pair
def active_passes(source: Surface, target: Surface) -> tuple[RequestPass, ...]:
    """The passes of `REQUEST_PASSES` that may have something to do."""
    return tuple(
        each
        for each in REQUEST_PASSES
        if (is_idle := _IDLE.get(each)) is None or not is_idle(source, target)
    )


_RESTRICTIONS: Final = tuple((frozenset(facts.split()), adapt) for facts, adapt in RESTRICTIONS)


def adapt_request(request: Request, ctx: Context) -> Request:
    """A request as the target can take it."""
    ctx.place(request.messages)
    for adapt in ctx.options.passes:
        request = adapt(request, ctx)
    for adapt in active_passes(*ctx.surfaces):
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
    declared, differing = request.tools, differences(source, target)
    for facts, adapt in _RESTRICTIONS:
        replaced = request.tools is not declared and "REPLACED" in facts
        if replaced or not facts.isdisjoint(differing):
            request = adapt(request, ctx)
    if ctx.declared is None:
        ctx.declared = request.tools
    return request


def adapt_in_protocol(request: Request, ctx: Context) -> Request:
    """A request that stays in its protocol, for a provider that may be stricter than that."""
    ctx.place(request.messages)
    request = apply_rules(request, ctx)
    if ctx.options.emulated_dialect is not None:
        return restrict_request(emulate_tools_only(request, ctx), ctx)
    request = unseal(request, ctx)
    if ctx.options.attribution == "drop":
        request = drop_attribution(request, ctx)
    if chooses_ids(ctx.options):
        request = alias_ids(request, ctx)
    return restrict_request(request, ctx)


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
