"""The surface of a protocol: what it can say, as data.

Adapting passes read these facts instead of testing for names, so that a protocol is described in
one place and a new one needs no change elsewhere.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import Any, Final, Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from toolglot.hosted_tools import ClientTool, HostedTool
from toolglot.ir import ErrorKind, Json

Teller: TypeAlias = Callable[[Json], tuple[str, str]]
"""Says of a part what it is, and what is in it; nothing, if that cannot be said."""


class IdentifierRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which texts are taken as an id or as a name. Every rule takes letters and digits of ASCII."""

    chars: str | None = None
    """The characters it may have, as in a regular expression between brackets; None: any."""

    first: str | None = None
    """The same for the first character, where that is more restricted."""

    least: int = 1
    most: int | None = None


ID_RULES: Final[Mapping[str, IdentifierRule]] = {
    # "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9", says Mistral's API
    # (https://github.com/anomalyco/opencode/issues/1680).
    "mistral": IdentifierRule(chars="a-zA-Z0-9", least=9, most=9),
}
"""Rules of providers that are stricter than the protocol they speak, by the name that the option
`id_rule` and the profiles use."""


class MessageSupport(Struct, frozen=True, kw_only=True):
    """Where messages stand and how turns are built."""

    path: str
    """Wire path of the messages."""

    content: str = "content"
    """Wire key of the parts of a message."""

    bare_forms: frozenset[str] = frozenset({""})
    """The wire forms of messages that have one text as it is, and not in a list."""

    answer_path: str = ""
    """Wire path of what has the parts of an answer, with `{}` for the number of the choice."""

    merges_turns: bool = False
    """Consecutive messages of one role are one turn, and are written so."""

    ordered: bool = True
    """A message keeps the order of its texts, reasoning and calls."""

    text_before_calls: bool = False
    """In a message of the model, no text follows the last call; in its own protocol, clients see to
    that themselves."""

    calls_last: bool = False
    """Clients may put the calls of a message behind everything else in it."""

    holds_calls: bool = False
    """Calls, results and reasoning stand among the content of a message, not beside it."""

    many_choices: bool = False
    """A response may hold several choices."""

    items: frozenset[str] | None = None
    """Types of parts that only this protocol has, and that are accepted; None: any."""

    known_keys: frozenset[str] | None = None
    """All members that a message may have; None: any."""

    plain_types: frozenset[str] = frozenset()
    """Types of items and parts that are texts, functions, their calls and results; none: they have
    no types."""

    refusal: str = ""
    """The member of a message that has a refusal, where that is no part of its content."""

    names: bool = False
    """A message may have a name: of whoever wrote it."""

    blank_text: bool = True
    """A text may be empty or white space."""

    alternate: bool = False
    """Messages of one role must not follow each other; those of the user and results count as one
    role."""

    user_first: bool = False
    """The first message must be the user's."""

    prefill: Literal["kept", "trimmed", "refused"] = "kept"
    """What becomes of a last message that begins the answer: it stays, must not end in white space,
    or is refused."""

    prefill_mark: str = ""
    """The member that marks the beginning of an answer, where that is refused without."""


class SystemSupport(Struct, frozen=True, kw_only=True):
    """Where system text may stand."""

    attributions: tuple[str, ...] = ()
    """How a text before the system text begins by which its clients name themselves to its
    provider."""

    slot: str | None = None
    """Wire path of the one place for system text outside the messages, if there is one."""

    content: str = ""
    """Wire key of its parts in that place; none: they are all that stands there."""

    hoisted: bool = False
    """Leading system messages belong in that place."""

    later: bool = True
    """System text may stand between other messages."""

    after_user: bool = False
    """System text between messages must follow the user's, and precede the model's or end them."""

    single: bool = False
    """There is one system message at most."""

    developer_role: bool = False
    """There is a role `developer` beside `system`."""


class CallSupport(Struct, frozen=True, kw_only=True):
    """Calls and results: ids, arguments, order."""

    member: str = ""
    """The member of a message that has its calls, where they do not stand among its content."""

    result: str = "content"
    """Wire path of the content of a result, below the result."""

    result_text: str = ""
    """The same for its text, where that stands apart."""

    matched_by: Literal["id", "name"] = "id"
    """How results find their calls."""

    made_up_prefix: str = "call_"
    """How ids of calls begin; made-up ones keep to it."""

    id_prefix: str | None = None
    """How ids begin where prefixes are asked for; None: there is no custom."""

    id_rule: IdentifierRule | None = None
    """The ids of calls that it takes; None: any."""

    results_in_order: bool = False
    """Results must stand in the order of their calls, and say the name of the tool."""

    signatures: bool = False
    """Calls and texts have a place for reasoning state of their own."""

    arguments: Literal["text", "object"] = "text"
    """How arguments are written."""

    object_arguments: bool = False
    """The arguments of earlier calls must be the text of a JSON object."""

    stops: frozenset[str] = frozenset()
    """The words by which an answer says that it stops for calls; none: it need not say so."""


class ToolSupport(Struct, frozen=True, kw_only=True):
    """Tools that can be declared, and tool choice."""

    name_rule: IdentifierRule | None = None
    """The names of tools that it takes; None: any."""

    kinds: frozenset[str] = frozenset({"function"})
    """Tool kinds beside its own provider tools: function, custom, namespace."""

    member: str = ""
    """Where a declared function has its name, schema and the rest, with a dot; none: in itself."""

    hosted: tuple[HostedTool, ...] = ()
    """Tools of its own that the provider runs, and that other protocols have, too."""

    own: frozenset[str] | None = None
    """Types of tools that only this protocol has, and that are accepted; None: any."""

    most: int | None = None
    """How many tools a request may declare; None: any number."""

    effort: Literal["keep", "drop", "none"] = "keep"
    """What becomes of the effort of reasoning where functions are declared: it stays, must not be
    said, or must be said to be `none`."""

    hosted_alone: Literal["never", "translated", "always"] = "never"
    """Whether it takes tools of its own only where no functions are declared: never, unless its own
    clients say how, or always."""

    outputs: frozenset[str] | None = None
    """Output formats that are accepted where tools are declared; None: all."""

    forced_with_output: bool = True
    """A tool can be forced where an output format is asked for."""

    most_strict: int | None = None
    """How many tools may be strict; None: any number."""

    choices: frozenset[str] = frozenset({"auto", "required", "none", "tool"})
    """Tool choices; `allowed` means that auto and required can be narrowed to names,
    `allowed.required` that only required can, `any` that it is another word for required."""

    needs_schema: bool = False
    """A function must have a schema, also if it takes nothing."""

    needed_by_history: bool = False
    """Tools must be declared where the history has calls or results."""

    same_strict: bool = False
    """All functions must be strict, or none."""

    explicit_strict: bool = False
    """Whether a tool is strict should be said: servers take silence for different things."""

    examples: bool = False
    """A tool can have examples of its arguments."""

    defers: bool = False
    """A tool can be left to a search for tools."""

    strict_default: bool | None = False
    """What a tool without `strict` means; None: the protocol has no such field."""

    lists_all_required: bool = False
    """Its clients tend to list every parameter as required, optional ones too."""

    wants_true_required: bool = False
    """A model behind it must fill every parameter that is listed as required."""


class SchemaSupport(Struct, frozen=True, kw_only=True):
    """The subsets of JSON Schema that it takes."""

    tools: str = ""
    """The subset of JSON Schema that tools are declared in; none: any JSON Schema."""

    strict: str = ""
    """The subset where `strict` is asked for."""

    output: str = ""
    """The subset of schemas for structured output."""

    formats: frozenset[str] | None = None
    """The formats that its schemas may name; None: any."""

    most_optional: int | None = None
    """How many optional parameters all strict tools may have; None: any number."""

    most_unions: int | None = None
    """How many parameters of all strict tools may have one of several types; None: any number."""

    booleans: bool = True
    """Schemas inside a tool's may be `true` or `false`."""

    enforced: bool = False
    """Its clients send other schemas than it takes: those of requests that stay in the protocol are
    rewritten, too."""

    object_root: bool = False
    """A tool's schema is an object at its top, and no union around one."""

    spelled_out: bool = False
    """A tool's schema has `properties` at its top, and every list has `items`, if only empty."""

    member_rule: IdentifierRule | None = None
    """The names of a tool's parameters that it takes; None: any."""

    output_object: bool = False
    """Structured output, too, is an object at its top."""

    openapi: bool = False
    """Its clients may write schemas as OpenAPI does."""


class MediaSupport(Struct, frozen=True, kw_only=True):
    """Media and citations in messages."""

    accepted: Mapping[str, frozenset[str]]
    """What may stand in which place (`user`, `assistant`, `result`, `system`), as `kind` or
    `kind.source`.
    """

    types: Mapping[str, frozenset[str]] = {}
    """Media types that are accepted of a kind given inline (`image`, `document`, `audio`), with
    wildcards; other kinds: any."""

    in_failures: bool = True
    """The result of a call that failed may hold more than text."""

    fields: frozenset[str] = frozenset({"name"})
    """What can be said of a medium: its `name`, the `detail` in which to look at it, the media type
    of what is behind a URL (`url_type`)."""

    paths: Mapping[str, str] = {}
    """Where those stand in a part, if not under their own names."""

    member: str = ""
    """The member of a message that has its media, where they do not stand among its content."""

    fetches_urls: bool = True
    """It fetches what a URL points to, wherever that is."""

    citations: frozenset[str] = frozenset()
    """Citation shapes that it carries natively."""


class ReasoningSupport(Struct, frozen=True, kw_only=True):
    """How reasoning is asked for, and which state must come back."""

    empty_states: frozenset[str] = frozenset()
    """What its clients write in the place of state that they do not have."""

    foreign_prefix: str = ""
    """How another provider's state begins on the wire, where it is not written as it is."""

    controls: frozenset[str] = frozenset()
    """How reasoning can be asked for: switch (on or off), adaptive, effort, budget; whether one can
    choose a summary, and to show it. `effort_needs_switch`: an effort alone does not turn it on;
    `show_needs_switch`: what is shown can be said only together with the switch."""

    switch: str = ""
    """The member in which it is turned on and off, where servers of the protocol have several;
    none: as the client spelled it."""

    spellings: frozenset[str] = frozenset()
    """All members in which servers of the protocol are asked to reason, beside its own."""

    bars_forced_tools: Literal["never", "with_budget", "when_on", "unless_off"] = "never"
    """When no tool can be forced: while reasoning has a budget, while it is on, or unless it is
    off, for models that reason by default."""

    bars_prefill: bool = False
    """Reasoning cannot be on while the last message is the beginning of the answer."""

    bars_sampling: bool = False
    """Temperature and the like cannot be chosen while reasoning is on."""

    budget_needs_thoughts: bool = False
    """With a budget, a turn that goes on after its calls must begin with what was thought."""

    least_budget: int = 0
    """The smallest budget of tokens for reasoning."""

    most_budget: int | None = None
    """The largest budget; None: any."""

    efforts: tuple[str, ...] = ()
    """The efforts that it knows, from least to most."""

    effort_path: str = ""
    """Wire path of the effort, where it is not beside the rest."""

    returns_words: bool = True
    """Its clients send the words of reasoning back as they came, and not joined in another way."""

    takes_unsigned: bool = False
    """It takes readable reasoning that carries no state."""

    history: Literal["kept", "refused", "with_calls"] = "kept"
    """Whether earlier thoughts may be sent back, must not be, or must be wherever calls follow
    them."""

    member: str = ""
    """The member of a message in which their words are sent back, where there are several; none: as
    the client spelled it."""

    stand_in: Mapping[str, str | int] = {}
    """The state that stands for one that is missing beside calls, where they need some; the id of
    the first call is added. None: they need none."""

    signed: bool = False
    """It takes reasoning back only with the signature that it came with."""


class StreamSupport(Struct, frozen=True, kw_only=True):
    """How streams are framed, and what its clients need of them."""

    media_type: str = "text/event-stream"
    """The media type of a stream."""

    whole_calls: bool = False
    """Its streams have every call in one piece."""

    array: bool = False
    """Its streams are one JSON array, unless `alt=sse` is asked for."""

    keep_alive: bytes = b""
    """Bytes in a stream that say nothing, and that its clients take as a sign of life."""

    errors_inside: frozenset[ErrorKind] = frozenset()
    """Errors that its clients understand only inside a stream, if they asked for one."""

    comments: bool = True
    """Its clients read over comments in a stream."""

    retried_error: ErrorKind | None = None
    """The kind of error after which its clients ask again, told when an answer breaks off."""

    cut_leaves_part_open: bool = False
    """Its clients ask again for an answer that breaks off only if its last part is still open."""

    one_open_part: bool = False
    """In a stream, a part ends before the next one starts."""

    by_default: bool = False
    """Whether an answer is streamed when the request does not say."""

    usage_event: bytes | None = None
    """The event that has usage and nothing else, as a regular expression that matches its
    beginning, where a stream has one only if it is asked for."""


class CacheSupport(Struct, frozen=True, kw_only=True):
    """Marks for the provider's prompt cache."""

    marks: bool = False
    """It takes them; tools may have them then."""

    tools: bool = True
    """Tools may have them, too, where it takes them."""

    apart: bool = False
    """A mark is an element of its own, behind what it marks."""

    whole: str = ""
    """The member that marks a whole request, up to its last part; none: there is none."""

    parts: frozenset[str] = frozenset(
        {"text", "image", "document", "audio", "tool_call", "tool_result"}
    )
    """The kinds of parts that may have them as well."""

    max_marks: int | None = None
    """How many marks a request may have."""


class LimitSupport(Struct, frozen=True, kw_only=True):
    """The limit of tokens of an answer."""

    name: str | None = None
    """Its wire key, where the protocol has several; None: as the client spelled it."""

    spellings: tuple[str, ...] = ()
    """All wire keys that it may have, where there are several."""

    least: int | None = None
    """The least limit; a smaller one is raised to it."""

    most: int | None = None
    """The highest limit; a higher one is lowered to it."""

    most_whole: int | None = None
    """The highest limit of an answer that is not streamed."""

    zero_counts: bool = False
    """A limit of 0 asks for no answer; elsewhere it means that there is no limit."""


class SamplingSupport(Struct, frozen=True, kw_only=True):
    """Settings that a provider or model does not accept although its protocol has them."""

    temperature: tuple[float, float] | None = None
    """The least and the highest temperature; None: any."""

    ranges: Mapping[str, tuple[float, float]] = {}
    """The least and the highest value of other settings, by their names in the interlingua."""

    exclusive: bool = False
    """A temperature and `top_p` exclude each other."""

    most_stops: int | None = None
    """How many stop sequences there may be; None: any number."""

    blank_stops: bool = True
    """Stop sequences may be white space."""

    lengths: Mapping[str, int] = {}
    """The longest text of a setting that names somebody or something, by its name in the
    interlingua."""

    metadata: Mapping[str, int] = {}
    """How many `pairs` metadata may have, and how long a `key` and a `value` may be."""

    user_chars: str | None = None
    """The characters that the name of a user may have, as in a regular expression between brackets;
    None: any."""

    renamed: Mapping[str, str] = {}
    """Wire keys of settings that have other names than in the protocol, by their names in the
    interlingua."""

    dropped: frozenset[str] = frozenset()
    """Settings that are not accepted, by their names in the interlingua, or else on the wire."""


class FormSupport(Struct, frozen=True, kw_only=True):
    """How a provider wants requests to be sent, where that is not its protocol's own way."""

    path: str | None = None
    """Where requests go, in place of the protocol's path; `{model}` is filled in."""

    stream_path: str | None = None
    """The same for requests that ask for a stream."""

    leaves_out: frozenset[str] = frozenset()
    """Members that are not written, because the path says the same."""

    adds: Mapping[str, str] = {}
    """Members that are written with every request."""

    refused_features: frozenset[str] = frozenset()
    """Names of features, in the headers by which clients choose some, that are not accepted; with
    wildcards."""


class BodySupport(Struct, frozen=True, kw_only=True):
    """Members of a request that a provider does not accept, wherever they stand."""

    dropped: frozenset[str] = frozenset()
    """Their wire paths, with `[]` for every element of a list: `messages[].name`."""


class Surface(Struct, frozen=True, kw_only=True):
    """Facts about one protocol. Fields are named as in the interlingua, paths as on the wire."""

    name: str

    path: str
    """Where requests go, below the base URL; `{model}` is filled in."""

    model_keys: tuple[str, ...] = ("model",)
    """The members in which a body may name the model, the usual one first."""

    model_collection: bool = False
    """Whether a body names the collection of the model too, as its path does: `models/NAME`."""

    model_at: tuple[str, ...] = ("model",)
    """Where an answer, or an event of a stream, names its model."""

    answer: Mapping[str, str] = {}
    """What an answer says of itself beside its id and model: interlingua field to wire path."""

    answer_members: Mapping[str, str] = {}
    """Where an answer says why it stopped, what it used and so on: the same for `id`, `choices`,
    `stop`, `sequence` (that stopped it), `usage`, `logprobs` and `citations` (if they stand apart
    from the text), with `{}` for the number of the choice. Empty: it does not say that."""

    models: str = "/v1/models"
    """Where it lists its models."""

    headers: frozenset[str] = frozenset()
    """Headers by which its clients choose something."""

    account_headers: frozenset[str] = frozenset()
    """Those by which they choose whose account is charged: only whoever has the key may."""

    query: frozenset[str] = frozenset()
    """Parameters of a query that its clients send to choose a form, whoever's the key is."""

    settings: Mapping[str, str]
    """Settings of a request that it carries: interlingua field to wire path."""

    client_tools: tuple[ClientTool, ...] = ()
    """Tools of its own that the client runs."""

    found_tools: Mapping[str, str] = {}
    """Parts that name a tool which a search has found, by type: the member with its name."""

    told: Mapping[str, Teller] = {}
    """Parts that no other protocol has, by type: what others are told of them."""

    outputs: frozenset[str] = frozenset({"text", "json", "schema"})
    """Output formats that it can be asked for."""

    known_keys: frozenset[str] | None = None
    """All members that a request may have, where others are refused; None: any."""

    json_needs_word: bool = False
    """JSON without a schema is given only where a message has the word."""

    requires_max_tokens: bool = False
    """A request must give a token limit."""

    answer_form_marks: tuple[bytes, ...] = ()
    """Bytes without which all requests have answers of one form; see `ir.Request.answer_form`."""

    newest_form_marks: tuple[bytes, ...] = ()
    """Bytes in an answer that clients of an earlier form cannot read."""

    earlier_keys: frozenset[str] = frozenset()
    """Wire keys that point to turns which the provider keeps; calls may stand there."""

    template_keys: frozenset[str] = frozenset()
    """Wire keys that name messages which the provider keeps as a template."""

    minor: frozenset[str] = frozenset()
    """Wire keys that mean nothing outside the protocol: their loss is no loss of meaning."""

    implied: Mapping[str, Any] = {}
    """Wire keys with the value that their absence means, too."""

    messages: MessageSupport
    system: SystemSupport = SystemSupport()
    calls: CallSupport = CallSupport()
    tools: ToolSupport = ToolSupport()
    schema: SchemaSupport = SchemaSupport()
    media: MediaSupport
    reasoning: ReasoningSupport = ReasoningSupport()
    stream: StreamSupport = StreamSupport()
    cache: CacheSupport = CacheSupport()
    limits: LimitSupport = LimitSupport()
    sampling: SamplingSupport = SamplingSupport()
    form: FormSupport = FormSupport()
    body: BodySupport = BodySupport()


_WAYS: Final[Mapping[str, frozenset[str]]] = {
    "effort": frozenset({"effort", "switch", "effort_needs_switch"}),
    "adaptive": frozenset({"adaptive", "effort", "switch", "effort_needs_switch"}),
    "budget": frozenset({"budget", "switch"}),
    "switch": frozenset({"budget", "switch"}),
}
"""How the reasoning of a model can be asked for, by what is known about it."""

_SHOWING: Final = frozenset({"show", "show_needs_switch", "summary"})


def with_reasoning(surface: Surface, kind: str | None, efforts: tuple[str, ...] | None) -> Surface:
    """The surface as far as a model goes with it, by how its reasoning is asked for."""
    known = surface.reasoning
    ways, kept = known.controls, known.efforts
    if kind == "none":
        ways = frozenset()
    elif kind is not None:
        taken = ways & _WAYS[kind]
        # Where nothing would be left, the protocol has one way for models of all kinds.
        ways = taken | (ways & _SHOWING) if taken else ways
    if efforts:
        kept = tuple(each for each in kept if each in efforts) or kept
        if kind == "effort" and "none" not in efforts and "effort_needs_switch" not in ways:
            ways -= {"switch"}  # it always reasons
    if (ways, kept) == (known.controls, known.efforts):
        return surface
    return replace(surface, reasoning=replace(known, controls=ways, efforts=kept))


class _Pair:
    """Two surfaces as a key of a cache: the same if they are the same objects."""

    __slots__ = ("one", "other")

    def __init__(self, one: Surface, other: Surface) -> None:
        self.one, self.other = one, other

    def __hash__(self) -> int:
        return hash((id(self.one), id(self.other)))

    def __eq__(self, value: object) -> bool:
        return isinstance(value, _Pair) and self.one is value.one and self.other is value.other


_T = TypeVar("_T")


def once_per_pair(make: Callable[[Surface, Surface], _T]) -> Callable[[Surface, Surface], _T]:
    """Compute once what depends on nothing but two surfaces, which are known by their identity."""
    known: dict[tuple[int, int], tuple[Surface, Surface, _T]] = {}

    @wraps(make)
    def found(one: Surface, other: Surface) -> _T:
        entry = known.get((id(one), id(other)))
        if entry is None:
            if len(known) >= _MOST_PAIRS:
                known.clear()
            # Both are kept as well, or others might get their places in memory.
            entry = known[id(one), id(other)] = one, other, make(one, other)
        return entry[2]

    return found


_MOST_PAIRS: Final = 512


def differences(one: Surface, other: Surface) -> frozenset[str]:
    """The dotted names of the facts in which two surfaces differ, and those of their groups."""
    return frozenset() if one is other else _differences(_Pair(one, other))


@lru_cache(maxsize=512)
def _differences(pair: _Pair) -> frozenset[str]:
    names = set[str]()
    for name in Surface.__struct_fields__:
        mine, others = getattr(pair.one, name), getattr(pair.other, name)
        if mine is others:
            continue
        if isinstance(mine, Struct):
            facts = mine.__struct_fields__
            changed = (each for each in facts if getattr(mine, each) != getattr(others, each))
            found = [f"{name}.{each}" for each in changed]
            names.update(found, [name] if found else [])
        elif mine != others:
            names.add(name)
    return frozenset(names)
