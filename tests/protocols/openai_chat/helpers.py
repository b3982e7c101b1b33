"""OpenAI Chat Completions as its tests use it."""

from hypothesis import strategies as st
from tests.protocols.harness import Harness

from toolglot.events import fold
from toolglot.ir import Choice, Message, Request, Response, StopReason

HARNESS = Harness("openai-chat")
decode, encode, answer = HARNESS.decode_request, HARNESS.encode_request, HARNESS.decode_response
read, fixture = HARNESS.decode_stream, HARNESS.load


def foreign(**more):
    return HARNESS.foreign(**more)


def reply(response, ctx=None):
    return HARNESS.protocol.encode_response(response, ctx or foreign())


def codes(ctx):
    """The codes of the notes, in order."""
    return list(ctx.receipt().codes())


def stream(name, ctx=None):
    return read(HARNESS.stream(name), ctx)


def ask(*messages, **members):
    """A request body around some messages."""
    return {"model": "m", "messages": list(messages), **members}


def user(text="hi"):
    return {"role": "user", "content": text}


def call(call_id="c1", name="f", arguments="{}"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def said(message, finish="stop", **members):
    """A response body with one message."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {
        "id": "r1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        **members,
    }


def shown(*parts, stop="end", **members):
    """A response with one choice."""
    choice = Choice(parts=parts, stop=StopReason(kind=stop))
    return Response(id="r1", model="m", choices=(choice,), **members)


def call_message(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def tool(call_id, content):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def results(*parts, role="user"):
    return Request(model="m", messages=(Message(role=role, parts=parts),))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=4,
)


entries = (
    st.fixed_dictionaries(
        {"type": st.just("reasoning.encrypted"), "format": st.just("toolglot-v1")},
        optional={"data": st.text(max_size=3), "index": st.integers(0, 3), "id": st.text()},
    )
    | st.fixed_dictionaries({"type": st.just("reasoning.text"), "text": st.text(max_size=3)})
    | json_values
)


def piece(index=0, call_id=None, name=None, arguments=None):
    """A chunk with one piece of a call."""
    entry = {} if index is None else {"index": index}
    if call_id is not None:
        entry["id"] = call_id
    function = {"name": name, "arguments": arguments}
    entry["function"] = {key: value for key, value in function.items() if value is not None}
    return {"delta": {"tool_calls": [entry]}}


def parts_of(events):
    return fold(events).choices[0].parts


SIGNED = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
