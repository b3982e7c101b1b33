"""The context of one translation: where notes, ids and the time come from.

The core has no clock, no randomness and no log. The caller passes in a `Context`; equal input and
equal context give equal bytes, which the prompt caches of providers depend on.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, Literal, Protocol, cast

from msgspec import Meta, Struct
from msgspec.structs import force_setattr, replace

from toolglot.digest import digest
from toolglot.errors import UntranslatableError
from toolglot.events import StreamPass
from toolglot.ir import (
    Json,
    Message,
    Part,
    Request,
    Response,
    Tool,
    ToolCall,
    ToolResult,
)
from toolglot.receipt import CATALOGUE, Code, Note, Receipt, Severity
from toolglot.rules import ToolRules
from toolglot.source_paths import (
    Places,
    StreamPlaces,
    inner_path,
    message_holder,
    part_paths,
    places_of_messages,
    system_paths,
)
from toolglot.surface import Surface
from toolglot.undo import Undo

DEFAULT_DIALECT: Final = "hermes"
"""The dialect in which tools are described in the prompt: the most common one."""


DEFAULT_LIMIT: Final = 8192
"""Tokens of an answer where a limit has to be said and nothing is known of the model."""


class ProviderOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options that a configuration can set for a provider."""

    filter_required: bool = True
    """Remove parameters described as optional from `required`, for targets that enforce it."""

    optional_markers: tuple[str, ...] | None = None
    """The words in a description that make a parameter optional; None: the usual ones."""

    optional_booleans: bool = False
    """Treat every boolean parameter as optional, which some are not."""

    nested_function: bool = False
    """Repeat a tool's fields in a nested `function`, for servers that expect it there."""

    legacy_functions: bool = False
    """Write tools and calls of Chat Completions as `functions` and `function_call`, for servers
    that know nothing newer."""

    prompt_cache: Literal["auto", "off"] = "auto"
    """Mark the prompt for the provider's cache, where the client's protocol has no such marks and
    the provider caches nothing without them (`auto`), or leave it unmarked (`off`)."""

    foreign_parts: Literal["tell", "drop"] = "tell"
    """Tell the model in a quoted text what the history has that only another provider understands,
    such as results of its search (`tell`), or leave it out (`drop`)."""

    sanitize: Literal["off", "nul", "c0"] = "off"
    """Remove control characters from the arguments of calls: U+0000 (`nul`), or all below U+0020
    except tabs and line ends (`c0`)."""

    max_calls: Annotated[int, Meta(ge=1)] | None = None
    """How many calls the client accepts in one answer; one, if it asked for no parallel calls."""

    id_max: Annotated[int, Meta(ge=8)] | None = None
    """The maximum length of ids at the provider, if it is less than its protocol allows."""

    def __post_init__(self) -> None:
        given: Any = self.optional_markers
        if isinstance(given, list):
            force_setattr(self, "optional_markers", tuple(given))


class Options(ProviderOptions, frozen=True, kw_only=True):
    """Options of a translation. Every default is the faithful one."""

    strict: bool = False
    """Reject a translation that loses meaning."""

    max_tokens: int = DEFAULT_LIMIT
    """Sent to a target that requires a limit when the source gave none."""

    model: str | None = None
    """The model to ask the target for, in place of the one in the request."""

    provider: str | None = None
    """Whose rule book is applied: a name of `toolglot.providers`; None: only what the protocol of
    the target says."""

    overrides: Mapping[str, Any] = {}
    """Facts that are laid over that rule book, by their dotted names: `tools.kinds`."""

    issuer: str | None = None
    """Who issues reasoning state on the provider's side; by default the provider's protocol."""

    tools: str = "native"
    """Declare tools to the provider (`native`), or describe them in the prompt of a model that has
    none (`emulated`), in a dialect of your choice: `emulated:qwen3_coder`."""

    schema_dialect: str | None = None
    """The subset of JSON Schema that the provider accepts, if not its protocol's: `openapi`."""

    ids: Literal["preserve", "prefix"] = "preserve"
    """Keep ids of calls (`preserve`), or give them the prefix of the target protocol (`prefix`)."""

    id_rule: str | None = None
    """Which ids the provider accepts, if it is stricter than its protocol: `mistral`."""

    stream_tools: str = "live"
    """Stream the arguments of calls as they come (`live`) or each call whole (`buffered`)."""

    rules: ToolRules | str | None = None
    """Tool rules, or the name of a preset of them."""

    validate: Literal["off", "note", "repair", "retry"] = "off"
    """Check calls in answers against the schemas of their tools: note what is wrong, repair it, or
    mark the call as one to ask for again."""

    mend: Literal["on", "off"] = "on"
    """Correct mistakes in an answer that stays in its protocol, where agents would stop or break;
    `off`: it is passed on as it came."""

    dialect: str | None = None
    """Convert calls that a model writes into its text: in this dialect, or in any (`auto`). None:
    text is not searched."""

    broken: Literal["closed", "open"] = "closed"
    """How an answer that breaks off ends for the client: with all its parts closed and the error as
    it was (`closed`), or so that agent clients retry by themselves (`open`), which in some
    protocols they only do if the last part was left open and the error is a temporary one."""

    complete_answers: bool = False
    """Write members of an answer that clients expect always to be there, as null, also where the
    provider said nothing about them; the gateway does."""

    max_calls_policy: Literal["note", "queue"] = "note"
    """Deliver further calls with a note, or hold them back for a later turn, which a program has to
    take: they are `queued` in the receipt. For the library only."""

    attribution: Literal["keep", "drop"] = "keep"
    """The line by which a client names itself to its own provider, in requests that are not
    translated; a request for another protocol never has it."""

    reasoning: Literal["effort", "budget", "adaptive", "switch", "none"] | None = None
    """How reasoning is requested, if the model supports fewer ways than its protocol."""

    efforts: tuple[str, ...] | None = None
    """The efforts that the model supports, if those are not all of its protocol."""

    window: int | None = None
    """The context window of the model, in tokens."""

    client_window: int | None = None
    """The context window that the client assumes. With both, the tokens of a prompt are reported to
    the client in proportion, so that it compacts its conversation in time."""

    passes: tuple[Callable[[Request, "Context"], Request], ...] = ()
    """Passes of your own over a request, before all others. Functions: for the library only."""

    event_passes: tuple[Callable[["Context"], StreamPass], ...] = ()
    """Passes of your own over the events of an answer, whole or streamed, after its calls were
    converted back: each is called with the context of an answer and returns an object with
    `feed(event)`. Functions: for the library only."""

    response_passes: tuple[Callable[[Response, "Context"], Response], ...] = ()
    """Passes of your own over a whole response of another protocol, after `event_passes`; not for
    streams. Functions: for the library only."""

    @property
    def emulated_dialect(self) -> str | None:
        """The dialect of tools that are described in the prompt; None if they are declared."""
        if self.tools == "native":
            return None
        kind, _, dialect = self.tools.partition(":")
        if kind == "native" and not dialect:
            return None
        if kind != "emulated":
            raise ValueError(
                f"tools are 'native', 'emulated' or 'emulated:DIALECT': {self.tools!r}"
            )
        return dialect or DEFAULT_DIALECT


class Located(Protocol):
    """Something that knows its place in the source."""

    def path(self, key: str = "") -> str:
        """The path of a member, or of the thing itself."""
        ...


class WholeAnswer(Protocol):
    """What a pass may ask about an answer that came whole, by the numbers of its parts."""

    def part(self, index: int) -> tuple[Part, int, int]:
        """A part, its choice, and its place among those of its choice."""
        ...

    def cut(self, index: int) -> bool:
        """Whether a part is the last call of a choice that ended for its length."""
        ...


_AS_USUAL: Final[Mapping[str, str]] = {}


class Context:
    """Notes, ids and the time for one translation."""

    __slots__ = (
        "_asked_at",
        "_clock",
        "_counter",
        "_first_at",
        "_left",
        "_notes",
        "_now",
        "_salt",
        "_seed",
        "_system",
        "answer_id",
        "asked",
        "declared",
        "hides_usage",
        "is_renumbered",
        "kept_state",
        "known",
        "made_here",
        "members",
        "options",
        "places",
        "queued",
        "request",
        "schema_texts",
        "setting_paths",
        "source",
        "spelled",
        "streamed",
        "target",
        "tool_paths",
        "tool_steps",
        "undo",
        "whole",
    )

    def __init__(
        self,
        options: Options | None = None,
        *,
        source: Surface | None = None,
        target: Surface | None = None,
        request: Request | None = None,
        seed: bytes | Callable[[], bytes] = b"",
        salt: Callable[[], bytes] = bytes,
        now: int = 0,
        undo: Undo | None = None,
    ) -> None:
        self.options = options or Options()
        self.source, self.target, self.request = source, target, request
        self.undo = undo or Undo()
        self.asked: Callable[[], Request | None] | None = None
        """For an answer, what the client asked, where that is read only if need be."""
        self.answer_id = ""
        """The id that a translated answer gets, for whoever stores it; empty: the provider's."""
        self.declared: tuple[Tool, ...] | None = None
        """The tools as they were sent to the provider; for an answer, if the request is known."""
        self.queued: tuple[ToolCall, ...] = ()
        self.made_here = self.hides_usage = self.is_renumbered = False
        """Whether no provider gave the answer; whether the client did not ask for the usage that a
        stream tells; whether a pass has given, or may give, the parts of a stream other numbers."""
        self.kept_state: dict[str, str] | None = None
        """The reasoning state of the answer for clients that do not return it, by key; None: it is
        not kept."""
        self.whole: WholeAnswer | None = None
        """What is known of an answer that came whole, while a pass adapts it; None for a stream."""
        self.tool_paths: tuple[str, ...] | None = None
        self.setting_paths: Mapping[str, str] = _AS_USUAL
        """The source paths of settings that the client wrote in another member than usual."""
        self.members: dict[str, str] = {}
        """Paths of what an answer says in another place than usual; see `answer_at`."""
        self.streamed: StreamPlaces | None = None
        """Where the parts of a stream would stand in the source, if it came whole."""
        self.places: Places | None = None
        """Where the parts of a request or of a whole answer stand in the source."""
        self.known: object = None
        self.tool_steps: dict[Any, Any] | None = None
        """What was made of the known tools before: see `wire/tool_cache.py`."""
        self.schema_texts: dict[int, tuple[Json, bytes]] = {}
        """The texts of schemas by their identity, while the tools of a request are adapted."""
        self.spelled: dict[str, str] = {}
        """Members that the source spells in another way than documented, by their usual names."""
        self._seed = seed
        self._salt = salt
        self._clock: Callable[[], int] | None = None
        self._now = now
        self._counter = self._asked_at = self._first_at = 0
        self._notes: list[Note] = []
        self._system: tuple[Message, list[str]] | None = None
        self._left: list[tuple[Located, frozenset[str], Mapping[str, Any]]] = []

    @property
    def surfaces(self) -> tuple[Surface, Surface]:
        """Where a translation comes from and where it goes, for passes that need both."""
        if self.source is None or self.target is None:
            raise ValueError("adapting needs a source and a target")
        return self.source, self.target

    @property
    def in_protocol(self) -> bool:
        """Whether both sides speak one protocol; the provider may still accept less of it."""
        source, target = self.source, self.target
        return source is target or (
            source is not None and target is not None and source.name == target.name
        )

    @property
    def answer_form(self) -> str:
        """The form of the answer that the client reads, if that is not the usual one."""
        return self.request.answer_form if self.request is not None else ""

    @property
    def tool_surfaces(self) -> tuple[Surface, Surface]:
        """The surfaces as passes over tools see them: in a prompt, all tools are functions."""
        source, target = self.surfaces
        if self.options.emulated_dialect is None:
            return source, target
        name = f"a model without tools ({target.name})"
        tools = replace(target.tools, kinds=frozenset({"function"}), hosted=())
        return source, replace(target, name=name, tools=tools)

    def note(
        self, code: str, path: str, message: str = "", severity: Severity | None = None
    ) -> None:
        """Add a note of a change.

        A pass of your own may have codes of its own, with a message; they are `info` unless said
        otherwise.
        """
        entry = CATALOGUE.get(code)
        if entry is None:
            if not message:
                raise ValueError(
                    f"the note {code!r} is not in the catalogue, so it needs a message"
                )
            entry = Code("info", message)
        self._notes.append(Note(code, severity or entry.severity, path, message or entry.meaning))

    def leave(self, where: Located, minor: frozenset[str], rest: Mapping[str, Any]) -> None:
        """Remember fields that a decoder did not take: only their own protocol can write them."""
        self._left.append((where, minor, rest))

    def merge_notes(self, other: "Context") -> None:
        """Add the notes that another context collected while tools were worked on."""
        if other._notes:
            self._notes += other._notes
        if other._left:
            self._left += other._left
        if other.spelled:
            self.spelled |= other.spelled
        self.tool_paths = other.tool_paths

    def new_id(self, prefix: str) -> str:
        """An id that is new in this context and the same for the same input: the seed, and for an
        answer the salt, by which equal answers to different requests have different ids.
        """
        self._counter += 1
        if self._counter == 1:
            seed = self._seed
            self._seed = self._salt() + (seed if isinstance(seed, bytes) else seed())
        return prefix + digest(cast("bytes", self._seed), 12, self._counter).hex()

    def settle(self, *, more_ids: bool) -> None:
        """Let go of the texts that ids depend on; `more_ids`: some may still be made."""
        salt = self._salt() if more_ids and not self._counter else b""
        self._salt = lambda: salt
        if not more_ids:
            self._seed = b""

    def begin(self, data: bytes | Callable[[], bytes]) -> None:
        """Let made-up ids depend on the first piece of a stream, unless they depend on something
        else.
        """
        self._seed = self._seed or data
        if self._clock is not None:
            self._first_at = self._clock()

    def measure(self, clock: Callable[[], int], asked_at: int) -> None:
        """Let an answer be timed, by a clock of nanoseconds, from when it was asked for."""
        self._clock, self._asked_at = clock, asked_at

    def elapsed(self) -> tuple[int, int] | None:
        """How long the answer took until now and until its first event, in nanoseconds; None: it is
        not timed. An answer that came whole has no first event.
        """
        if self._clock is None:
            return None
        total = max(self._clock() - self._asked_at, 1)
        return total, max(self._first_at - self._asked_at, 1) if self._first_at else total

    def now(self) -> int:
        """Seconds since the epoch, as the caller sees them."""
        return self._now

    def foreign(self, name: str) -> bool:
        """Whether what is being encoded came from another protocol, or from nobody."""
        return self.made_here or (self.source is not None and self.source.name != name)

    def completes(self, name: str) -> bool:
        """Whether an answer that is being encoded gets all members that its protocol has."""
        return self.options.complete_answers and self.foreign(name)

    def at(self, message: int, part: int | None = None, key: str = "") -> str:
        """The source path of a message or of one of its parts."""
        source = self.source
        if source is None:
            return ""
        path = f"{source.messages.path}[{message}]"
        if part is not None:
            path += f".{source.messages.content}[{part}]"
        return f"{path}.{key}" if key else path

    def at_part(self, index: int, message: Message, place: int) -> str:
        """The source path of a part of a message, by its number if the part is not known."""
        source = self.source
        if source is None:
            return ""
        known = self.places.of(message.parts[place]) if self.places is not None else None
        return known or part_paths(source, message_holder(source, index, message))[place]

    def at_system(self, system: Message, place: int) -> str:
        """The source path of a part of the system text."""
        if self.source is None:
            return ""
        if self._system is None or self._system[0] is not system:
            self._system = system, system_paths(self.source, system)
        return self._system[1][place]

    def at_inner(self, path: str, result: ToolResult, place: int) -> str:
        """The source path of a part of a result."""
        return inner_path(self.source, path, result, place) if self.source else ""

    def place(self, messages: tuple[Message, ...]) -> None:
        """Keep where the parts of messages stand, before the first pass that moves them."""
        if self.places is None and self.source is not None:
            self.places = places_of_messages(self.source, messages)

    def where(self, part: Part) -> str:
        """The source path of a part, wherever passes have moved it; else that of all messages."""
        if self.source is None:
            return getattr(part, "id", None) or type(part).__name__.lower()
        path = self.places.of(part) if self.places is not None else None
        if path is None and self.streamed is not None:
            path = self.streamed.of_call(part.id) if isinstance(part, ToolCall) else None
            return path or self.answer_at()
        if path is not None:
            return path
        return self.source.messages.path if self.places is None else self.places.path

    def where_system(self, system: Message) -> str:
        """The source path of the system text, which may have stood among the messages."""
        known = self.places.of(system.parts[0]) if self.places is not None else None
        return known or self.setting("system")

    def where_turn(self, message: Message) -> str:
        """The source path of a message, or of the first one that it was joined from."""
        if self.source is None:
            return ""
        path = self.places.of_message(message) if self.places is not None else None
        return self.source.messages.path if path is None else path

    def part_at(self, index: int) -> str:
        """The source path of a part of the answer; of a stream, as if it came whole."""
        if self.whole is None:
            return self._streamed_at(index)
        part, choice, place = self.whole.part(index)
        path = None
        if self.places is not None:
            path = self.places.of(part) or self.places.at(choice, place)
        return self.answer_at() if path is None else path

    def _streamed_at(self, index: int) -> str:
        """The path of a part of a stream; of the whole message, if numbers have changed."""
        path = None
        if self.streamed is not None and not self.is_renumbered:
            path = self.streamed.at(index)
        return self.answer_at() if path is None else path

    def came_at(self, index: int) -> str:
        """The source path of a part of the answer, for a pass that may give parts new numbers."""
        path = None
        if self.whole is None and self.streamed is not None:
            path = self.streamed.at(index)
        return self.part_at(index) if path is None else path

    def cited_at(self, index: int) -> str:
        """The source path of the citations of a part of the answer."""
        apart = self.source is not None and "citations" in self.source.answer_members
        if not apart:
            return self.part_at(index)
        return self.answer_at("citations", self.whole.part(index)[1] if self.whole else 0)

    def answer_at(self, field: str = "", choice: int = 0) -> str:
        """The source path of what an answer says of itself; of all that it says, if of nothing."""
        source = self.source
        if source is None:
            return field
        if field:
            if field in self.members:
                return self.members[field]
            return source.answer_members.get(field, field).format(choice)
        return source.messages.answer_path.format(choice) or source.messages.content

    def tool_at(self, index: int) -> str:
        """The source path of a tool, by its place among the tools as they are now.

        A pass that adds or takes away tools leaves the paths of the others in `tool_paths`.
        """
        paths = self.tool_paths
        if paths is not None and index < len(paths):
            return paths[index]
        return f"{self.setting('tools')}[{index}]"

    def setting(self, field: str) -> str:
        """The source path of a setting of the request."""
        if field in self.setting_paths:
            return self.setting_paths[field]
        return self.source.settings.get(field, field) if self.source else field

    def receipt(self) -> Receipt:
        """All notes so far; in strict mode a loss is an `UntranslatableError`."""
        receipt = Receipt(self.notes(), self.queued)
        if self.options.strict and receipt.losses:
            raise UntranslatableError(receipt.losses)
        return receipt

    def notes(self) -> tuple[Note, ...]:
        """All notes so far, with one for each field that could not be translated."""
        if self._left:
            if not self.in_protocol:
                self._notes[:0] = self._leftover_notes()
            # What was left refers to this context: keeping it would be a reference cycle.
            self._left.clear()
        if self.spelled:
            return tuple([replace(each, path=self._respelled(each.path)) for each in self._notes])
        return tuple(self._notes)

    def _respelled(self, path: str) -> str:
        """A path with its members as the source spells them."""
        steps = (step.partition("[") for step in path.split("."))
        return ".".join(self.spelled.get(key, key) + mark + rest for key, mark, rest in steps)

    def _leftover_notes(self) -> Iterable[Note]:
        implied = self.source.implied if self.source else {}
        for where, minor, rest in self._left:
            for key, value in rest.items():
                if value is not None and value not in ({}, []) and implied.get(key) != value:
                    code = "field-minor" if key in minor else "field-unknown"
                    entry = CATALOGUE[code]
                    yield Note(code, entry.severity, where.path(key), entry.meaning)
