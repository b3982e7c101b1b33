"""The laws of the architecture, over the registry."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.laws.corpus import (
    NAMES,
    PAIRS,
    fixture_id,
    fixtures,
    load,
    path_to,
    requests,
)
from tests.laws.facts import is_named, lost, request_facts, response_facts
from tests.laws.turns import assert_comes_back, can_be_sent_back

from toolglot import ir
from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.registry import get_protocol
from toolglot.translate import translate_request, translate_response
from toolglot.wire.message import WireRequest, WireResponse

REQUESTS = [(name, file) for name, file in fixtures("request")]
RESPONSES = [(name, file) for name, file in fixtures("response")]
NORMALISED = {"legacy-upgraded", "spelling-normalised", "arguments-normalised"}

slow_ok = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def decode(name: str, body: Any, ctx: Context | None = None) -> ir.Request:
    ctx = ctx or Context(source=get_protocol(name).SURFACE)
    return get_protocol(name).decode_request(WireRequest(body=body, path=path_to(name)), ctx)


def payload(name: str, request: ir.Request) -> Any:
    """A payload of a protocol, from a generated request."""
    codec = get_protocol(name)
    return codec.encode_request(request, Context(target=codec.SURFACE)).body


# --- 1. identity
# -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@given(request=requests())
@slow_ok
def test_law_1_identity_of_generated_payloads(name: str, request: ir.Request) -> None:
    body = payload(name, request)
    ctx = Context()
    again = get_protocol(name).encode_request(decode(name, body, ctx), ctx).body
    assert again == body


@pytest.mark.parametrize(("name", "file"), REQUESTS, ids=fixture_id)
@given(data=st.data())
def test_law_1_unknown_fields_survive_everywhere(
    name: str, file: Path, data: st.DataObject
) -> None:
    body = load(file)
    nodes = [node for node in walk(body) if isinstance(node, dict)]
    for node in data.draw(st.lists(st.sampled_from(nodes), max_size=3)):
        node["x_unknown"] = data.draw(st.sampled_from([1, "a", None, [1], {"b": 2}]))
    ctx = Context()
    again = get_protocol(name).encode_request(decode(name, body, ctx), ctx).body
    if not NORMALISED & ctx.receipt().codes().keys():
        assert again == body


def walk(node: Any) -> Any:
    yield node
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for child in children:
        yield from walk(child)


# --- 2. totality
# -------------------------------------------------------------------------------------

JUNK: list[Any] = [
    None,
    True,
    -1,
    2**70,
    0.5,
    "",
    "x",
    [],
    [None],
    {},
    {"type": 7},
    [[]],
    [{"type": "zz"}],
]


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@slow_ok
def test_law_2_anything_decodes_or_is_refused_with_a_path(name: str, data: st.DataObject) -> None:
    files = [file for owner, file in [*REQUESTS, *RESPONSES, *fixtures("error")] if owner == name]
    file = data.draw(st.sampled_from(files))
    body = load(file)
    if ".error." in file.name:
        body = body["body"]
    holder = {"body": body}
    places = [
        (node, key)
        for node in walk(holder)
        if isinstance(node, (dict, list))
        for key in (node if isinstance(node, dict) else range(len(node)))
    ]
    for node, key in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=3)):
        node[key] = data.draw(st.sampled_from(JUNK))
    mutated = holder["body"]
    codec = get_protocol(name)
    try:
        if ".request." in file.name:
            codec.decode_request(WireRequest(body=mutated, path=path_to(name)), Context())
        else:
            codec.decode_response(WireResponse(body=mutated), Context())
    except DecodeError as error:
        assert error.message


# --- 6. no silent loss, 8. stability, 9. purity
# ------------------------------------------------------


def round_trip(source: str, target: str, body: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Facts before and after A→B→A, and the notes of both ways."""
    there, first = translate_request(body, source=source, target=target, path=path_to(source))
    back, second = translate_request(there.body, source=target, target=source, path=there.path)
    one, two = (Context(source=get_protocol(source).SURFACE) for _ in range(2))
    before = list(request_facts(decode(source, body, one), one))
    after = get_protocol(source).decode_request(
        WireRequest(body=back.body, path=back.path or path_to(source)), two
    )
    third = Context(source=get_protocol(target).SURFACE)
    sent = get_protocol(target).decode_request(WireRequest(body=there.body, path=there.path), third)
    tools = {third.tool_at(index): one.tool_at(index) for index in range(len(sent.tools))}
    # A client may have written a setting in another member than usual, which notes then name.
    usual = {path: one.source.settings[field] for field, path in one.setting_paths.items()}
    there_notes = [replace(note, path=usual.get(note.path, note.path)) for note in first]
    return (
        before,
        list(request_facts(after, two)),
        [*there_notes, *at_home(second, source, target, tools)],
    )


def at_home(notes: Any, source: str, target: str, tools: dict[str, str]) -> list[Any]:
    """Notes of the way back, with the paths of settings and tools as the source calls them."""
    home, away = get_protocol(source).SURFACE, get_protocol(target).SURFACE
    names = {path: home.settings.get(field, field) for field, path in away.settings.items()}
    names[away.messages.path] = home.messages.path

    def moved(path: str) -> str:
        if path.startswith(f"{away.messages.path}["):
            return f"{home.messages.path}[*]"
        for there, here in tools.items():
            if path == there or path.startswith(f"{there}."):
                return here + path[len(there) :]
        return names.get(path, path)

    return [replace(note, path=moved(note.path)) for note in notes]


def assert_no_silent_loss(source: str, target: str, body: Any) -> None:
    before, after, notes = round_trip(source, target, body)
    messages = get_protocol(source).SURFACE.messages.path
    silent = [
        (path, fact)
        for path, fact in lost(before, after)
        if fact[0] != "model" and not is_named(path, fact, notes, messages)
    ]
    assert not silent, f"{silent}\nnotes: {[(n.code, n.path) for n in notes]}"


@pytest.mark.parametrize(("source", "target"), PAIRS)
@given(request=requests())
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_law_6_no_silent_loss_of_generated_requests(
    source: str, target: str, request: ir.Request
) -> None:
    assert_no_silent_loss(source, target, payload(source, request))


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize(("source", "file"), REQUESTS, ids=fixture_id)
def test_law_6_8_9_no_silent_loss_stable_and_pure(source: str, file: Path, target: str) -> None:
    body = load(file)
    kept = copy.deepcopy(body)
    first, receipt = translate_request(body, source=source, target=target, path=path_to(source))
    second, again = translate_request(body, source=source, target=target, path=path_to(source))
    assert body == kept, "law 9: the input is not touched"
    assert first.data() == second.data(), "law 8, X-22: the same input gives the same bytes"
    assert receipt == again
    if source != target:
        assert_no_silent_loss(source, target, body)
        codec, ctx = get_protocol(target), Context()
        decoded = codec.decode_request(WireRequest(body=first.body, path=first.path), ctx)
        assert codec.encode_request(decoded, ctx).body == first.body, (
            "what we write, we read the same"
        )


RESPONSE_CODES = {
    "model": {"default-added", "field-dropped"},
    "usage": {"usage-dropped"},
    "stop": {"stop-mapped", "choices-dropped"},
    "reasoning": {"reasoning-carried", "reasoning-dropped"},
    "opaque": {"part-dropped"},
    "citation": {"citation-dropped", "citation-mapped"},
    "media": {"part-dropped", "part-replaced"},
    "text": {"choices-dropped", "text-joined"},
    "call": {"choices-dropped", "arguments-normalised"},
    "call id": {"id-dropped", "choices-dropped"},
}


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize(("source", "file"), RESPONSES, ids=fixture_id)
def test_law_6_no_silent_loss_of_responses(source: str, file: Path, target: str) -> None:
    if source == target:
        return
    body = load(file)
    there, first = translate_response(body, source=source, target=target)
    back, second = translate_response(there.body, source=target, target=source, status=there.status)
    ctx = Context(source=get_protocol(source).SURFACE)
    one, two = (
        get_protocol(source).decode_response(WireResponse(body=b), ctx) for b in (body, back.body)
    )
    if isinstance(one, ir.ApiError):
        assert isinstance(two, ir.ApiError)
        assert (one.kind, one.message) == (two.kind, two.message)
        return
    assert isinstance(two, ir.Response)
    codes = first.codes().keys() | second.codes().keys()
    for path, fact in lost(response_facts(one, ctx), response_facts(two, ctx)):
        assert RESPONSE_CODES.get(fact[0], set()) & codes, (path, fact, codes)


# --- 7. order
# ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "target"), PAIRS)
@given(request=requests())
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_law_7_every_result_follows_its_call(source: str, target: str, request: ir.Request) -> None:
    wire, _ = translate_request(
        payload(source, request), source=source, target=target, path=path_to(source)
    )
    seen: set[str] = set()
    decoded = get_protocol(target).decode_request(
        WireRequest(body=wire.body, path=wire.path), Context()
    )
    for message in decoded.messages:
        for part in message.parts:
            if isinstance(part, ir.ToolCall):
                seen.add(part.id)
            elif isinstance(part, ir.ToolResult):
                assert part.id in seen


# --- 11. round trip of a turn
# ------------------------------------------------------------------------


@pytest.mark.parametrize("client", NAMES)
@pytest.mark.parametrize(("upstream", "file"), RESPONSES, ids=fixture_id)
def test_law_11_a_turn_comes_back_to_its_issuer_as_it_was(
    upstream: str, file: Path, client: str
) -> None:
    body = load(file)
    decoded = get_protocol(upstream).decode_response(WireResponse(body=body), Context())
    if client == upstream or not can_be_sent_back(decoded):
        return
    shown, _ = translate_response(body, source=upstream, target=client)
    assert_comes_back(upstream, body, client, shown.body)
