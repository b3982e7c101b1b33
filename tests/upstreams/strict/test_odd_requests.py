"""Odd requests that clients send: what leaves for each strict upstream is taken, or mended once."""

import json
from pathlib import Path

import pytest
from tests.upstreams.strict.check import Ask, check, error_body
from tests.upstreams.strict.upstreams import BY_PROTOCOL, OTHERS, upstream_of

from toolglot.exchange import Exchange

FILE = Path(__file__).parents[2] / "fixtures" / "odd-requests.jsonl"
REQUESTS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
UPSTREAMS = [*BY_PROTOCOL.values(), *OTHERS]
OF_NAMES = {"OAI-002", "OAI-003", "AN-014", "GE-005"}
OWN_FAULTS = {("deepseek", "function msgs"), ("ollama", "function msgs")}
"""Of which a client of the same protocol gets the provider's error: functions of 2023."""


def faults(upstream, sent):
    body = json.loads(sent.data)
    found = check(upstream.provider, upstream.protocol, upstream.model, body)
    return [each for each in found if each.rule not in OF_NAMES]


def refused(upstream, asked):
    """What the upstream refuses at last; in its own protocol after one refusal was read."""
    client, body, path = asked["client"], json.dumps(asked["body"]).encode(), asked["path"]
    named = asked["body"].get("model", "")
    options = upstream_of(upstream).options(upstream.model, named, strict=False)
    exchange = Exchange(client, upstream.protocol, options)
    sent = exchange.request(body, path)
    found = faults(upstream, sent)
    if not found or client != upstream.protocol:
        return found
    ask = Ask(upstream.provider, upstream.protocol, upstream.model, json.loads(sent.data))
    words = json.dumps(error_body(ask, found[0])).encode()
    mending = exchange.understand(sent, found[0].status, words)
    if mending is None:
        return found
    options = mending.options_for(exchange.options)
    again = Exchange(client, upstream.protocol, options, repairs=mending.repairs)
    return faults(upstream, again.request(body, path))


@pytest.mark.parametrize(
    "asked", REQUESTS, ids=[f"{each['client']}-{each['name']}" for each in REQUESTS]
)
def test_an_odd_request_is_taken_by_every_provider(asked):
    wrong = {
        upstream.title: [f"{each.rule}: {each.words}" for each in found[:2]]
        for upstream in UPSTREAMS
        if (upstream.provider, asked["name"]) not in OWN_FAULTS
        and (found := refused(upstream, asked))
    }
    assert wrong == {}
