"""What a protocol declares beside its codec: how clients and servers that speak it are recognised,
how a key is sent, where tokens are counted, and what a list of models looks like.

Each protocol has one `Api` in `protocols/<name>/api.py`. The gateway, discovery and the commands
read it through the registry, so that a new protocol needs no change there.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from toolglot.embeddings import EmbeddingsEndpoint
from toolglot.ir import Json

Shape: TypeAlias = Callable[[Json], bool]
"""Whether an object has the shape of something."""


class ModelInfo(Struct, frozen=True, kw_only=True):
    """What the gateway knows about one model."""

    name: str
    efforts: tuple[str, ...] = ()
    """The efforts of reasoning that it knows, from least to most; none: unknown."""
    context_window: int = 200_000
    max_output: int = 32_000
    created: str = "2026-01-01T00:00:00Z"


def _same(body: Json) -> Json:
    return body


class CountEndpoint(Struct, frozen=True, kw_only=True):
    """How tokens are counted: by the provider, and by the gateway for clients."""

    path: str
    """Where; one that begins with a colon, or has `{model}` in it, replaces the operation at the
    end of a request's path."""

    answer: str
    """The key of the count in the response."""

    constants: Mapping[str, str] = {}
    """What else is in the response."""

    keys: frozenset[str] | None = None
    """The members of a request that the endpoint accepts; None: all of them."""

    wrap: Callable[[Json, str], Json] | None = None
    """The body around a request for a model, if there is one."""

    unwrap: Callable[[Json], Json] = _same
    """The request in the body of a client."""

    def path_for(self, path: str) -> str:
        """Where a request that would be sent to `path` is counted."""
        return path[: path.rindex(self.end[0])] + self.end if self.in_path else self.path

    @property
    def in_path(self) -> bool:
        """Whether the path names the model, too."""
        return self.path[0] == ":" or "{model}" in self.path

    @property
    def end(self) -> str:
        """How such a path ends."""
        return self.path.rpartition("}")[2]

    def body(self, request: Json, model: str) -> Json:
        """What to send to have a request counted."""
        keys = request if self.keys is None else self.keys
        kept = {key: value for key, value in request.items() if key in keys}
        return self.wrap(kept, model) if self.wrap else kept


class ShowEndpoint(Struct, frozen=True, kw_only=True):
    """Where clients ask about one model by a request that names it."""

    path: str
    describe: Callable[[ModelInfo], Json]


class PromptEndpoint(Struct, frozen=True, kw_only=True):
    """A path at which clients send one prompt instead of messages."""

    path: str
    request: Callable[[Json], Json]
    """The same request with messages."""
    response: Callable[[Json], Json]
    """A response, or a line of a stream, as clients of this path read it."""


def _is_item(_value: Json) -> bool:
    return True


class StoredAnswers(Struct, frozen=True, kw_only=True):
    """How answers are stored and continued, in a protocol whose servers do that."""

    previous: str
    """The member of a request that names the answer which it continues."""

    output: str
    """The member of an answer that has its items."""

    member: str
    """The member of an event that has an answer; what an answer is called in errors, too."""

    final_events: tuple[str, ...]
    """The types of events that have the final answer."""

    whole_at_end: bool = True
    """Such an event has all items; else they are put together from the events before."""

    id_prefix: str
    """How ids of answers begin."""

    conversation: str = ""
    """The member of a request that names a conversation it belongs to; none: there is none."""

    references: bool = False
    """An item of a request may name another one by its id alone."""

    says_stored: bool = True
    """An answer says whether it is stored, as `store`; else that is so unless a request forbids
    it."""

    call_id: str
    """The member of a call to which results refer as `call_id`."""

    results: str
    """How the types of results end."""

    reasoning: tuple[str, str]
    """The type of items with reasoning, and the member with its state."""

    bare_reasoning: bool = False
    """Reasoning without state may be sent back to where it came from."""

    message: Callable[[Any], Json]
    """The item for an input that is a text, or a list of what is no item."""

    is_item: Shape = _is_item
    """Whether an object in an input is an item by itself."""

    sockets: bool = False
    """Its clients use WebSockets, compaction and lists of input items."""

    deleted: Callable[[str], Json]
    """What is said of an answer that was deleted."""


def _code_in_error(body: Json, code: str) -> Json:
    return {**body, "error": {**body["error"], "code": code}}


def _never(_value: Json) -> bool:
    return False


class Api(Struct, frozen=True, kw_only=True):
    """Facts about the HTTP API around one protocol."""

    # --- keys ---

    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    fixed_headers: Mapping[str, str] = {}
    """Headers that every request must have."""

    # --- clients of the gateway ---

    client_headers: frozenset[str] = frozenset()
    """Headers that only its clients send, in lower case."""

    answer_headers: frozenset[str] = frozenset()
    """Headers of an answer or an error that only its clients read, in lower case."""

    client_query: frozenset[str] = frozenset()
    """Query parameters that only its clients send."""

    client_paths: str = ""
    """A regular expression for paths that only its clients ask for; none: there are none."""

    assumed: bool = False
    """Clients that send nothing specific are assumed to speak it. One protocol has this."""

    model: Callable[[ModelInfo], Json]
    """One model, as its clients read it."""

    model_list: Callable[[Sequence[ModelInfo]], Json]
    show: ShowEndpoint | None = None
    prompt: PromptEndpoint | None = None
    operations: Mapping[str, bool] = {}
    """What can be asked of a model whose name is in the path, and whether it is streamed."""

    path_versions: tuple[str, ...] = ()
    """The versions with which such a path may begin."""

    running_path: str = ""
    """Where its clients ask which models are loaded; the gateway loads none."""

    version_path: str = ""
    """Where its clients ask for the version of the server."""

    count: CountEndpoint | None = None
    """Where tokens are counted; None: it has no such endpoint."""

    aliases: tuple[str, ...] = ()
    """Other paths at which its clients send requests."""

    state: StoredAnswers | None = None
    """How answers are stored and continued; None: they are not."""

    embeddings: tuple[EmbeddingsEndpoint, ...] = ()
    """Where texts are made into vectors; the first takes several at once."""

    # --- servers ---

    is_response: Shape
    is_event: Shape
    """Whether an event shows that a stream is of this protocol."""

    is_error: Shape = _never
    is_listed_model: Shape = _never
    """Whether an entry in a list of models shows that the list is of this protocol."""

    fragments: Mapping[str, Callable[[Json], Json]] = {}
    """A key that gives away a piece of a response, and the response around that piece."""

    calls_at: tuple[str, ...]
    """Where a response holds its calls."""

    streamed_names_at: tuple[str, ...] = ()
    """Where an event holds the name of a call, if servers are known to repeat it."""

    answer_keys: tuple[str, ...]
    """The members of a response or an event in which the model's answer is."""

    limit_keys: tuple[str, str] | None = None
    """The two names of the token limit, the usual one first, where there are two."""

    imitated: int
    """How often servers of others speak it: the less, the more likely a server that speaks it and
    others is the vendor's own."""

    # --- names ---

    short_name: str = ""
    """For narrow tables; none: the name itself."""

    sdk: str
    """The vendor's client library for Python."""

    sdk_adds: str = ""
    """The end of a base URL that the library adds itself."""

    tool_style: str
    """Whose form of tool declarations it has: `openai`, `anthropic` or `custom`."""

    error_style: str
    """Whose shape its errors have."""

    with_code: Callable[[Json, str], Json] = _code_in_error
    """An error of the gateway's own with a code for programs in it."""


_LISTS: Final = (
    ("data", "id"),
    ("models", "model"),
    ("models", "name"),
    ("modelSummaries", "modelId"),
)
"""Where lists of models are, and the key of a name in an entry."""


def listed_models(value: Any) -> dict[str, Json]:
    """The names in a list of models of any protocol, each with its entry."""
    for where, key in _LISTS:
        entries = value.get(where) if isinstance(value, dict) else None
        named = {
            str(entry[key]).removeprefix("models/"): entry
            for entry in (entries if isinstance(entries, list) else ())
            if isinstance(entry, dict) and _is_name(entry.get(key))
        }
        if named:
            return named
    return {}


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value) and value.isprintable()
