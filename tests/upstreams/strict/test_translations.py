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
OPEN: dict[str, str] = {
    "AN-009": "documents that are neither PDF nor text become text",
    "AN-025": "one of temperature and top_p",
    "AN-038": "adaptive thinking becomes a budget",
    "AN-040": "a budget becomes adaptive thinking",
    "AN-052": "an effort is left out",
    "AN-058": "the beginning of an answer is not sent",
    "AN-073": "a message without content is left out",
    "AN-082": "system text between messages goes elsewhere",
    "AN-083": "system text between messages goes elsewhere",
    "DS-05": "calls of other models get empty reasoning",
    "DS-14": "no tool is forced while the model thinks",
    "DS-15": "media become text for models that do not see",
    "DS-25": "a schema for the answer becomes JSON mode",
    "GE-020": "a call before anybody has spoken gets a turn of the user before it",
    "GE-026": "calls of older models get the signature for calls made elsewhere",
    "GE-066": "a budget is brought into the range of the model",
    "GE-069": "a level of thinking becomes a budget",
    "GQ-003": "reasoning goes where the provider reads it",
    "GQ-008": "logprobs are left out",
    "LC-parts": "parts that a server does not know become text",
    "MI-05": "reasoning goes where the provider reads it",
    "MI-14": "system text between messages goes elsewhere",
    "MI-15": "the beginning of an answer is marked, or not sent",
    "MI-20": "a function without parameters gets an empty schema",
    "OAI-051": "settings that a reasoning model does not take are left out",
    "OAI-055": "settings that a reasoning model does not take are left out",
    "OAI-059": "reasoning goes where the provider reads it",
    "OAI-102": "parallel_tool_calls is left out",
    "OAI-115": "audio becomes text for models that do not hear",
    "OAI-125": "media become text for models that do not see them",
    "OL-22": "parts that a server does not know become text",
    "OL-23": "pictures are fetched, or become text",
    "OL-24": "arguments that are no object are mended",
    "OR-010": "calls of other models get reasoning details",
    "VL-20": "parts that a server does not know become text",
    "VL-22": "arguments that are no object are mended",
    "XAI-031": "arguments that are no object are mended",
}
"""Rules that requests are still sent against, and what is to be done."""
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
        new = [f"{each.rule}: {each.words}" for each in found if each.rule not in OPEN]
        if new:
            wrong[upstream.title] = new[:3]
    assert wrong == {}
