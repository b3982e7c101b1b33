"""The interlingua: the one in-memory form that every protocol decodes to and encodes from.

Values only: frozen, comparable, without behaviour beyond small conveniences. Three conventions hold
everywhere:

- `None` means "the wire did not say". Defaults are never filled in here; that is the business of a
  target.
- `extras` keeps, by protocol name, what a decoder did not understand. Encoding merges back only its
  own protocol's.
- `wire_form` names the protocol whose wire wrote a list where a bare string would have done, so
  that writing back gives the list again. It has no meaning for any other protocol.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from toolglot.wire.call_arguments import read_arguments

Json: TypeAlias = dict[str, Any]
"""A JSON object as it is on the wire."""

Extras: TypeAlias = Mapping[str, Json]
NO_EXTRAS: Final[Extras] = {}


class Value(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="is"):
    """Base of all interlingua values."""


# --- Media ---------------------------------------------------------------------------------------


class Inline(Value, frozen=True, kw_only=True, tag="inline"):
    """Bytes in the message itself, as the base64 text that was received."""

    media_type: str
    data: str


class Remote(Value, frozen=True, kw_only=True, tag="remote"):
    """Something the provider fetches."""

    url: str
    media_type: str | None = None


class FileRef(Value, frozen=True, kw_only=True, tag="file"):
    """A file uploaded to one provider earlier; the id means nothing to others."""

    id: str
    issuer: str
    media_type: str | None = None


class PlainText(Value, frozen=True, kw_only=True, tag="text"):
    """A document given as readable text."""

    text: str
    media_type: str = "text/plain"


Source: TypeAlias = Inline | Remote | FileRef | PlainText


# --- Parts ---------------------------------------------------------------------------------------


class CacheMark(Value, frozen=True, kw_only=True):
    """A request to cache the prompt up to here."""

    ttl: str | None = None
    extras: Extras = NO_EXTRAS


class Citation(Value, frozen=True, kw_only=True):
    """Where a text was taken from. `start` and `end` count characters of the text that cites."""

    url: str | None = None
    title: str | None = None
    quote: str | None = None
    start: int | None = None
    end: int | None = None
    extras: Extras = NO_EXTRAS


class Text(Value, frozen=True, kw_only=True, tag="text"):
    """Readable text."""

    text: str
    citations: tuple[Citation, ...] = ()
    signature: str | None = None
    cache: CacheMark | None = None
    extras: Extras = NO_EXTRAS


class Image(Value, frozen=True, kw_only=True, tag="image"):
    """An image."""

    source: Source
    detail: str | None = None
    cache: CacheMark | None = None
    extras: Extras = NO_EXTRAS


class Document(Value, frozen=True, kw_only=True, tag="document"):
    """A file to read: PDF, text, video, anything that is neither image nor audio."""

    source: Source
    name: str | None = None
    cache: CacheMark | None = None
    extras: Extras = NO_EXTRAS


class Audio(Value, frozen=True, kw_only=True, tag="audio"):
    """Audio."""

    source: Source
    cache: CacheMark | None = None
    extras: Extras = NO_EXTRAS


class Reasoning(Value, frozen=True, kw_only=True, tag="reasoning"):
    """What a model thought, with the opaque state that its issuer wants back unchanged.

    `text` is the thinking itself, `summary` what a provider sends in its place. `signature` is the
    issuer's state: readable by the issuer only, and bound to the text it came with.
    """

    text: str = ""
    summary: tuple[str, ...] = ()
    signature: str | None = None
    redacted: bool = False
    id: str | None = None
    extras: Extras = NO_EXTRAS


CallKind: TypeAlias = Literal["function", "custom", "bash"]
"""The tool that is called: a function, one that takes free text, or a shell, where a model wrote no
more than a command into its text. No protocol has the last; it is written as a function."""


class ToolCall(Value, frozen=True, kw_only=True, tag="tool_call"):
    """A call that a model wants made.

    `arguments` is the JSON text as received: key order, big integers and `1.0` survive in it, and
    it may be invalid JSON. For a `custom` call it is the free-form input itself, not JSON.
    `id_made` says that the wire had no id and the decoder made one up. `raw_input` is what a model
    wrote where a call was read out of text, and `invalid` why its arguments could not be read.
    """

    id: str
    name: str
    arguments: str = "{}"
    type: CallKind = "function"
    namespace: str | None = None
    id_made: bool = False
    signature: str | None = None
    cache: CacheMark | None = None
    raw_input: str = ""
    invalid: str = ""
    extras: Extras = NO_EXTRAS

    @property
    def kind(self) -> CallKind:
        """The `type`, under the name that results and tool choices have for it."""
        return self.type

    @property
    def input(self) -> Json:
        """The arguments as an object; if they are none, under `$value` or `$invalid`."""
        return read_arguments(self.arguments)[0]

    def to_anthropic(self) -> Json:
        """A `tool_use` block."""
        return {"type": "tool_use", "id": self.id, "name": self.name, "input": self.input}

    def to_openai(self) -> Json:
        """An entry of `tool_calls`."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}

    def to_generic(self) -> Json:
        """The plain form for clients of no standard."""
        return {"tool_call_id": self.id, "tool_name": self.name, "parameters": self.input}

    def to_canonical(self) -> Json:
        """Arguments as an object; `raw_input` and `invalid` only where there are any."""
        wire = {"id": self.id, "name": self.name, "arguments": self.input, "type": self.type}
        more = {"raw_input": self.raw_input, "invalid": self.invalid}
        return wire | {key: value for key, value in more.items() if value}


class ToolResult(Value, frozen=True, kw_only=True, tag="tool_result"):
    """The result of a tool. `name` is known only where the protocol has it."""

    id: str
    parts: tuple["Part", ...] = ()
    name: str | None = None
    is_error: bool | None = None
    kind: CallKind = "function"
    id_made: bool = False
    wire_form: str = ""
    cache: CacheMark | None = None
    extras: Extras = NO_EXTRAS


class Refusal(Value, frozen=True, kw_only=True, tag="refusal"):
    """The text in which the model declines to answer."""

    text: str
    extras: Extras = NO_EXTRAS


class Opaque(Value, frozen=True, kw_only=True, tag="opaque"):
    """A part that only its own protocol understands, kept whole."""

    protocol: str
    type: str
    value: Json


Part: TypeAlias = (
    Text | Image | Document | Audio | Reasoning | ToolCall | ToolResult | Refusal | Opaque
)

Role: TypeAlias = Literal["system", "developer", "user", "assistant"]


class Message(Value, frozen=True, kw_only=True):
    """One turn, or one piece of it. Tool results are in `user` messages."""

    role: Role
    parts: tuple[Part, ...]
    name: str | None = None
    wire_form: str = ""
    extras: Extras = NO_EXTRAS


# --- Tools ---------------------------------------------------------------------------------------


class FunctionTool(Value, frozen=True, kw_only=True, tag="function"):
    """A tool with a JSON Schema for its arguments."""

    name: str
    description: str | None = None
    parameters: Json | None = None
    strict: bool | None = None
    examples: tuple[Json, ...] = ()
    """Arguments as they may be."""
    deferred: bool | None = None
    """The model is told of it only when a search has found it."""
    cache: CacheMark | None = None
    extras: Extras = NO_EXTRAS


class CustomTool(Value, frozen=True, kw_only=True, tag="custom"):
    """A tool that takes free-form text, perhaps bound by a grammar."""

    name: str
    description: str | None = None
    syntax: str | None = None
    definition: str | None = None
    extras: Extras = NO_EXTRAS


class NamespaceTool(Value, frozen=True, kw_only=True, tag="namespace"):
    """A named group of tools."""

    name: str
    description: str | None = None
    tools: tuple["Tool", ...] = ()
    extras: Extras = NO_EXTRAS


class ProviderTool(Value, frozen=True, kw_only=True, tag="provider"):
    """A tool that a provider runs or defines itself, kept whole."""

    protocol: str
    type: str
    value: Json


Tool: TypeAlias = FunctionTool | CustomTool | NamespaceTool | ProviderTool


ChoiceKind: TypeAlias = Literal["function", "custom", "provider"]


class ToolChoice(Value, frozen=True, kw_only=True):
    """Which tools the model may or must call. `names` narrows `auto` and `required`."""

    mode: Literal["auto", "required", "none", "tool"]
    names: tuple[str, ...] = ()
    kind: ChoiceKind = "function"
    extras: Extras = NO_EXTRAS


# --- Requests ------------------------------------------------------------------------------------

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class ReasoningSettings(Value, frozen=True, kw_only=True):
    """How much to reason: a switch, an effort or a budget, as far as the request has them."""

    enabled: bool | None = None
    adaptive: bool | None = None
    effort: str | None = None
    budget: int | None = None
    show: bool | None = None
    summary: str | None = None
    extras: Extras = NO_EXTRAS


class OutputFormat(Value, frozen=True, kw_only=True):
    """Structured output. `schema` is None for "any JSON"."""

    kind: Literal["text", "json", "schema"]
    schema: Json | None = None
    name: str | None = None
    description: str | None = None
    strict: bool | None = None
    extras: Extras = NO_EXTRAS


class Request(Value, frozen=True, kw_only=True):
    """A request for one answer."""

    model: str
    messages: tuple[Message, ...]
    system: Message | None = None
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    stream: bool | None = None
    include_usage: bool | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] | None = None
    n: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    logit_bias: Json | None = None
    reasoning: ReasoningSettings | None = None
    output: OutputFormat | None = None
    verbosity: str | None = None
    metadata: Json | None = None
    user: str | None = None
    safety_identifier: str | None = None
    service_tier: str | None = None
    cache_key: str | None = None
    cache_retention: str | None = None
    store: bool | None = None
    answer_form: str = ""
    """Which form of the answer the client reads, where its protocol has had several."""
    wire_form: str = ""
    extras: Extras = NO_EXTRAS


# --- Responses -----------------------------------------------------------------------------------

StopKind: TypeAlias = Literal[
    "end",
    "stop_sequence",
    "length",
    "tool_calls",
    "content_filter",
    "refusal",
    "pause",
    "context_window",
    "malformed_call",
    "other",
]


class StopReason(Value, frozen=True, kw_only=True):
    """Why the model stopped: the unified kind, the wire's own word, the sequence that matched."""

    kind: StopKind
    raw: str | None = None
    sequence: str | None = None


class Usage(Value, frozen=True, kw_only=True):
    """Token counts. `input` is fresh input only; `output` includes `reasoning`. None is unknown."""

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    extras: Extras = NO_EXTRAS

    @property
    def prompt(self) -> int:
        """All input tokens, cached or not."""
        return (self.input or 0) + (self.cache_read or 0) + (self.cache_write or 0)


class Choice(Value, frozen=True, kw_only=True):
    """One answer of the model."""

    parts: tuple[Part, ...]
    index: int = 0
    stop: StopReason | None = None
    logprobs: Any = None
    wire_form: str = ""
    extras: Extras = NO_EXTRAS


class Response(Value, frozen=True, kw_only=True):
    """A provider's response."""

    id: str
    model: str
    choices: tuple[Choice, ...]
    usage: Usage | None = None
    created: int | float | str | None = None
    service_tier: str | None = None
    extras: Extras = NO_EXTRAS


ErrorKind: TypeAlias = Literal[
    "invalid_request",
    "authentication",
    "billing",
    "permission",
    "not_found",
    "conflict",
    "too_large",
    "context_length",
    "content_policy",
    "rate_limit",
    "quota",
    "overloaded",
    "timeout",
    "server",
]


class ApiError(Value, frozen=True, kw_only=True):
    """A provider's error, in place of a response."""

    kind: ErrorKind
    message: str
    status: int | None = None
    raw: str | None = None
    code: str | None = None
    param: str | None = None
    retry_after: str | None = None
    request_id: str | None = None
    extras: Extras = NO_EXTRAS
