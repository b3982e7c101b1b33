"""What a stream may tell otherwise than a whole response: left out before the two are compared."""

import json
from typing import Any

import msgspec
from msgspec.structs import replace

from toolglot.ir import Response, ToolCall


def _compact(arguments: str) -> str:
    """Arguments without the spaces between their members, where they are JSON."""
    try:
        return json.dumps(json.loads(arguments))
    except ValueError:
        return arguments


def _anthropic(response: Response) -> Response:
    """Spaces in arguments, and extras of the response and its usage."""
    parts = tuple(
        replace(part, arguments=_compact(part.arguments)) if isinstance(part, ToolCall) else part
        for part in response.choices[0].parts
    )
    usage = response.usage and replace(response.usage, extras={})
    choice = replace(response.choices[0], parts=parts)
    return replace(response, choices=(choice,), usage=usage, extras={})


def _ollama(response: Response) -> Response:
    """Ids that are made up, and extras."""
    parts = tuple(
        replace(part, id="", extras={}) if isinstance(part, ToolCall) else part
        for part in response.choices[0].parts
    )
    choice = replace(response.choices[0], parts=parts, extras={}, wire_form="")
    return replace(response, id="", choices=(choice,), extras={})


def _without(value: Any, keys: frozenset[str]) -> Any:
    """A value as JSON, without some keys wherever they are."""
    if isinstance(value, dict):
        return {key: _without(each, keys) for key, each in value.items() if key not in keys}
    if isinstance(value, list | tuple):
        return [_without(each, keys) for each in value]
    return value


LEFT_OUT = {
    "openai-chat": frozenset({"extras", "logprobs", "wire_form", "id_made", "raw"}),
    "openai-responses": frozenset({"extras", "$item", "id_made"}),
    "gemini": frozenset({"extras"}),
    "gemini-interactions": frozenset({"extras", "$step"}),
    "bedrock-converse": frozenset({"extras", "id", "service_tier"}),
}


NOT_TWINS = {
    "anthropic-length",  # cut inside a call, and the body has what there was of it as an object
    "openai-chat-citations",
    "openai-chat-refusal",
    "openai-chat-text",
    "openai-chat-vendor-deepseek",
    "openai-chat-vendor-openrouter",
}
"""Streams with the name of a body that tells of another answer."""

WRITTEN_OTHERWISE = {
    "gemini-partial-arguments-cut",  # a call that was cut is not written
    "ollama-broken_line",  # two texts in a row are one
    "ollama-mixed",
}
"""Streams that say something else once they are written; their protocol's own tests say what."""

WRITTEN_WITHOUT = {
    "gemini-grounded": {"citations"},  # the text has ended when its pages are named
    "anthropic-no_block_stop": {
        "stop"
    },  # the wire has no word for a limit in a call that has ended
    "anthropic-no_index": {"usage"},  # counts that a server left out are 0
    "anthropic-no_start": {"usage"},
    "anthropic-usage_only": {"usage"},
    "ollama-case17": {"created"},
}
"""Keys of a stream that are not the same once it is written."""

NOT_STREAMED = {
    "bedrock-converse-unknown",  # no event has a block of an unknown kind
    "gemini-nothing",  # no candidates, or none that ended: broken off, as a stream
    "gemini-odd",
    "openai-chat-no-choices",
    "openai-chat-null-choices",
    "openai-chat-vendor-openrouter",
}
"""Bodies that no stream can say."""

STREAMED_WITHOUT = {
    "gemini-grounded": {"citations"},  # the text has ended when its pages are named
    "gemini-interactions-summaries": {"summary"},  # pieces are one text, as clients write them
    "ollama-logprobs": {"logprobs"},
    "openai-responses-background": {"stop", "usage"},
    "openai-responses-bare-server": {"created", "service_tier", "stop", "usage"},
    "openai-responses-logprobs": {"logprobs"},
    "openai-responses-minimal": {"service_tier", "stop", "usage"},
}
"""Keys of a body that a stream does not have, or always has."""


def bare(name: str, response: Any, *more: str) -> Any:
    """A response of a protocol, for comparing a stream with a body; without more keys, if any."""
    response = {"anthropic": _anthropic, "ollama": _ollama}.get(name, lambda same: same)(response)
    return _without(msgspec.to_builtins(response), LEFT_OUT.get(name, frozenset()) | set(more))
