"""Providers that are asked for the weather, in whichever protocol, and how each of them behaves."""

import json
from contextlib import asynccontextmanager

from tests.upstreams.server import ScriptedUpstream
from tests.upstreams.values import Call, Failure, Reply, Say

WRITTEN = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'


def _called(asked, stage, arguments):
    return Call(asked.tools[0], arguments, stage.call_id(asked.protocol))


def able(asked, stage):
    """Calls the tool, and answers from its result."""
    if not asked.results:
        return Reply((Say("I will look."), _called(asked, stage, {"city": "Paris"})))
    return Reply((Say(f"It says: {asked.results[-1].text}"),))


def eager(asked, stage):
    """Calls again and again."""
    return Reply((_called(asked, stage, {"city": "Paris"}),))


def careless(asked, stage):
    """Leaves out what the tool requires."""
    return Reply((_called(asked, stage, {"place": "Paris"}),))


def talkative(asked, stage):
    """Never calls."""
    return Reply((Say("It is always sunny in Paris."),))


def silent(asked, stage):
    """Calls, and has nothing to say about the result."""
    return Reply(()) if asked.results else able(asked, stage)


def writing(asked, stage):
    """Writes the call into its text."""
    told = asked.results or "tool_response" in json.dumps(asked.body)
    return Reply((Say("It is sunny."),)) if told else Reply((Say(WRITTEN),))


def toolless(asked, stage):
    """Takes no tools, but text about them."""
    if asked.tools:
        return Failure("invalid", "this model does not support tools")
    return writing(asked, stage)


def limited(asked, stage):
    """Takes no requests now."""
    return Failure("rate", "Too many requests.", {"retry-after": "60"})


def breaking(asked, stage):
    """Ends in the middle of an answer."""
    return Reply(able(asked, stage).parts, cut=True)


@asynccontextmanager
async def behaving(how):
    """A provider that behaves so; all five protocols are spoken."""
    scripted = ScriptedUpstream("one-tool")
    scripted.play = how
    async with scripted:
        yield scripted
