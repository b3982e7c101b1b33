"""What is sent to a provider is taken: every fixture of a client, for every strict upstream."""

import json
import re
from pathlib import Path

import pytest
from tests.upstreams.strict.check import check
from tests.upstreams.strict.upstreams import BY_PROTOCOL, OTHERS, sent_to

from toolglot.errors import ToolglotError
from toolglot.registry import PROTOCOLS

FIXTURES = Path(__file__).parents[2] / "fixtures"
UPSTREAMS = [*BY_PROTOCOL.values(), *OTHERS]
CLIENTS = {
    "claude-code": "anthropic",
    "codex": "openai-responses",
    "gemini-cli": "gemini",
    "opencode-anthropic": "anthropic",
    "opencode-chat": "openai-chat",
    "opencode-gemini": "gemini",
    "opencode-responses": "openai-responses",
    "qwen-code": "openai-chat",
}
OF_NAMES = {"OAI-002", "OAI-003", "AN-014", "GE-005"}
"""Rules about names of models, which are of nobody in many fixtures."""


def requests():
    for protocol in PROTOCOLS:
        for file in sorted((FIXTURES / protocol).glob("*.request.json")):
            yield protocol, file
    for file in sorted((FIXTURES / "clients").glob("*.request.json")):
        yield next(CLIENTS[each] for each in CLIENTS if file.name.startswith(each)), file


def load(protocol, file):
    """A request and the path that it came on."""
    said = json.loads(file.read_text(encoding="utf-8"))
    if "body" in said and "path" in said:
        return said["body"], said["path"]
    model = said.get("model") or BY_PROTOCOL[protocol].model
    return said, PROTOCOLS[protocol].SURFACE.path.format(model=model)


def faults(upstream, protocol, body, path):
    """What the upstream refuses; nothing if the request cannot be translated for it."""
    try:
        sent = sent_to(upstream, protocol, json.dumps(body).encode(), path)
    except ToolglotError:
        return []
    return check(upstream.provider, upstream.protocol, upstream.model, sent)


def is_right(protocol, file):
    """Whether the provider that made the protocol takes it from its own client."""
    body, path = load(protocol, file)
    if not (body.get("messages") or body.get("input") or body.get("contents")):
        return False
    own = BY_PROTOCOL[protocol]
    named = re.search(r"models/([^:/]+):", path)
    model = named[1] if named else body.get("model") or own.model
    found = check(own.provider, protocol, model, body)
    return all(each.rule in OF_NAMES for each in found)


REQUESTS = [
    pytest.param(protocol, file, id=f"{file.parent.name}-{file.name.partition('.')[0]}")
    for protocol, file in requests()
    if is_right(protocol, file)
]


def test_most_fixtures_are_right():
    assert len(REQUESTS) > 40


@pytest.mark.parametrize(("protocol", "file"), REQUESTS)
def test_a_request_is_taken_by_every_provider(protocol, file):
    body, path = load(protocol, file)
    wrong = {}
    for upstream in UPSTREAMS:
        found = faults(upstream, protocol, body, path)
        if found:
            wrong[upstream.title] = [f"{each.rule}: {each.words}" for each in found[:3]]
    assert wrong == {}
