"""Translating: wire to wire, with a receipt.

    decode (source)  →  adapt  →  encode (target)

Same protocol on both sides: what came in goes out untouched, after it was decoded once to know that
it is valid; only another provider's sealed reasoning state is taken out.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from toolglot.adapt import (
    adapt_in_protocol,
    adapt_request,
    adapt_response,
    context_of_request,
    restrict_request,
)
from toolglot.adapt.answers.mend_calls import was_normalised
from toolglot.adapt.calls.ids import chooses_ids
from toolglot.adapt.reasoning.sealed_state import TAG
from toolglot.adapt.tools.tool_rules import apply_rules
from toolglot.context import Context, Options
from toolglot.digest import digest
from toolglot.errors import DecodeError
from toolglot.ir import ApiError, Json, Request, Response
from toolglot.providers import surface_for
from toolglot.receipt import Receipt, Severity
from toolglot.registry import get_protocol, protocol_name
from toolglot.surface import FormSupport, Surface
from toolglot.wire import jsontext
from toolglot.wire.member_paths import without_members
from toolglot.wire.message import WireRequest, WireResponse, plain_body, read_body
from toolglot.wire.model_paths import IN_PATH, split_path

Body = bytes | str | dict[str, Any]

_OWN_FORM: Final = FormSupport()
_FIRST_ERROR: Final = 400
"""The least status that says that something failed."""


def decode_request(
    body: Body, *, source: str, path: str = "", context: Context | None = None
) -> Request:
    """The interlingua of a request in the protocol `source`."""
    codec = get_protocol(protocol_name(source))
    ctx = context or Context(source=codec.SURFACE)
    return codec.decode_request(WireRequest(body=read_body(body, ctx), path=path), ctx)


def encode_request(request: Request, *, target: str, context: Context | None = None) -> WireRequest:
    """A request in the protocol `target`."""
    codec = get_protocol(protocol_name(target))
    return codec.encode_request(request, context or Context(target=codec.SURFACE))


def decode_response(
    body: Body, *, source: str, status: int = 200, context: Context | None = None
) -> Response | ApiError:
    """The interlingua of a response or an error in the protocol `source`."""
    codec, body = get_protocol(protocol_name(source)), plain_body(body)
    ctx = context or _context(Options(), codec.NAME, codec.NAME, body)
    wire = WireResponse(body=_read_json(body, status, ctx), status=status)
    return codec.decode_response(wire, ctx)


def encode_response(
    response: Response | ApiError, *, target: str, context: Context | None = None
) -> WireResponse:
    """A response or an error in the protocol `target`."""
    codec = get_protocol(protocol_name(target))
    return codec.encode_response(response, context or Context(target=codec.SURFACE))


def translate_request(
    body: Body,
    *,
    source: str,
    target: str,
    path: str = "",
    context: Context | None = None,
    **options: Any,
) -> tuple[WireRequest, Receipt]:
    """A request for `target` from one in the protocol `source`, and what that changed.

    Protocols may be named by a provider that speaks them; `provider=` applies its rules.
    `path` is the URL path it came on, for protocols that keep the model there. Options are the
    fields of `Options`: `strict`, `max_tokens`, `model` and so on.
    """
    source, target, body = protocol_name(source), protocol_name(target), plain_body(body)
    ctx = context or _context(Options(**options), source, target, body)
    wire = WireRequest(body=read_body(body, ctx), path=path)
    if context is None:
        ctx.target = provider_surface(
            ctx.options, target, asked_model(wire.body, source, wire.path)
        )
    request = get_protocol(source).decode_request(wire, ctx)
    if ctx.options.model is None and passes_through(body, source, target, ctx.options):
        if ctx.target is ctx.source and ctx.options.rules is None:
            return wire, ctx.receipt()
        restricted = restrict_wire(request, wire.body, ctx)
        return restricted or wire, ctx.receipt()
    return encode_request_for(request, source, target, ctx), ctx.receipt()


def provider_surface(options: Options, protocol: str, model: str) -> Surface:
    """What the provider accepts of its protocol for the model that is asked."""
    return surface_for(options.provider, protocol, options.model or model, options.overrides)


def restrict_wire(request: Request, body: Json, ctx: Context) -> WireRequest | None:
    """A request that stays in its protocol as its provider accepts it; None: that is as it came."""
    restricted = restrict_request(apply_rules(request, ctx), ctx)
    _, target = ctx.surfaces
    if restricted is request and not _respells(request, target) and target.form == _OWN_FORM:
        return None
    if ctx.options.model is not None:
        restricted = replace(restricted, model=ctx.options.model)
        body = {**body, "model": ctx.options.model} if "model" in body else body
    wire = _without_members(get_protocol(target.name).encode_request(restricted, ctx), ctx)
    is_same = wire.body == body and target.form == _OWN_FORM
    return None if is_same else _formed(wire, restricted, ctx)


def _respells(request: Request, target: Surface) -> bool:
    """Whether members may have other names, or none, for this provider when they are written, or
    stand in other places since they were read.
    """
    reasoning, choice = target.reasoning, request.tool_choice
    renames = target.limits.name or reasoning.member or reasoning.switch or reasoning.stand_in
    return (
        bool(renames or target.sampling.renamed or target.body.dropped)
        or target.known_keys is not None
        or target.messages.items is not None
        or (choice is not None and bool(choice.extras))
    )


def _without_members(wire: WireRequest, ctx: Context) -> WireRequest:
    """A request without the members that its provider does not accept, wherever they stand."""
    dropped = ctx.target.body.dropped if ctx.target is not None else None
    if not dropped:
        return wire
    body = without_members(wire.body, dropped, lambda path, value: _note_dropped(path, value, ctx))
    return wire if body is wire.body else replace(wire, body=body)


def _note_dropped(path: str, value: object, ctx: Context) -> None:
    severity: Severity | None = "info" if value in (None, "", [], {}, False) else None
    ctx.note("field-dropped", path, "the provider does not accept it", severity)


def asked_model(body: Body, source: str, path: str = "") -> str:
    """The model that a request asks for; empty if it names none."""
    surface = get_protocol(source).SURFACE
    if path and IN_PATH in surface.path and (named := split_path(path, surface.path)[0]):
        return named
    given = read_body(body)
    models = (given.get(key) for key in surface.model_keys)
    return next((model for model in models if isinstance(model, str)), "")


def encode_request_for(request: Request, source: str, target: str, ctx: Context) -> WireRequest:
    """A client's request as its provider gets it: adapted and encoded."""
    if ctx.options.model is not None:
        request = replace(request, model=ctx.options.model)
    adapt = adapt_in_protocol if source == target else adapt_request
    adapted = adapt(request, ctx)
    wire = _without_members(get_protocol(target).encode_request(adapted, ctx), ctx)
    return _formed(wire, adapted, ctx)


def _formed(wire: WireRequest, request: Request, ctx: Context) -> WireRequest:
    """A request on the wire in the form in which the provider wants its protocol."""
    form = ctx.surfaces[1].form
    if form == _OWN_FORM:
        return wire
    body = {key: value for key, value in wire.body.items() if key not in form.leaves_out}
    path = (form.stream_path if request.stream else None) or form.path
    return replace(
        wire,
        body={**form.adds, **body},
        path=path.format(model=request.model) if path else wire.path,
    )


def passes_through(body: Body, source: str, target: str, options: Options) -> bool:
    """Whether a request is sent as it came: it stays in its protocol and nothing in it is ours."""
    if source != target or chooses_ids(options) or options.legacy_functions:
        return False
    if options.emulated_dialect is not None:
        return False
    surface = get_protocol(source).SURFACE
    return not (_has_sealed_state(body, surface) or _has_attribution(body, surface, options))


def translate_response(
    body: Body,
    *,
    source: str,
    target: str,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    request: Body | WireRequest | Request | None = None,
    context: Context | None = None,
    **options: Any,
) -> tuple[WireResponse, Receipt]:
    """A response or error for a client of `target` from one in the protocol `source`.

    `request` is what the client had asked, in its own protocol; the answer then names the model
    that it asked for and repeats what its protocol repeats.
    """
    source, target, body = protocol_name(source), protocol_name(target), plain_body(body)
    ctx = context or answer_context(source, target, body, request, Options(**options))
    wire = read_response(body, status, headers, ctx)
    response = get_protocol(source).decode_response(wire, ctx)
    return encode_response_for(response, wire, target, ctx), ctx.receipt()


def encode_response_for(
    response: Response | ApiError, wire: WireResponse, target: str, ctx: Context
) -> WireResponse:
    """A provider's answer as its client gets it: adapted and encoded; `wire` itself if it stays in
    its protocol and nothing in it changes.
    """
    adapted = adapt_response(response, ctx) if isinstance(response, Response) else response
    stays = adapted is response and ctx.source is ctx.target and not was_normalised(ctx)
    if stays and not (ctx.answer_form and _is_newest_form(wire, ctx)):
        return wire
    encoded = get_protocol(target).encode_response(adapted, ctx)
    if isinstance(adapted, ApiError) and not ctx.in_protocol:
        _note_details(adapted, wire.body, encoded.body, ctx)
    return encoded


def _note_details(error: ApiError, came: Json, sent: Json, ctx: Context) -> None:
    """Note what an error said beside its message that the client does not get to know."""
    inner = came.get("error")
    below = "error." if isinstance(inner, dict) else ""
    text = jsontext.text(sent)
    for member in ("code", "param"):
        said = getattr(error, member)
        if said is not None and jsontext.text(said)[1:-1] not in text:
            ctx.note("field-dropped", below + member, f"it was {said!r}", "info")


def _is_newest_form(wire: WireResponse, ctx: Context) -> bool:
    """Whether a client of an earlier form cannot read an answer."""
    data = wire.data()
    return any(mark in data for mark in ctx.surfaces[1].newest_form_marks)


def read_response(
    body: Body, status: int, headers: Mapping[str, str] | None, ctx: Context
) -> WireResponse:
    """A response or an error as it came."""
    return WireResponse(body=_read_json(body, status, ctx), status=status, headers=_lower(headers))


def _read_json(body: Body, status: int, ctx: Context) -> Json:
    """The JSON of an answer; of an error that is no JSON, such as a proxy's page, an error with its
    text.
    """
    try:
        return read_body(body, ctx)
    except DecodeError:
        if status < _FIRST_ERROR:
            raise
        words = _bytes(body).decode("utf-8", "replace").strip()
        return {"error": {"message": words or f"status {status}"}}


def answer_context(
    source: str,
    target: str,
    body: Body | None,
    request: Body | WireRequest | Request | None,
    options: Options,
) -> Context:
    """The context for an answer in the protocol `source` to a client that asked in `target`.

    `body` is None for a stream: what ids depend on is then its first event.
    """
    ctx = _context(options, source, target, body, request)
    if request is None:
        return ctx
    client = get_protocol(target).SURFACE
    asked = request if isinstance(request, Request) else _asked(request, client)
    provider = provider_surface(options, source, asked.model)
    sent = asked
    if not isinstance(request, Request):
        sent = _asked(request, client, Context(source=client, target=provider))
    ctx.request, ctx.declared = asked, asked.tools
    if provider is not client or options.rules is not None or options.emulated_dialect is not None:
        done = context_of_request(sent, client, provider, options)
        ctx.undo, ctx.declared = done.undo, done.declared
    return ctx


def _asked(request: Body | WireRequest, client: Surface, ctx: Context | None = None) -> Request:
    """What a client asked; without a path, nothing is known of what its protocol keeps there."""
    if isinstance(request, WireRequest):
        return decode_request(request.body, source=client.name, path=request.path, context=ctx)
    if IN_PATH not in client.path or any(map((body := read_body(request)).get, client.model_keys)):
        return decode_request(request, source=client.name, context=ctx)
    path = client.path.format(model=client.name)
    return replace(decode_request(body, source=client.name, path=path, context=ctx), model="")


def _context(
    options: Options,
    source: str,
    target: str,
    body: Body | None,
    request: Body | WireRequest | Request | None = None,
) -> Context:
    surfaces = get_protocol(source).SURFACE, get_protocol(target).SURFACE
    seed = b"" if body is None else lambda: _digest(body)
    salt = bytes if request is None else lambda: _digest(request)
    return Context(options, source=surfaces[0], target=surfaces[1], seed=seed, salt=salt)


def _digest(body: Body | WireRequest | Request) -> bytes:
    """What made-up ids depend on: the same input gives the same ids, another one others."""
    if isinstance(body, Request):
        return digest(repr(body).encode("utf-8", "surrogatepass"), 16)
    return digest(_bytes(body.body if isinstance(body, WireRequest) else body), 16)


def _has_sealed_state(body: Body, surface: Surface) -> bool:
    return (surface.reasoning.foreign_prefix or TAG).encode() in _bytes(body)


def _has_attribution(body: Body, surface: Surface, options: Options) -> bool:
    """Whether there may be a line to take out."""
    if options.attribution == "keep" or not surface.system.attributions:
        return False
    data = _bytes(body)
    return any(each.encode() in data for each in surface.system.attributions)


def _bytes(body: Body) -> bytes:
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    return jsontext.encode(body) if isinstance(body, dict) else bytes(body)


def _lower(headers: Mapping[str, str] | None) -> dict[str, str]:
    return {name.lower(): value for name, value in (headers or {}).items()}
