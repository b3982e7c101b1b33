"""What a model says, in a response or in the history of a request, both ways.

One message holds, each in a member of its own: reasoning, content, a refusal and calls.
"""

from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import (
    NO_EXTRAS,
    Citation,
    Json,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
)
from toolglot.protocols.openai_chat.parts import (
    CALL,
    PIECES,
    decode_content,
    encode_parts,
    is_plain,
)
from toolglot.protocols.openai_chat.surface import NAME, VARIANTS, variants_of, with_variants
from toolglot.wire import jsontext
from toolglot.wire.fields import Fields, merge
from toolglot.wire.parts import cannot_carry

REASONING: Final = ("reasoning_content", "reasoning")
"""Where servers put the words of reasoning; the first is written where nothing else is known."""

BESIDE: Final = "beside"
"""In place of such a member: any but a piece of the content."""

_SEALED: Final = {"type": "reasoning.encrypted", "format": "toolglot-v1"}
_PIECES: Final = frozenset({"text", "summary", "data"})


class Calls:
    """The calls of a conversation so far; gives an id to those that came without."""

    __slots__ = ("_count", "_ctx", "_seen", "_waiting", "customs")

    def __init__(self, ctx: Context | None = None) -> None:
        # In a response ids come from the context; in a history the position decides, every turn.
        self._ctx = ctx
        self._count = 0
        self._seen: set[str] = set()
        self._waiting: list[tuple[str, str]] = []
        self.customs: set[str] = set()

    @property
    def lenient(self) -> bool:
        """Whether what is being read is a response."""
        return self._ctx is not None

    def name(self) -> str:
        """A name for a call that came without."""
        return f"tool_{self._count}"

    def identify(self, given: str | None, name: str) -> tuple[str, bool]:
        """The id of the next call, and whether it was made up."""
        call_id = given or self._new()
        self._count += 1
        self._seen.add(call_id)
        if not given:
            self._waiting.append((name, call_id))
        return call_id, not given

    def answered(self, name: str | None) -> str:
        """The id of the first call, of that name, that has none of its own and no result yet."""
        for index, (called, call_id) in enumerate(self._waiting):
            if name is None or called == name:
                del self._waiting[index]
                return call_id
        return self._new()

    def _new(self) -> str:
        if self._ctx is not None:
            return self._ctx.new_id("call_")
        made = f"call_{self._count}"
        while made in self._seen:
            made += "_"
        return made


def decode_assistant(fields: Fields, calls: Calls) -> tuple[tuple[Part, ...], str, Json]:
    """The parts of a message, its wire form, and what else there is to remember of it."""
    parts: list[Part] = list(_decode_reasoning(fields))
    made = _decode_calls(fields, calls)
    variants: Json = {}
    if made and fields.peek("content") == "":
        # Many servers write "" where null is meant; an empty text is nothing to pass on.
        variants["content"] = fields.take("content")
    content: tuple[Part, ...]
    if calls.lenient and isinstance(fields.peek("content"), dict):
        # Cloudflare gives JSON as a value where it was asked for.
        fields.note("spelling-normalised", "content", "a value in place of its JSON text")
        variants["object"] = True
        content, listed = (Text(text=jsontext.text(fields.take("content"))),), False
    else:
        content, listed = decode_content(fields)
    if fields.peek("annotations") and not listed and content:
        content = (_decode_annotations(fields, content[0].text),)  # type: ignore[union-attr]
    if calls.lenient and listed and any(isinstance(part, Reasoning) for part in content):
        listed = not _is_flattened(fields)
    parts += content
    if fields.peek("refusal"):
        parts.append(Refusal(text=fields.text("refusal")))
    parts += made
    return tuple(parts), NAME if listed else "", variants


def _is_flattened(fields: Fields) -> bool:
    """Whether the list of an answer's content is written as a text, with reasoning beside it: most
    clients of this protocol know no other.
    """
    ctx = fields.document.ctx
    if not ctx.in_protocol or ctx.options.mend == "off":
        return False
    fields.note("answer-mended", "content", "a list with reasoning in it; the text stands alone")
    return True


def encode_assistant(
    parts: tuple[Part, ...], wire_form: str, variants: Json, ctx: Context, *, own: bool, member: str
) -> Json:
    """The reverse. `own` says that the parts came from this protocol, so nothing is filled in;
    `member` says where reasoning stands, if that is known.
    """
    wire: Json = {"role": "assistant"}
    reasoning: list[Reasoning] = []
    content: list[Part] = []
    refusals: list[str] = []
    calls: list[Json] = []
    for part in parts:
        if isinstance(part, ToolCall):
            # For a client in a translation, a call is complete; it is as it came where it is only
            # written back.
            calls.append(encode_call(part, own=own, as_it_came=own and ctx.source is None))
        elif isinstance(part, Opaque) and part.type.startswith(CALL):
            call = part.value if part.protocol == NAME else cannot_carry(part, ctx)
            calls += [call] if call is not None else []
        elif isinstance(part, Reasoning) and not _stands_in_content(part, member):
            reasoning.append(part)
        elif isinstance(part, Refusal) and VARIANTS not in part.extras:
            refusals.append(part.text)
        else:
            content.append(part)
    _encode_reasoning(wire, reasoning, "" if member == BESIDE else member, ctx)
    _encode_content(wire, tuple(content), wire_form, ctx)
    _respell_content(wire, variants, own=own)
    if not own:
        # Where nothing else stands, servers refuse null.
        wire.setdefault("content", None if calls or refusals else "")
    if refusals:
        wire["refusal"] = "".join(refusals)
    if calls:
        wire["tool_calls"] = calls
        if ctx.target is not None and ctx.target.reasoning.stand_in:
            _encode_stand_in(wire, ctx)
    return wire


def _encode_stand_in(wire: Json, ctx: Context) -> None:
    """State for calls that were made elsewhere, or whose state was lost, where they need some."""
    details = wire.get("reasoning_details", [])
    stand_in = ctx.surfaces[1].reasoning.stand_in
    if any(isinstance(each, dict) and each.get("type") == stand_in["type"] for each in details):
        return
    call_id = wire["tool_calls"][0].get("id")
    wire["reasoning_details"] = [*details, {**stand_in, "id": call_id}]
    ctx.note("default-added", "reasoning_details", f"the call {call_id} has no state of this model")


def _stands_in_content(part: Reasoning, known: str) -> bool:
    """Whether reasoning is a piece of the content: for a provider that reads it there, or as it
    came.
    """
    return known == PIECES if known else PIECES in variants_of(part.extras)


def _encode_content(wire: Json, content: tuple[Part, ...], wire_form: str, ctx: Context) -> None:
    if wire_form == NAME or not all(map(is_plain, content)):
        wire["content"] = encode_parts(content, ctx)
    elif content:
        texts = [part.text for part in content if isinstance(part, Text)]
        if len(texts) > 1:
            ctx.note("text-joined", ctx.where(content[0]), f"{len(texts)} texts joined into one")
        wire["content"] = "".join(texts)


def _respell_content(wire: Json, variants: Json, *, own: bool) -> None:
    """Content in the form that it had: an empty text, an object, or left out."""
    if "content" in variants and "content" not in wire:
        wire["content"] = variants["content"]
    if "object" in variants and own:
        wire["content"] = jsontext.peek(wire["content"])


# --- citations: annotations of the one text -------------------------------------------------------


def _decode_annotations(fields: Fields, text: str) -> Text:
    citations = tuple(
        decode_citation(fields.element(value, "annotations", index))
        for index, value in enumerate(fields.maybe_list("annotations") or ())
    )
    return Text(text=text, citations=citations)


def decode_citation(fields: Fields) -> Citation:
    """One annotation; one that is no citation of a page is kept whole."""
    value = fields.peek("url_citation")
    if not isinstance(value, dict) or type(value.get("url")) is not str:
        return Citation(extras=fields.rest() or {NAME: {}})
    if fields.peek("type") != "url_citation":
        fields.note("spelling-normalised", "type", "an annotation of a page is a url_citation")
    fields.constant("type", "url_citation")
    inner = fields.fields("url_citation")
    url, title = inner.text("url"), inner.maybe_text("title")
    start, end = inner.maybe_int("start_index"), inner.maybe_int("end_index")
    fields.absorb(inner)
    members = {"title": title, "start_index": start, "end_index": end}
    missing = [key for key, value in members.items() if value is None]
    extras = fields.rest()
    return Citation(
        url=url,
        title=title,
        start=start,
        end=end,
        extras=with_variants(extras, {"without": missing}) if missing else extras,
    )


def encode_citation(citation: Citation, start: int, length: int, ctx: Context) -> Json | None:
    """One annotation of a text of some length that starts somewhere in the content."""
    if citation.url is None:
        if NAME in citation.extras:
            return merge({}, citation.extras, NAME)
        ctx.note("citation-dropped", "annotations", f"{citation.title!r} is not a page")
        return None
    page: Json = {
        "url": citation.url,
        "title": citation.title or "",
        "start_index": start + (citation.start or 0),
        "end_index": start + (length if citation.end is None else citation.end),
    }
    for key in variants_of(citation.extras).get("without", ()):
        del page[key]
    return merge({"type": "url_citation", "url_citation": page}, citation.extras, NAME)


def encode_annotations(wire: Json, parts: tuple[Part, ...], ctx: Context) -> None:
    """The citations of all texts, counted in the content that the texts make up."""
    start, annotations = 0, []
    for part in parts:
        if isinstance(part, Text):
            length = len(part.text)
            for citation in part.citations:
                annotation = encode_citation(citation, start, length, ctx)
                annotations += [annotation] if annotation is not None else []
            start += length
    known = ctx.target.messages.known_keys if ctx.target else None
    if annotations and known is not None and "annotations" not in known:
        ctx.note("citation-dropped", "annotations", "the provider takes none back", "info")
    elif annotations:
        wire["annotations"] = annotations


# --- reasoning: words in one member, state in another ---------------------------------------------


def _decode_reasoning(fields: Fields) -> list[Reasoning]:
    words, field = "", ""
    for key in REASONING:
        value = fields.peek(key)
        if value and type(value) is str:
            words, field = fields.text(key), key
            break
    details = fields.peek("reasoning_details")
    if not details or type(details) is not list:
        return [_reasoning(words, field, [])] if field else []
    return _decode_details(words, field, fields.take("reasoning_details"))


def _decode_details(words: str, field: str, details: list[Any]) -> list[Reasoning]:
    """Sealed entries as parts of their own; the others stay with the part that they follow."""
    own: list[Any] = []
    follow = own
    sealed: list[tuple[str, Json]] = []
    for index, entry in enumerate(details):
        if is_sealed(entry):
            follow = []
            variants: Json = {"details": follow}
            if entry != _sealed(entry["data"], index):
                variants["entry"] = entry
            sealed.append((entry["data"], variants))
        else:
            follow.append(entry)
    parts = [_reasoning(words, field, own)] if field or own else []
    for signature, variants in sealed:
        present = {key: value for key, value in variants.items() if value}
        extras = with_variants(NO_EXTRAS, present) if present else NO_EXTRAS
        parts.append(Reasoning(redacted=True, signature=signature, extras=extras))
    return parts


def _reasoning(words: str, field: str, details: list[Any]) -> Reasoning:
    """Reasoning as it stood; where only details tell its words, they are shown but not written."""
    variants: Json = {}
    if field != REASONING[0]:
        variants["field"] = field
    if details:
        variants["details"] = details
    text = words or "".join(map(detail_words, details))
    extras = with_variants(NO_EXTRAS, variants) if variants else NO_EXTRAS
    return Reasoning(text=text, redacted=not text, extras=extras)


def _encode_reasoning(wire: Json, parts: list[Reasoning], known: str, ctx: Context) -> None:
    words: dict[str, list[str]] = {}
    details: list[Any] = []
    for part in parts:
        variants = variants_of(part.extras)
        text, field = part.text or "\n\n".join(part.summary), variants.get("field", REASONING[0])
        field = PIECES if known and PIECES in variants else field
        if known and field != known:
            spelled = field or "reasoning_details"
            ctx.note("spelling-normalised", spelled, f"the provider reads reasoning from {known}")
            field = known
        if text and field:
            words.setdefault(field, []).append(text)
        entries = encode_details(part, len(details))
        if known and entries:
            ctx.note("field-minor", "reasoning_details", f"the provider knows only {known}")
            entries = []
        details += entries
        if not text and not entries:
            ctx.note("reasoning-dropped", ctx.where(part), "it has neither words nor state")
    for field, texts in words.items():
        if len(texts) > 1:
            ctx.note(
                "text-joined",
                ctx.where(parts[0]),
                f"{len(texts)} pieces of reasoning joined into one",
            )
        wire[field] = "\n\n".join(texts)
    if details:
        wire["reasoning_details"] = details


def encode_details(part: Reasoning, count: int) -> list[Any]:
    """The entries of `reasoning_details` that a part makes, after some others."""
    variants = variants_of(part.extras)
    entries: list[Any] = list(variants.get("details", ()))
    if part.signature is not None:
        entry = variants.get("entry")
        entries.insert(0, _sealed(part.signature, count) if entry is None else entry)
    return entries


def _sealed(signature: str, index: int) -> Json:
    return {**_SEALED, "data": signature, "index": index}


def is_sealed(entry: Any) -> bool:
    """Whether an entry of `reasoning_details` is state that we sealed there."""
    if not isinstance(entry, dict) or type(entry.get("data")) is not str:
        return False
    return all(entry.get(key) == value for key, value in _SEALED.items())


def detail_words(entry: Any) -> str:
    """What can be read in an entry of `reasoning_details`."""
    if isinstance(entry, dict):
        for key in ("text", "summary"):
            if type(entry.get(key)) is str:
                return str(entry[key])
    return ""


class _Pieces(list[str]):
    """Pieces of one text, told apart from a list that the wire has."""


class Details:
    """The `reasoning_details` of a stream; pieces of an entry are joined once, at the end."""

    __slots__ = ("_entries", "_known")

    def __init__(self) -> None:
        self._entries: list[Any] = []
        self._known: dict[tuple[int, str], Json] = {}

    def add(self, entry: Any) -> None:
        """One entry, or one more piece of an entry with the same index and type."""
        if not isinstance(entry, dict):
            self._entries.append(entry)
            return
        index, kind = entry.get("index"), entry.get("type")
        numbered = type(index) is int and type(kind) is str
        known = self._known.get((index, kind)) if numbered else None  # type: ignore[arg-type]
        if known is None:
            known = {}
            self._entries.append(known)
            if numbered:
                self._known[index, kind] = known  # type: ignore[index]
        for key, value in entry.items():
            if key in _PIECES and type(value) is str:
                if type(known.get(key)) is not _Pieces:
                    known[key] = _Pieces()
                known[key].append(value)
            elif value is not None or key not in known:
                known[key] = value

    def take(self) -> list[Any]:
        """All entries, whole; none are left."""
        entries, self._entries = self._entries, []
        self._known = {}
        return [_joined(entry) if isinstance(entry, dict) else entry for entry in entries]


def _joined(entry: Json) -> Json:
    return {
        key: "".join(value) if type(value) is _Pieces else value for key, value in entry.items()
    }


# --- calls ----------------------------------------------------------------------------------------


def _decode_calls(fields: Fields, calls: Calls) -> list[ToolCall | Opaque]:
    made = [decode_call(each, calls) for each in fields.each("tool_calls")]
    legacy = fields.peek("function_call")
    if not made and isinstance(legacy, dict) and not _is_empty(legacy, calls):
        fields.note("legacy-upgraded", "function_call", "read as the one entry of `tool_calls`")
        function = fields.fields("function_call")
        call, extras = _function(function, None, calls), function.rest()
        made.append(replace(call, extras={NAME: {"function": extras[NAME]}}) if extras else call)
    return made


def _is_empty(function: Json, calls: Calls) -> bool:
    """Whether a server that writes every member wrote one that says nothing: no call was made."""
    return (bool(function) or calls.lenient) and not any(function.values())


def decode_call(fields: Fields, calls: Calls) -> ToolCall | Opaque:
    """One call; a type unknown here is kept whole."""
    kind = fields.peek("type")
    member = "custom" if kind == "custom" else "function"
    flat = not isinstance(fields.peek(member), dict)
    if flat and kind not in ("function", "custom"):
        if kind is not None:
            return Opaque(protocol=NAME, type=f"{CALL}{kind}", value=fields.whole())
        fields.fail(member, "expected object")
    given = fields.maybe_text("id")
    inner = fields if flat else fields.fields(member)
    typed = fields.peek("type") is not None
    without = [] if typed or flat else ["type"]
    if member == "function" and not flat and "arguments" not in inner:
        without.append("arguments")
    if flat or not typed:
        fields.note("spelling-normalised", "", "a call in another shape than the documented one")
    call = (_custom if kind == "custom" else _function)(inner, given, calls)
    if call.id_made:
        fields.note("id-made", "id", f"the call is named {call.id}")
    fields.constant("type", member)
    if not flat:
        fields.absorb(inner)
    signature = signature_of(fields.peek("extra_content"))
    if signature is not None and fields.peek("extra_content") == signed(signature):
        fields.take("extra_content")
    extras = fields.rest()
    if without:
        extras = with_variants(extras, {"without": tuple(without)})
    if signature is None and not extras:
        return call
    return replace(call, signature=signature, extras=extras)


def signature_of(extra: Any) -> str | None:
    """The reasoning state on a call, where Google's models have it in this protocol."""
    inner = extra.get("google") if isinstance(extra, dict) else None
    found = inner.get("thought_signature") if isinstance(inner, dict) else None
    return found if type(found) is str else None


def signed(signature: str) -> Json:
    """The same on the wire."""
    return {"google": {"thought_signature": signature}}


def _function(fields: Fields, given: str | None, calls: Calls) -> ToolCall:
    name = _name(fields, calls)
    value = fields.take("arguments")
    if value is None:
        key = "arguments" if "arguments" in fields else ""
        fields.note("arguments-normalised", key, "no arguments are the empty text")
        value = ""
    elif type(value) is not str:
        fields.note("arguments-normalised", "arguments", "a value in place of its JSON text")
        value = jsontext.text(value)
    call_id, made = calls.identify(given, name)
    return ToolCall(id=call_id, name=name, arguments=value, id_made=made)


def _custom(fields: Fields, given: str | None, calls: Calls) -> ToolCall:
    name = _name(fields, calls)
    text = fields.maybe_text("input") or ""
    call_id, made = calls.identify(given, name)
    calls.customs.add(call_id)
    return ToolCall(id=call_id, name=name, arguments=text, type="custom", id_made=made)


def _name(fields: Fields, calls: Calls) -> str:
    if not calls.lenient:
        return fields.text("name")
    name = fields.maybe_text("name")
    if not name:
        name = calls.name()
        fields.note("name-made", "name", f"the call has no name; it is called {name}")
    return name


def encode_call(part: ToolCall, *, own: bool, as_it_came: bool = False) -> Json:
    """One call."""
    wire: Json = {"id": part.id}
    without = variants_of(part.extras).get("without", ()) if as_it_came else ()
    if "type" not in part.extras.get(NAME, ()) and "type" not in without:
        wire["type"] = part.kind
    if part.kind == "custom":
        wire["custom"] = {"name": part.name, "input": part.arguments}
    else:
        arguments = part.arguments if own else part.arguments or "{}"
        wire["function"] = {"name": part.name, "arguments": arguments}
        if "arguments" in without and not arguments:
            del wire["function"]["arguments"]
    if part.signature is not None:
        wire["extra_content"] = signed(part.signature)
    return merge(wire, part.extras, NAME)
