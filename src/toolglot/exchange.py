"""An exchange: one request of a client and its answer, translated both ways.

`translate_request` and `translate_response` know nothing of each other, so the second has to read
the client's request once more. Whoever does both, as a gateway does, reads it once:

    exchange = Exchange("anthropic", "openai-chat", Options(model="gpt-5.4"))
    sent = exchange.request(body)
    ...                                   # POST sent.data to sent.path
    answer = exchange.response(reply)     # or exchange.stream(), fed as the bytes come
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from toolglot.adapt.answers.token_scale import scales
from toolglot.adapt.calls.validate import asks
from toolglot.adapt.reasoning.kept_state import missing, supply
from toolglot.adapt.tools.emulated import dialect_of
from toolglot.context import Context, Options
from toolglot.digest import digest
from toolglot.errors import DecodeError
from toolglot.events import Failed, unfold
from toolglot.ir import ApiError, Request, Response, StopReason, Usage
from toolglot.receipt import Note, Receipt
from toolglot.registry import get_protocol
from toolglot.streams import StreamTranslator
from toolglot.translate import decode_response, read_answer, send, show, stays
from toolglot.wire import jsontext
from toolglot.wire.message import WireRequest
from toolglot.wire.rename_model import Relabel
from toolglot.wire.tool_cache import read_known, write_known

_SEED: Final = 16


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
    """The error that it tells as a stream, because its clients look for it there."""


def streamed(response: Response | ApiError, protocol: str, context: Context) -> bytes:
    """A whole response as the stream that it could have been."""
    encoder = get_protocol(protocol).StreamEncoder(context)
    return b"".join(map(encoder.encode, unfold(response))) + encoder.close()


class Exchange:
    """One request of a client and its answer."""

    __slots__ = (
        "_answer", "_body", "_ctx", "_decoded", "_glance", "_known", "_path",
        "client", "options", "provider", "supplied",
    )  # fmt: skip

    def __init__(
        self, client: str, provider: str, options: Options | None = None, *, now: int = 0
    ) -> None:
        self.client = client
        self.provider = provider
        self.options = options or Options()
        self._body = b""
        self._path = ""
        self._decoded: Request | None = None
        self._known: object = None
        self._glance: Request | None = None
        self._ctx = self._context(client, provider, self.options, now)
        self._answer: Context | None = None
        self.supplied: Mapping[int, str] = {}
        """The keepsakes that were put into the request."""

    # --- the request ------------------------------------------------------------------------------

    def request(self, body: bytes, path: str = "", query: Mapping[str, str] | None = None) -> Sent:
        """What the provider gets for what the client sent."""
        self._body, self._path = body, path
        self._ctx.begin(lambda: digest(body, _SEED))
        if stays(body, self.client, self.provider, self.options):
            return self._passed(body, path, query or {})
        wire = send(self.asked, self.client, self.provider, self._ctx)
        self._ctx.receipt()
        return Sent(path=wire.path, query=wire.query, data=write_known(wire.body, self._ctx))

    def _passed(self, body: bytes, path: str, query: Mapping[str, str]) -> Sent:
        """A request in the provider's own protocol: nothing but the model's name may change."""
        model, place = self.options.model, get_protocol(self.provider).SURFACE.path
        if "{model}" in place:
            operation = path.rpartition(":")[2]
            named = place.format(model=model).rpartition(":")[0] if model else ""
            return Sent(path=f"{named}:{operation}" if named else path, query=query, data=body)
        data = jsontext.splice(body, "model", model) if model is not None else body
        return Sent(path=path or place, query=query, data=data)

    def read(self, body: bytes, path: str = "") -> Request:
        """What a client asked, for whoever answers it without a provider."""
        self._body, self._path = body, path
        self._ctx.begin(lambda: digest(body, _SEED))
        return self.asked

    def missing(self) -> Mapping[int, str]:
        """The turns that a client gave back without the state they came with, by the keys under
        which their keepsakes can be found.
        """
        if self.client == self.provider:
            return {}
        return missing(self.asked, get_protocol(self.provider).SURFACE)

    def supply(self, kept: Mapping[int, str]) -> None:
        """Put keepsakes of earlier answers into the request, before it is sent."""
        self._decoded, self.supplied = supply(self.asked, kept), kept
        for index in kept:
            self._ctx.note("reasoning-restored", self._ctx.at(index), "it was kept meanwhile")

    def keepsakes(self) -> Mapping[str, str]:
        """The state of the answer so far, each told once, for clients that may not give it back."""
        if self._answer is None or not self._answer.keepsakes:
            return {}
        told, self._answer.keepsakes = self._answer.keepsakes, {}
        return told

    def answer_context(self) -> Context:
        """The context in which an answer is made."""
        ctx = self._answered()
        ctx.begin(lambda: digest(self._body, _SEED))
        return ctx

    @property
    def now(self) -> int:
        """The time that the translation was told."""
        return self._ctx.now()

    @property
    def asked(self) -> Request:
        """What the client asked."""
        if self._decoded is None:
            wire = WireRequest(body=read_known(self._body, self._ctx), path=self._path)
            self._decoded = get_protocol(self.client).decode_request(wire, self._ctx)
            self._known = self._ctx.known
        return self._decoded

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
        ctx = self._answered(body)
        wire = read_answer(body, status, headers, ctx)
        response = get_protocol(self.provider).decode_response(wire, ctx)
        if stream and isinstance(response, ApiError):
            surface = get_protocol(self.client).SURFACE
            if response.kind in surface.streamed_errors:
                return self._told_in_stream(response)
        shown = show(response, wire, self.provider, self.client, ctx)
        usage = response.usage if isinstance(response, Response) else None
        choices = response.choices if isinstance(response, Response) else ()
        stops = tuple(choice.stop for choice in choices if choice.stop is not None)
        data = body if shown is wire else shown.data()
        relabel = self._relabel() if shown is wire and usage is not None else None
        if relabel is not None:
            data = jsontext.encode(relabel.body(shown.body))
        return Answer(
            status=shown.status, headers=shown.headers, data=data, usage=usage, stops=stops
        )

    def _told_in_stream(self, error: ApiError) -> Answer:
        codec = get_protocol(self.client)
        encoder = codec.StreamEncoder(self._answered())
        data = encoder.encode(Failed(error)) + encoder.close()
        return Answer(data=data, failed=error)

    def error(self, error: ApiError) -> Answer:
        """What the client gets for an error of our own."""
        wire = get_protocol(self.client).encode_response(error, self._answered())
        return Answer(status=wire.status, headers=wire.headers, data=wire.data())

    def stream(self) -> StreamTranslator:
        """What the client gets for a stream, piece by piece."""
        return StreamTranslator(self.provider, self.client, context=self._answered(), watch=True)

    def unfolded(self, body: bytes) -> Answer:
        """A whole answer as the stream that the client had asked for."""
        answer = self.response(body)
        response = decode_response(answer.data, source=self.client)
        return Answer(data=streamed(response, self.client, self._answered()), usage=answer.usage)

    def repeat(self, said: Mapping[str, Any]) -> None:
        """What the client said besides, and no provider need know, such as the answer that it
        continues: a translated answer repeats it where its protocol does.
        """
        asked = self._decoded
        if asked is not None and said:
            own = {**asked.extras.get(self.client, {}), **said}
            self._decoded = replace(asked, extras={**asked.extras, self.client: own})

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
        return Receipt(self.notes)

    # --- contexts ---------------------------------------------------------------------------------

    def _answered(self, body: bytes = b"") -> Context:
        """The context of the answer. Ids that it makes up depend on its body, or on the first
        event of a stream.
        """
        if self._answer is None:
            options = replace(self.options, strict=False) if self.options.strict else self.options
            now = self._ctx.now()
            ctx = self._context(self.provider, self.client, options, now, body)
            ctx.keepsakes = {}
            ctx.request, ctx.undo = self._request(), self._ctx.undo
            ctx.declared = self._ctx.declared
            if ctx.declared is None and ctx.request is not None:
                ctx.declared = ctx.request.tools
            ctx.known = self._known
            self._answer = ctx
        return self._answer

    def _request(self) -> Request | None:
        """What the client asked, as far as an answer depends on it; none that cannot be read."""
        options = self.options
        written = dialect_of(options) is not None or asks(options) or scales(options)
        if self._decoded is None and self.client == self.provider and not written:
            self._glance = self._glance or self._glanced()
            return self._glance
        try:
            return self.asked
        except DecodeError:
            return None

    def _glanced(self) -> Request | None:
        """A request that was passed on unread: only its model matters."""
        model: object
        if "{model}" in get_protocol(self.client).SURFACE.path:
            model = self._path.rpartition("/")[2].partition(":")[0]
        else:
            model = jsontext.glance(self._body).model
        return Request(model=model, messages=()) if isinstance(model, str) else None

    def _relabel(self) -> Relabel | None:
        asked, model = self._request(), self.options.model
        if asked is None or model is None or model == asked.model:
            return None
        return Relabel(get_protocol(self.client).SURFACE.model_at, asked.model)

    def _context(
        self, source: str, target: str, options: Options, now: int, body: bytes = b""
    ) -> Context:
        return Context(
            options,
            source=get_protocol(source).SURFACE,
            target=get_protocol(target).SURFACE,
            seed=(lambda: digest(body, _SEED)) if body else b"",
            now=now,
        )
