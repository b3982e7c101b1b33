"""A model for trying things out: deterministic, offline, made of a few tables.

    answer = reply(request, ctx)
    for event in events(answer):
        client.write(encoder.encode(event))

It calls the tool that fits the user's words, with arguments that conform to its schema, answers
from the results, and does on a cue what models do now and then: parallel calls, errors, refusals,
long or truncated answers. The ids of calls depend on the seed of the context, or on the
conversation where there is none.
"""

from toolglot.demo.agent import reply
from toolglot.demo.answer_length import count_tokens
from toolglot.demo.stream import events

__all__ = ["count_tokens", "events", "reply"]
