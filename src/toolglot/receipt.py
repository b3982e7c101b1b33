"""The receipt: what a translation changed, dropped, renamed, defaulted, emulated or repaired.

Every note has a code from `CATALOGUE`, which is closed: a code that is not listed there cannot be
raised. The catalogue is also the source of `docs/notes.md` and of what `toolglot explain` prints.
"""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from msgspec import Struct

Severity: TypeAlias = Literal["info", "lossy", "unsupported"]
SEVERITIES: Final[tuple[Severity, ...]] = ("info", "lossy", "unsupported")


class Code(Struct, frozen=True):
    """A kind of change: how grave it is unless a note says otherwise, and what it means."""

    severity: Severity
    meaning: str


CATALOGUE: Final[dict[str, Code]] = {
    # fields
    "field-dropped": Code("unsupported", "a setting that the target cannot express"),
    "field-unknown": Code(
        "unsupported", "a field this version does not know; only its own protocol can carry it"
    ),
    "field-minor": Code("info", "bookkeeping of the source protocol without meaning elsewhere"),
    "value-mapped": Code("lossy", "a value replaced by the nearest one that the target has"),
    "value-respelled": Code("info", "the same value in another protocol's word"),
    "default-added": Code("info", "a field that the target requires and the source left out"),
    "legacy-upgraded": Code("info", "a deprecated form read as its successor"),
    "spelling-normalised": Code(
        "info", "an accepted variant spelling, written back in the documented one"
    ),
    "surrogate-kept": Code("info", "a lone surrogate, which is not Unicode, carried as an escape"),
    # conversation
    "role-changed": Code("info", "a role that the target calls otherwise"),
    "system-moved": Code("lossy", "system text that could not stay in its place or role"),
    "attribution-dropped": Code(
        "info", "a line by which a client names itself to its own provider, and to no other"
    ),
    "turns-merged": Code("info", "consecutive messages of one role joined into one"),
    "results-reordered": Code("info", "tool results put where the target wants them"),
    "prefill-changed": Code("lossy", "an assistant prefill that the target continues differently"),
    # parts
    "part-dropped": Code("unsupported", "content that the target cannot carry"),
    "part-moved": Code("info", "content put in the nearest place where the target accepts it"),
    "part-replaced": Code("lossy", "content replaced by a text that names it"),
    "text-joined": Code("info", "several texts joined into one"),
    "citation-dropped": Code("lossy", "citations that the target cannot carry"),
    "citation-mapped": Code("lossy", "citations reduced to what the target can say"),
    "cache-dropped": Code("info", "a cache mark; the answer is the same, the price may not be"),
    "cache-marked": Code(
        "info", "a cache mark set for a client whose protocol has none; `prompt_cache` turns it off"
    ),
    "media-by-url": Code("info", "content that the target may refuse to fetch"),
    # reasoning
    "reasoning-carried": Code(
        "info", "another provider's reasoning state, sealed for the way back"
    ),
    "reasoning-restored": Code("info", "sealed reasoning state opened for its issuer"),
    "reasoning-dropped": Code("lossy", "reasoning that is bound to another provider"),
    # tools
    "tool-dropped": Code("unsupported", "a tool that the target does not have"),
    "rule-applied": Code("info", "a tool rule of the user's did this"),
    "call-repeated": Code("lossy", "the same call was made again and again"),
    "strict-added": Code(
        "info", "`strict: false` made explicit, because the target's default differs"
    ),
    "schema-default": Code("info", "an empty parameter schema written out"),
    "schema-narrowed": Code("info", "a schema in the words of the target, with the same meaning"),
    "schema-loosened": Code("lossy", "limits in a schema that the target has no words for"),
    "schema-refused": Code("lossy", "a schema that the target may refuse; it has no other form"),
    "format-dropped": Code("info", "a format in a schema that the target does not know"),
    "strict-dropped": Code("lossy", "a strict schema that the target cannot be strict about"),
    "required-filtered": Code(
        "info", "parameters described as optional no longer listed as required"
    ),
    "tool-mapped": Code("lossy", "a provider's own tool replaced by the target's like it"),
    "tool-wrapped": Code(
        "info", "a tool that the target does not know, told as a function; its calls come back"
    ),
    "namespace-flattened": Code(
        "info", "tools of a namespace declared one by one; their calls come back with the namespace"
    ),
    "tools-emulated": Code(
        "info",
        "tools, calls and results told as text to a model that has no tools; calls come back",
    ),
    "choice-mapped": Code("lossy", "a tool choice replaced by the nearest one"),
    "tool-duplicate": Code("lossy", "a tool declared twice under one name; the first counts"),
    "name-aliased": Code(
        "info", "a tool's name that the target forbids, replaced; answers have the client's own"
    ),
    "id-aliased": Code(
        "info", "a call's id in a form that the target takes, the same for its result"
    ),
    "id-made": Code("info", "an id that the source left out"),
    "stream-mended": Code(
        "info", "a stream in its own protocol, written anew where it lacked what clients need"
    ),
    "id-dropped": Code("info", "an id that the target has no place for; order and name stand in"),
    "arguments-normalised": Code("info", "arguments brought into the form of one JSON text"),
    "arguments-wrapped": Code("info", "arguments that are no object, wrapped in one, reversibly"),
    "arguments-unwrapped": Code(
        "info", "free-form input that a model gave in another form than it was asked for"
    ),
    "arguments-invalid": Code("lossy", "arguments that are no JSON, passed on as raw text"),
    "arguments-mismatch": Code(
        "lossy", "arguments that do not fit the schema of their tool, delivered as they came"
    ),
    "arguments-repaired": Code("info", "arguments repaired to fit the schema of their tool"),
    "arguments-unchecked": Code("info", "arguments of a tool whose schema cannot be read"),
    "arguments-sanitised": Code("lossy", "control characters taken out of arguments, as asked for"),
    "call-promoted": Code(
        "info", "a call that the model wrote into its text, made a call; blank around it went too"
    ),
    "call-duplicate": Code("info", "a call that came both as a call and as text, delivered once"),
    "call-cut": Code("info", "a call in the text that broke off; it is not delivered as a call"),
    "reasoning-promoted": Code(
        "info", "reasoning that the model wrote into its text, made reasoning"
    ),
    "marks-dropped": Code("info", "marks in the text that mean nothing to the reader"),
    "call-invalid": Code("lossy", "a call that does not fit its tool, to be asked for again"),
    "calls-over-limit": Code("lossy", "more calls in one answer than the client takes"),
    "error-marked": Code(
        "info", "a failed tool result marked in its text, because the target has no flag"
    ),
    "result-unmatched": Code("lossy", "a tool result whose call is not in the conversation"),
    "call-unanswered": Code("lossy", "a tool call without its result in the conversation"),
    "call-renamed": Code("info", "a call whose id was taken; its results have the new one too"),
    "call-unknown": Code("info", "a call of a tool that the request does not declare"),
    "message-dropped": Code("info", "a message without content"),
    # responses
    "choices-dropped": Code("lossy", "further choices where the target has one"),
    "stop-mapped": Code("lossy", "a stop reason replaced by the nearest one"),
    "usage-dropped": Code("info", "token counts that the target does not break down"),
    "usage-scaled": Code(
        "info", "tokens of the prompt counted in proportion to the window the client believes in"
    ),
    "logprobs-dropped": Code("lossy", "token probabilities that the target has no place for"),
    "event-skipped": Code("lossy", "a broken or unknown piece of a stream, passed over"),
    "status-changed": Code(
        "info", "an HTTP status that the target's clients know under another number"
    ),
}


class Note(Struct, frozen=True):
    """One change: what kind, how grave, where in the source, and in words."""

    code: str
    severity: Severity
    path: str
    message: str

    def __str__(self) -> str:
        where = f" at {self.path}" if self.path else ""
        return f"{self.severity}: {self.code}{where}: {self.message}"


class Receipt(Struct, frozen=True):
    """All notes of one translation, in the order in which they arose."""

    notes: tuple[Note, ...] = ()

    def __iter__(self) -> Iterator[Note]:
        return iter(self.notes)

    def __len__(self) -> int:
        return len(self.notes)

    def __bool__(self) -> bool:
        return bool(self.notes)

    def __str__(self) -> str:
        return "\n".join(map(str, self.notes)) or "nothing was changed"

    @property
    def losses(self) -> tuple[Note, ...]:
        """The notes that say meaning was reduced: everything above `info`."""
        return tuple(note for note in self.notes if note.severity != "info")

    def counts(self) -> dict[Severity, int]:
        """How many notes of each severity."""
        counts = dict.fromkeys(SEVERITIES, 0)
        for note in self.notes:
            counts[note.severity] += 1
        return counts

    def codes(self) -> dict[str, int]:
        """How many notes of each code, in order of first appearance."""
        counts: dict[str, int] = {}
        for note in self.notes:
            counts[note.code] = counts.get(note.code, 0) + 1
        return counts
