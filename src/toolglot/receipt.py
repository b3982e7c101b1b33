"""The receipt: what a translation changed, dropped, renamed, defaulted, emulated or repaired.

Every note of ours has a code from `CATALOGUE`, which is closed; passes of users may have others.
The catalogue is also the source of `docs/notes.md` and of what `toolglot explain` prints.
"""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from toolglot.ir import ToolCall

Severity: TypeAlias = Literal["info", "lossy", "unsupported"]
SEVERITIES: Final[tuple[Severity, ...]] = ("info", "lossy", "unsupported")


class Code(Struct, frozen=True):
    """A kind of change: how grave it is unless a note says otherwise, and what it means."""

    severity: Severity
    meaning: str


CATALOGUE: Final[dict[str, Code]] = {
    # fields
    "field-dropped": Code("unsupported", "the target has no such setting, so it was dropped"),
    "field-unknown": Code(
        "unsupported", "this version does not know the field; only its own protocol can write it"
    ),
    "field-minor": Code(
        "info", "the field is bookkeeping of the source protocol and means nothing elsewhere"
    ),
    "account-choice-dropped": Code(
        "info", "only whoever has the provider's key chooses the account that is charged"
    ),
    "value-mapped": Code("lossy", "the value was replaced by the nearest one that the target has"),
    "value-respelled": Code("info", "the same value has another name in the target protocol"),
    "default-added": Code("info", "the target requires the field and the source left it out"),
    "legacy-upgraded": Code("info", "a deprecated form was read as its successor"),
    "spelling-normalised": Code(
        "info", "an accepted variant spelling was replaced by the documented one"
    ),
    "surrogate-kept": Code(
        "info", "the text has a lone surrogate, which is not valid Unicode; it is sent as an escape"
    ),
    # conversation
    "role-changed": Code("info", "the role has another name in the target protocol"),
    "system-moved": Code(
        "lossy", "the target does not allow system text in this place or role, so it was moved"
    ),
    "attribution-dropped": Code(
        "info", "the line by which a client names itself to its own provider was removed"
    ),
    "turn-added": Code(
        "info", "the target requires a turn that the source does not have; a short one was added"
    ),
    "nothing-to-send": Code(
        "unsupported", "the request has no message that the target could answer"
    ),
    "turns-merged": Code("info", "consecutive messages of one role were joined into one"),
    "results-reordered": Code("info", "tool results were moved to where the target requires them"),
    "prefill-changed": Code("lossy", "the target continues an assistant prefill differently"),
    # parts
    "part-dropped": Code(
        "unsupported", "the target cannot express this content, so it was dropped"
    ),
    "part-moved": Code(
        "info", "the content was moved to the nearest place where the target accepts it"
    ),
    "part-told": Code(
        "lossy", "the target has no such content, so its model is told of it in a quoted text"
    ),
    "part-replaced": Code("lossy", "the content was replaced by a text that names it"),
    "blank-text": Code(
        "info", "the target accepts no blank text; it was left out, or replaced where it was alone"
    ),
    "text-joined": Code("info", "several texts were joined into one"),
    "citation-dropped": Code(
        "lossy", "the target cannot express these citations, so they were dropped"
    ),
    "citation-mapped": Code("lossy", "citations were reduced to what the target can express"),
    "cache-dropped": Code(
        "info", "a cache mark was dropped; the answer is the same, the price may not be"
    ),
    "cache-marked": Code(
        "info",
        "a cache mark was set, because the client's protocol has none; `prompt_cache` turns it off",
    ),
    "media-by-url": Code(
        "info", "the content is given by URL, which the target may refuse to fetch"
    ),
    # reasoning
    "reasoning-carried": Code(
        "info", "reasoning state of another provider was sealed for its way through the client"
    ),
    "reasoning-restored": Code(
        "info", "sealed reasoning state was opened for the provider that issued it"
    ),
    "reasoning-dropped": Code(
        "lossy", "the reasoning belongs to another provider, so it was dropped"
    ),
    # tools
    "tool-dropped": Code("unsupported", "the target does not support this tool, so it was dropped"),
    "rule-applied": Code("info", "a tool rule of the user was applied"),
    "call-repeated": Code("lossy", "the same call was made several times in a row"),
    "strict-added": Code(
        "info", "`strict: false` was made explicit, because the target's default differs"
    ),
    "schema-default": Code("info", "an empty parameter schema was written out"),
    "schema-narrowed": Code(
        "info", "the schema was rewritten with the keywords of the target; its meaning is the same"
    ),
    "schema-described": Code(
        "info",
        "the target has no keywords for some limits of the schema, so the descriptions tell them; "
        "calls are checked against them",
    ),
    "examples-described": Code(
        "info", "examples of arguments are given in the description of the tool"
    ),
    "schema-loosened": Code(
        "lossy", "the target has no keywords for some limits of the schema, so they were dropped"
    ),
    "schema-refused": Code(
        "lossy", "the target may reject the schema, and there is no other form of it"
    ),
    "format-dropped": Code(
        "info", "the target does not know a format in the schema, so it was dropped"
    ),
    "output-described": Code(
        "lossy", "the target cannot be asked for this form of output, so a text asks for it"
    ),
    "strict-dropped": Code("lossy", "the target cannot enforce this strict schema"),
    "required-filtered": Code(
        "info", "parameters described as optional are no longer listed as required"
    ),
    "tool-mapped": Code(
        "lossy", "a hosted tool was replaced by the corresponding one of the target"
    ),
    "tool-wrapped": Code(
        "info",
        "the target has no such tools; it is declared as a function, and calls are converted back",
    ),
    "namespace-flattened": Code(
        "info", "the tools of a namespace were declared one by one; calls get the namespace back"
    ),
    "tools-emulated": Code(
        "info",
        "the model has no tools; they are described as text, and calls are converted back",
    ),
    "choice-mapped": Code(
        "lossy", "the tool choice was replaced by the nearest one that the target has"
    ),
    "tool-duplicate": Code(
        "lossy", "a tool was declared twice under one name; only the first is used"
    ),
    "name-aliased": Code(
        "info", "the target forbids this tool name, so it was replaced; answers have the original"
    ),
    "id-aliased": Code(
        "info", "the target forbids this call id, so it was replaced, in the call and in its result"
    ),
    "id-made": Code("info", "the source left out an id, so one was generated"),
    "name-made": Code(
        "lossy", "a call came without the name of its tool, so one was made up for it"
    ),
    "stream-mended": Code(
        "info",
        "the stream lacked something that clients need, so it was encoded again from there on",
    ),
    "id-dropped": Code(
        "info", "the target has no ids here; order and name identify the call instead"
    ),
    "arguments-normalised": Code("info", "the arguments were rewritten as one JSON text"),
    "arguments-wrapped": Code(
        "info", "the arguments are no object, so they were wrapped in one, reversibly"
    ),
    "arguments-unwrapped": Code(
        "info", "the model gave free-form input in another form than requested"
    ),
    "arguments-invalid": Code(
        "lossy", "the arguments are not valid JSON and were sent as raw text"
    ),
    "arguments-mismatch": Code(
        "lossy", "the arguments do not match the schema of their tool and were not changed"
    ),
    "arguments-repaired": Code(
        "info", "the arguments were repaired to match the schema of their tool"
    ),
    "arguments-unchecked": Code(
        "info",
        "the arguments were not checked: the schema of the tool cannot be read, or the extra "
        "`validate` is not installed",
    ),
    "arguments-sanitised": Code(
        "lossy", "control characters were removed from the arguments, as requested"
    ),
    "call-promoted": Code(
        "info",
        "the model wrote a call into its text; it and the blanks around it were replaced by a call",
    ),
    "call-duplicate": Code("info", "a call came both as a call and as text; it was delivered once"),
    "call-cut": Code("info", "a call in the text broke off and was not delivered as a call"),
    "reasoning-promoted": Code(
        "info", "the model wrote reasoning into its text; it was delivered as reasoning"
    ),
    "marks-dropped": Code(
        "info", "marks without meaning for the reader were removed from the text"
    ),
    "call-invalid": Code("lossy", "the call does not match its tool and should be requested again"),
    "calls-over-limit": Code("lossy", "the answer has more calls than the client accepts"),
    "error-marked": Code(
        "info",
        "the target has no flag for failed tool results, so the failure is marked in the text",
    ),
    "result-paired": Code(
        "info", "no call has the id of this tool result, so it was paired by name and order"
    ),
    "result-unmatched": Code("lossy", "the call of this tool result is not in the conversation"),
    "call-unanswered": Code("lossy", "the result of this tool call is not in the conversation"),
    "call-renamed": Code(
        "info", "the id of the call was in use, so the call and its results got a new one"
    ),
    "call-unknown": Code("info", "the request does not declare the tool of this call"),
    "message-dropped": Code("info", "the message has no content, so it was dropped"),
    "request-mended": Code(
        "info", "the provider refused the request, so it was changed and sent once more"
    ),
    "fact-learned": Code(
        "info", "a refusal of an earlier request said what the provider does not accept"
    ),
    # responses
    "choices-dropped": Code("lossy", "the target has one choice, so the others were dropped"),
    "stop-mapped": Code(
        "lossy", "the stop reason was replaced by the nearest one that the target has"
    ),
    "usage-dropped": Code("info", "the target does not break down these token counts"),
    "usage-scaled": Code(
        "info",
        "prompt tokens are reported in proportion to the context window that the client assumes",
    ),
    "logprobs-dropped": Code(
        "lossy", "the target cannot express token probabilities, so they were dropped"
    ),
    "answer-mended": Code(
        "info", "the answer had a mistake that stops agents, which was corrected"
    ),
    "call-recovered": Code(
        "info",
        "the provider could not read the model's call and sent it as an error; it became a call",
    ),
    "bytes-replaced": Code(
        "lossy", "bytes of the stream are not UTF-8; each became the replacement character"
    ),
    "event-skipped": Code("lossy", "a broken or unknown event of the stream was skipped"),
    "status-changed": Code(
        "info", "the target's clients expect another HTTP status for this error"
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
    queued: tuple[ToolCall, ...] = ()
    """Calls that were held back for a later turn, because the client takes only some at once."""

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
