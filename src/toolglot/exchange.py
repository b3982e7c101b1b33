"""An exchange: one request of a client and its answer, translated both ways.

`translate_request` and `translate_response` know nothing of each other, so the second has to decode
the client's request once more. Whoever does both, as a gateway does, decodes it once:

    exchange = Exchange("anthropic", "openai-chat", Options(model="gpt-5.4"))
    sent = exchange.request(body)
    ...                                   # POST sent.data to sent.path
    answer = exchange.response(reply)     # or exchange.stream(), fed as the bytes come
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from toolglot.adapt import adapt_response
from toolglot.adapt.answers.model_name import requested_model
from toolglot.adapt.answers.passes import changes_answers
from toolglot.adapt.calls.validate import asks
from toolglot.adapt.reasoning.kept_state import missing_state, restore_state
from toolglot.adapt.tools.hosted import accepts_item
from toolglot.context import Context, Options
from toolglot.digest import digest
from toolglot.errors import DecodeError
from toolglot.events import unfold
from toolglot.ir import (
    NO_EXTRAS,
    ApiError,
    Choice,
    Opaque,
    Request,
    Response,
    StopReason,
    Text,
    ToolCall,
    Usage,
)
from toolglot.mending import Mending, failed_text, read_error, repair_body, understand
from toolglot.providers import is_accepted
from toolglot.receipt import Note, Receipt
from toolglot.registry import get_protocol, protocol_name
from toolglot.streams import StreamTranslator
from toolglot.translate import (
    encode_request_for,
    encode_response_for,
    passes_through,
    provider_surface,
    read_response,
    restrict_wire,
)
from toolglot.wire import jsontext
from toolglot.wire.message import WireRequest, WireResponse, read_body
from toolglot.wire.model_paths import path_of, split_path
from toolglot.wire.rename_model import RenameModel
from toolglot.wire.tool_cache import read_known, write_known

_SEED: Final = 16
_NO_WORDS: Final = "the provider failed and did not say why"


class Sent(Struct, frozen=True, kw_only=True):
    """A request as it leaves for the provider."""

    path: str
    data: bytes
    query: Mapping[str, str] = {}


class Answer(Struct, frozen=True, kw_only=True):
    """An answer as it leaves for the client."""

    data: bytes
    status: int = 200
    headers: Mapping[str, str] = {}
    usage: Usage | None = None
    """The tokens that it counts, if it does."""
    stops: tuple[StopReason, ...] = ()
    """Why each choice ended."""
    failed: ApiError | None = None
    """The error in it, if that was written as a stream because clients look for it there."""
    error: ApiError | None = None
    """What the provider answered in place of an answer."""


def encode_stream(response: Response | ApiError, protocol: str, context: Context) -> bytes:
    """A whole response as the stream that it could have been."""
    encoder = get_protocol(protocol).StreamEncoder(context)
    return b"".join(map(encoder.encode, unfold(response))) + encoder.close()


@lru_cache
def _error_form(protocol: str) -> tuple[str, type[Any]]:
    """The member that an error of a protocol has, and what it is: `error`, or its words."""
    wire = get_protocol(protocol).encode_response(ApiError(kind="server", message="x"), Context())
    key = "error" if "error" in wire.body else "message"
    return key, type(wire.body[key])


def _is_shaped(body: bytes, protocol: str) -> bool:
    """Whether a body is an error as clients of a protocol read it."""
    try:
        value = jsontext.peek(body)
    except ValueError:
        return False
    key, form = _error_form(protocol)
    error = value.get(key) if isinstance(value, dict) else None
    if type(error) is not form:
        return False
    words = error.get("message") if isinstance(error, dict) else error
    return isinstance(words, str)


def _is_answer(body: bytes, protocol: str) -> bool:
    """Whether a body has the member that makes it an answer, whatever else is wrong with it."""
    try:
        value = jsontext.peek(body)
    except ValueError:
        return False
    return isinstance(value, dict) and get_protocol(protocol).API.is_response(value)


def _says_nothing(response: Response) -> bool:
    """Whether an answer has the form of one, and nothing in it: who shows that hides a failure."""
    return response.usage is None and not any(
        choice.parts or (choice.stop is not None and choice.stop.raw) for choice in response.choices
    )


def _noting(clock: Callable[[], int], readings: list[int]) -> Callable[[], int]:
    def read() -> int:
        readings.append(clock())
        return readings[-1]

    return read


def _outcome(response: Response | ApiError) -> dict[str, Any]:
    """What whoever pays and logs wants to know of a whole answer."""
    if isinstance(response, ApiError):
        return {"error": response}
    stops = tuple(choice.stop for choice in response.choices if choice.stop is not None)
    return {"usage": response.usage, "stops": stops}


class Exchange:
    """One request of a client and its answer.

    `client` and `provider` are the protocols of the two sides. `request` comes first; then one of
    `response`, `unfolded` and `stream`, depending on what the provider answers and the client asked
    for. `notes` and `receipt` say what was changed on both ways. `repairs` are those of
    `toolglot.mending` that the request is sent with, after it was refused without them. `now` is
    the time in seconds since the epoch; with a `clock` that counts nanoseconds, answers say how
    long they took where their protocol does. Whoever knows which model is asked for says so with
    `model`, so that a request that stays in its protocol need not be read to find it.
    """

    __slots__ = (
        "_answer", "_asked_at", "_body", "_clock", "_ctx", "_decoded", "_hides_usage", "_known",
        "_model", "_path", "_unread", "answer_id", "client", "clock_readings", "counts_usage",
        "options", "provider", "repairs", "restored_state",
    )  # fmt: skip

    def __init__(
        self,
        client: str,
        provider: str,
        options: Options | None = None,
        *,
        now: int = 0,
        repairs: tuple[str, ...] = (),
        clock: Callable[[], int] | None = None,
        answer_id: str = "",
        counts_usage: bool = False,
        model: str | None = None,
    ) -> None:
        self.counts_usage = counts_usage
        """Streams are asked for their usage, also where the client did not ask for it; it is not
        shown to such a client."""
        self._hides_usage = False
        self.client = client = protocol_name(client)
        self.answer_id = answer_id
        """The id of a translated answer, in protocols whose answers can be asked for later."""
        self.provider = provider = protocol_name(provider)
        self.options = options or Options()
        self.repairs = repairs
        self._body = b""
        self._path = ""
        self._model = model
        self._decoded: Request | None = None
        self._known: object = None
        self._unread: Request | None = None
        self.clock_readings: list[int] = []
        """What the clock said, each time that it was asked; an answer can be repeated with them."""
        self._clock = _noting(clock, self.clock_readings) if clock is not None else None
        self._asked_at = self._clock() if self._clock is not None else 0
        self._ctx = self._context(client, provider, self.options, now)
        self._answer: Context | None = None
        self.restored_state: Mapping[int, str] = {}
        """The reasoning state that was put back into the request, by message."""

    # --- the request ------------------------------------------------------------------------------

    def request(self, body: bytes, path: str = "", query: Mapping[str, str] | None = None) -> Sent:
        """What the provider gets for what the client sent."""
        sent = self._translated(body, path, query)
        if self.counts_usage and self.client == self.provider:
            sent = self._asking_for_usage(sent)
        return self._repaired(sent) if self.repairs else sent

    def _asking_for_usage(self, sent: Sent) -> Sent:
        """A request for a stream, in a protocol whose streams have no usage unless it is asked for;
        elsewhere, and in every translation, it is there anyway.
        """
        _, surface = self._ctx.surfaces
        place = surface.settings.get("include_usage", "")
        parent, _, name = place.partition(".")
        dropped = surface.body.dropped | surface.sampling.dropped
        if not name or not dropped.isdisjoint({place, parent, "include_usage"}):
            return sent
        members = jsontext.members(sent.data)
        options = jsontext.read(members.get(parent))
        asked = isinstance(options, dict) and options.get(name)
        odd = options is not None and not isinstance(options, dict)
        if odd or asked or jsontext.read(members.get("stream")) is not True:
            return sent
        self._hides_usage = True
        self._ctx.note("default-added", place, "its usage is charged; the client is not shown it")
        self._ctx.receipt()
        members[parent] = {**(options or {}), name: True}
        return replace(sent, data=jsontext.encode(members))

    def _translated(self, body: bytes, path: str, query: Mapping[str, str] | None) -> Sent:
        self._begin(body, path)
        if passes_through(body, self.client, self.provider, self.options):
            return self._passed(body, path, query or {})
        wire = encode_request_for(self.client_request, self.client, self.provider, self._ctx)
        self._ctx.receipt()
        return Sent(path=wire.path, query=wire.query, data=write_known(wire.body, self._ctx))

    def _passed(self, body: bytes, path: str, query: Mapping[str, str]) -> Sent:
        """A request in the provider's own protocol: nothing changes but the model's name, and what
        the provider does not accept.
        """
        model, place = self.options.model, get_protocol(self.provider).SURFACE.path
        wire = self._restricted(body)
        restricted = write_known(wire.body, self._ctx) if wire is not None else None
        if wire is not None and self._ctx.surfaces[1].form.path is not None:
            return Sent(path=wire.path, query=query, data=restricted or body)
        if "{model}" in place:
            if model:
                path = path_of(place, model, split_path(path, place)[1])
            return Sent(path=path, query=query, data=restricted or body)
        if restricted is None and model is not None:
            body = self._with_model(body, model)
        return Sent(path=path or place, query=query, data=restricted or body)

    def _with_model(self, body: bytes, model: str) -> bytes:
        """The body with another model, in whichever member it names one."""
        usual, *others = get_protocol(self.provider).SURFACE.model_keys
        if others and usual not in (members := jsontext.members(body)):
            usual = next((key for key in others if key in members), usual)
        return jsontext.splice(body, usual, model)

    def _restricted(self, body: bytes) -> WireRequest | None:
        """The request as the provider accepts it, of which the provider accepts less; None: that is
        as it came, or it cannot be read, which the provider will say.
        """
        source, target = self._ctx.surfaces
        if self.options.rules is None and (target is source or is_accepted(body, source, target)):
            return None
        try:
            wire = restrict_wire(self.client_request, read_body(body), self._ctx)
        except DecodeError:
            return None
        self._ctx.receipt()
        return wire

    def _repaired(self, sent: Sent) -> Sent:
        body = read_body(sent.data)
        issuer = self.options.issuer
        made, notes = repair_body(body, self.provider, self.repairs, path=sent.path, issuer=issuer)
        for note in notes:
            self._ctx.note(note.code, note.path, note.message, note.severity)
        self._ctx.receipt()
        return sent if made == body else replace(sent, data=jsontext.encode(made))

    def understand(self, sent: Sent, status: int, body: bytes) -> Mending | None:
        """What would make a request acceptable that the provider refused; None: nothing known."""
        _, surface = self._ctx.surfaces
        try:
            return understand(read_error(status, body), surface, read_body(sent.data))
        except DecodeError:
            return None

    @property
    def refused_features(self) -> frozenset[str]:
        """Features that clients choose in headers, and that the provider does not accept."""
        return self._ctx.surfaces[1].form.refused_features

    def decode_request(self, body: bytes, path: str = "") -> Request:
        """What a client asked, for whoever answers it without a provider, or changes it first."""
        self._begin(body, path)
        return self.client_request

    def _begin(self, body: bytes, path: str) -> None:
        self._body, self._path = body, path
        self._ctx.begin(lambda: digest(body, _SEED))
        if self.options.provider is not None or self.options.overrides:
            asked = self.options.model or self._asked_model()
            self._ctx.target = provider_surface(self.options, self.provider, asked or "")

    @property
    def client_request(self) -> Request:
        """What the client asked."""
        if self._decoded is None:
            wire = WireRequest(body=read_known(self._body, self._ctx), path=self._path)
            self._decoded = get_protocol(self.client).decode_request(wire, self._ctx)
            self._known = self._ctx.known
        return self._decoded

    def accepts_item(self, kind: str) -> bool:
        """Whether the provider takes parts of a kind that only the client's protocol has."""
        surface = provider_surface(self.options, self.provider, self.options.model or "")
        return accepts_item(Opaque(protocol=self.client, type=kind, value={}), surface)

    def missing_state(self) -> Mapping[int, Iterable[str]]:
        """The messages that came back without the reasoning state of their turn, each with the keys
        under which that may be kept: see `kept_state`.
        """
        if self.client == self.provider:
            return {}
        return missing_state(self.client_request, get_protocol(self.provider).SURFACE)

    def restore_state(self, kept: Mapping[int, str]) -> None:
        """Put reasoning state of earlier answers back into the request, before it is sent."""
        self._decoded, self.restored_state = restore_state(self.client_request, kept), kept
        for index in kept:
            self._ctx.note("reasoning-restored", self._ctx.at(index), "it was kept meanwhile")

    def echo(self, fields: Mapping[str, Any]) -> None:
        """Fields of the client's request that no provider need know, such as the answer that it
        continues: a translated answer repeats them where its protocol does.
        """
        asked = self._decoded
        if asked is not None and fields:
            own = {**asked.extras.get(self.client, {}), **fields}
            self._decoded = replace(asked, extras={**asked.extras, self.client: own})

    # --- the answer -------------------------------------------------------------------------------

    def response(
        self,
        body: bytes,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
    ) -> Answer:
        """What the client gets for a whole answer or an error; `stream`: it asked for a stream."""
        try:
            response, wire, ctx = self._decode(body, status, headers)
        except DecodeError:
            mends = self.options.mend == "on" or self.client != self.provider
            if mends or not _is_answer(body, self.client):
                raise
            return Answer(status=status, headers=headers or {}, data=body)
        if stream and isinstance(response, ApiError):
            surface = get_protocol(self.client).SURFACE
            if response.kind in surface.stream.errors_inside:
                data = encode_stream(response, self.client, ctx)
                return Answer(data=data, failed=response, error=response)
        if isinstance(response, ApiError) and not _is_shaped(body, self.client):
            shaped = self.error(response)
            return replace(shaped, error=response)
        encoded = encode_response_for(response, wire, self.client, ctx)
        data = body if encoded is wire else encoded.data()
        rename = self._rename_model() if ctx.in_protocol else None
        if rename is not None and isinstance(response, Response) and response.usage is not None:
            data = jsontext.encode(rename.body(encoded.body))
        return Answer(
            status=encoded.status, headers=encoded.headers, data=data, **_outcome(response)
        )

    def unfolded(self, body: bytes) -> Answer:
        """A whole answer as the stream that the client had asked for."""
        response, _, ctx = self._decode(body)
        adapted = adapt_response(response, ctx) if isinstance(response, Response) else response
        if isinstance(adapted, Response):
            adapted = replace(adapted, model=requested_model(ctx) or adapted.model)
        data = encode_stream(adapted, self.client, ctx)
        if isinstance(adapted, Response) and any(each.logprobs for each in adapted.choices):
            ctx.note("logprobs-dropped", "logprobs", "token probabilities are not streamed on")
        return Answer(data=data, **_outcome(response))

    def recovered(self, body: bytes, *, stream: bool = False) -> Answer | None:
        """What the client gets for an error that has the text of a call which the provider could
        not read; None: there is none, or no call of a declared tool in it.
        """
        text = failed_text(body)
        if text is None:
            return None
        answer, self._answer = self._answer, None
        options, self.options = self.options, replace(self.options, dialect="auto")
        try:
            ctx = self._answered(body)
            written = Response(
                id=ctx.new_id("recovered_"),
                model=self._asked_model() or "",
                choices=(Choice(parts=(Text(text=text),), stop=StopReason(kind="end")),),
            )
            adapted = adapt_response(written, ctx)
        finally:
            self.options = options
        if not any(isinstance(part, ToolCall) for part in adapted.choices[0].parts):
            self._answer = answer
            return None
        ctx.note("call-recovered", "error.failed_generation")
        if stream:
            return Answer(data=encode_stream(adapted, self.client, ctx), **_outcome(adapted))
        wire = get_protocol(self.client).encode_response(adapted, ctx)
        return Answer(
            status=wire.status, headers=wire.headers, data=wire.data(), **_outcome(adapted)
        )

    def stream(self) -> StreamTranslator:
        """What the client gets for a stream, piece by piece."""
        return StreamTranslator(self.provider, self.client, context=self._answered(), watch=True)

    def release_text(self) -> None:
        """Let go of the text of the client's request, once its answer streams: that is most of the
        memory that an open stream takes. It stays where an answer may still need it.
        """
        if self._answer is not None and self._decoded is not None and self.client != self.provider:
            self._answer.settle(more_ids=True)
            self._ctx.settle(more_ids=False)
            self._body = b""

    def error(self, error: ApiError) -> Answer:
        """What the client gets for an error of our own, or of a provider that wrote it in another
        shape than the client reads.
        """
        plain = replace(error, message=error.message or _NO_WORDS, extras=NO_EXTRAS)
        wire = get_protocol(self.client).encode_response(plain, self._answered())
        return Answer(status=wire.status, headers=wire.headers, data=wire.data())

    @property
    def has_kept_state(self) -> bool:
        """Whether `kept_state` has something to give."""
        return self._answer is not None and bool(self._answer.kept_state)

    def kept_state(self) -> Mapping[str, str]:
        """The reasoning state of the answer so far, by key, for clients that may not return it.

        Some keys only lead to another key. Each is given once.
        """
        if self._answer is None or not self._answer.kept_state:
            return {}
        kept, self._answer.kept_state = self._answer.kept_state, {}
        return kept

    # --- the receipt ------------------------------------------------------------------------------

    def note(self, code: str, path: str, message: str = "") -> None:
        """Write down what was changed in a request before it came here."""
        self._ctx.note(code, path, message)

    @property
    def notes(self) -> tuple[Note, ...]:
        """All that was changed so far, on both ways."""
        answer = self._answer.notes() if self._answer is not None else ()
        return (*self._ctx.notes(), *answer)

    @property
    def receipt(self) -> Receipt:
        """The same as a receipt."""
        return Receipt(self.notes, self._answer.queued if self._answer is not None else ())

    # --- contexts ---------------------------------------------------------------------------------

    @property
    def now(self) -> int:
        """The time of the translation, in seconds since the epoch."""
        return self._ctx.now()

    def answer_context(self) -> Context:
        """The context in which an answer is made that no provider gave."""
        ctx = self._answered()
        ctx.begin(lambda: digest(self._body, _SEED))
        ctx.made_here = True
        return ctx

    def _decode(
        self, body: bytes, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> tuple[Response | ApiError, WireResponse, Context]:
        ctx = self._answered(body)
        wire = read_response(body, status, headers, ctx)
        response = get_protocol(self.provider).decode_response(wire, ctx)
        if isinstance(response, Response) and _says_nothing(response):
            raise DecodeError("", "it has no content, no usage and no reason why it ends")
        return response, wire, ctx

    def _answered(self, body: bytes = b"") -> Context:
        """The context of the answer. Ids that it makes up depend on the request, and on its body or
        the first event of a stream.
        """
        if self._answer is None:
            options = replace(self.options, strict=False) if self.options.strict else self.options
            now = self._ctx.now()
            ctx = self._context(self.provider, self.client, options, now, body)
            ctx.kept_state = {}
            ctx.answer_id = self.answer_id
            ctx.hides_usage = self._hides_usage
            if self._clock is not None:
                ctx.measure(self._clock, self._asked_at)
            ctx.request, ctx.undo = self._request(), self._ctx.undo
            ctx.declared = self._ctx.declared
            if ctx.declared is None and ctx.request is not None:
                ctx.declared = ctx.request.tools
            ctx.known = self._known
            if ctx.in_protocol:
                ctx.asked = self._whole_request
            self._answer = ctx
        return self._answer

    def _request(self) -> Request | None:
        """What the client asked, as far as an answer depends on it; none that cannot be read."""
        changed = changes_answers(self.options) or asks(self.options)
        marks = get_protocol(self.client).SURFACE.answer_form_marks
        changed = changed or any(mark in self._body for mark in marks)
        if self._decoded is None and self.client == self.provider and not changed:
            self._unread = self._unread or self._glance()
            return self._unread
        try:
            return self.client_request
        except DecodeError:
            return None

    def _whole_request(self) -> Request | None:
        try:
            return self.client_request
        except DecodeError:
            return None

    def _glance(self) -> Request | None:
        """A request that was passed on unread: only its model matters."""
        model = self._asked_model()
        return Request(model=model, messages=()) if model is not None else None

    def _asked_model(self) -> str | None:
        if self._model is not None:
            return self._model
        if "{model}" in get_protocol(self.client).SURFACE.path:
            return split_path(self._path, get_protocol(self.client).SURFACE.path)[0]
        model: object = jsontext.glance(self._body).model
        return model if isinstance(model, str) else None

    def _rename_model(self) -> RenameModel | None:
        asked, model = self._request(), self.options.model
        if asked is None or model is None or model == asked.model:
            return None
        return RenameModel(get_protocol(self.client).SURFACE.model_at, asked.model)

    def _context(
        self, source: str, target: str, options: Options, now: int, body: bytes | None = None
    ) -> Context:
        """A context of the request, or of its answer and what is known of that."""
        asked = self._body
        return Context(
            options,
            source=get_protocol(source).SURFACE,
            target=get_protocol(target).SURFACE,
            seed=(lambda: digest(body, _SEED)) if body else b"",
            salt=bytes if body is None else (lambda: digest(asked, _SEED)),
            now=now,
        )
