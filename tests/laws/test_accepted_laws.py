"""What leaves for a provider and model breaks none of the demands that strict upstreams make.

The upstreams look at the JSON on the wire, and know nothing of what made it.
"""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.laws.corpus import NAMES, path_to, requests, texts
from tests.laws.upstream_options import options_for
from tests.upstreams.strict.check import check
from tests.upstreams.strict.upstreams import BY_PROTOCOL, OTHERS, StrictUpstream

from toolglot import ir
from toolglot.context import Context
from toolglot.exchange import Exchange
from toolglot.registry import get_protocol

UPSTREAMS = (*BY_PROTOCOL.values(), *OTHERS)
NEEDS_STATE = {"OR-010"}
"""Demands that only state of the provider itself can meet, which a history of others has not."""

blanks = st.sampled_from(["", " ", "\n\n"]).map(lambda text: ir.Text(text=text))
files = st.sampled_from(
    [
        ir.Document(source=ir.Inline(media_type="text/plain", data="aGVsbG8="), name="a.txt"),
        ir.Document(source=ir.Inline(media_type="application/pdf", data="JVBERi0="), name="a.pdf"),
        ir.Document(source=ir.Inline(media_type="application/msword", data="aGk="), name="a.doc"),
        ir.Document(source=ir.Inline(media_type="video/mp4", data="aGk="), name="a.mp4"),
    ]
)


@st.composite
def odd_requests(draw: st.DrawFn) -> ir.Request:
    """Requests as clients of other providers send them: blank, begun, long, with every setting."""
    request = draw(requests())
    messages = list(request.messages)
    for index, message in enumerate(messages):
        if draw(st.integers(0, 3)) == 0 and message.parts:
            added = draw(blanks if message.role != "user" else blanks | files)
            results = any(isinstance(part, ir.ToolResult) for part in message.parts)
            parts = (*message.parts, added) if results else (added, *message.parts)
            messages[index] = replace(message, parts=parts)
    if draw(st.booleans()):
        lead = ir.Message(role="assistant", parts=(draw(texts()),))
        messages = [lead, *messages] if draw(st.booleans()) else [*messages, lead]
    if draw(st.integers(0, 4)) == 0:
        later = ir.Message(role="system", parts=(ir.Text(text="Be short."),))
        messages.insert(draw(st.integers(0, len(messages))), later)
    return replace(
        request,
        messages=tuple(messages),
        n=draw(st.none() | st.just(2)),
        max_tokens=draw(st.none() | st.sampled_from([0, 1, 5000, 200_000])),
        temperature=draw(st.none() | st.sampled_from([0, 1.0, 1.7])),
        presence_penalty=draw(st.none() | st.just(0.5)),
        logprobs=draw(st.none() | st.just(True)),
        stop=draw(st.none() | st.just(("a", " ", "b", "c", "d", "e"))),
        user=draw(st.none() | st.just("u" * 300)),
    )


def sent(request: ir.Request, source: str, upstream: StrictUpstream) -> Any:
    codec = get_protocol(source)
    body = codec.encode_request(request, Context(target=codec.SURFACE)).body
    exchange = Exchange(source, upstream.protocol, options_for(upstream))
    return json.loads(exchange.request(json.dumps(body).encode(), path_to(source)).data)


@pytest.mark.parametrize("upstream", UPSTREAMS, ids=str)
@given(source=st.sampled_from(NAMES), request=odd_requests())
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_what_is_translated_is_accepted(
    source: str, upstream: StrictUpstream, request: ir.Request
) -> None:
    if source == upstream.protocol:
        return
    body = sent(request, source, upstream)
    found = check(upstream.provider, upstream.protocol, upstream.model, body)
    assert not [each for each in found if each.rule not in NEEDS_STATE], body
