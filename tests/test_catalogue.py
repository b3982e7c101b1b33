"""Every code of the catalogue is raised by something: a fixture, or one of a few inputs below."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from tests.gateway.handling import made_request
from tests.laws.corpus import FIXTURES, fixtures, load, path_to
from tests.wires import NAMES, TRIO

from toolglot import Note, Receipt, StreamTranslator, translate_request, translate_response
from toolglot.exchange import Exchange
from toolglot.gateway.config import Config, Provider
from toolglot.gateway.incoming import read_incoming
from toolglot.gateway.relay.attempt import make_exchange, translate
from toolglot.gateway.relay.learned_facts import LearnedFacts
from toolglot.gateway.relay.providers import make_upstreams
from toolglot.gateway.relay.routing import Router
from toolglot.history import repair_history
from toolglot.mending import Mending
from toolglot.receipt import CATALOGUE
from toolglot.rules import ToolRules
from toolglot.wire import jsontext

HI: Final = [{"role": "user", "content": "hi"}]


def anthropic(*content: Any, **more: Any) -> Any:
    """A request in which the assistant said this."""
    turn = [{"role": "assistant", "content": list(content)}] if content else []
    return {"model": "m", "max_tokens": 9, "messages": [*HI, *turn, *HI], **more}


def chat(*messages: Any, **more: Any) -> Any:
    """A request of a chat client."""
    return {"model": "m", "messages": [*HI, *messages], **more}


def tool(schema: Any, **more: Any) -> Any:
    """The definition of a tool for chat."""
    return {"type": "function", "function": {"name": "f", "parameters": schema, **more}}


def asked(body: Any, source: str, target: str, **options: Any) -> Receipt:
    """What translating a request changed."""
    return translate_request(body, source=source, target=target, path=path_to(source), **options)[1]


def called(arguments: str, schema: Any, count: int = 1, **options: Any) -> Receipt:
    """What translating an answer with calls of a tool changed."""
    function = {"name": "f", "arguments": arguments}
    calls = [{"id": f"c{n}", "type": "function", "function": function} for n in range(count)]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return translate_response(
        {"choices": [{"message": message, "finish_reason": "tool_calls"}]},
        source="openai-chat",
        target="anthropic",
        request=anthropic(tools=[{"name": "f", "input_schema": schema}]),
        **options,
    )[1]


def written(text: str, **message: Any) -> Receipt:
    """What looking for calls in an answer changed."""
    return translate_response(
        {"choices": [{"message": {"content": text, **message}, "finish_reason": "length"}]},
        source="openai-chat",
        target="anthropic",
        request=anthropic(tools=[{"name": "f", "input_schema": COUNT}]),
        dialect="auto",
    )[1]


def repaired(*messages: Any) -> Receipt:
    """What repairing a history changed."""
    return repair_history(chat(*messages), "openai-chat")[1]


def thought_of_anthropic() -> Any:
    """A history in which a chat client returns what Claude thought."""
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    body = {"content": [thinking], "stop_reason": "end_turn"}
    wire, _ = translate_response(body, source="anthropic", target="openai-chat")
    return chat(wire.body["choices"][0]["message"])


def patched() -> Receipt:
    """A freeform tool of a Responses client, called by a model in a form of its own."""
    function = {"name": "apply_patch", "arguments": {"patch": "*** Begin Patch"}}
    return translate_response(
        {"message": {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}},
        source="ollama",
        target="openai-responses",
        request={"model": "m", "input": "hi", "tools": [{"type": "custom", "name": "apply_patch"}]},
    )[1]


USED: Final = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
ASKS: Final = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
WRITTEN: Final = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
DONE: Final = {"role": "tool", "tool_call_id": "c", "content": "done"}
TEXT: Final = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
COUNT: Final = {"type": "object", "properties": {"a": {"type": "integer"}}}
OPTIONAL: Final = {
    "type": "object",
    "properties": {"a": {"type": "string", "description": "Optional."}},
    "required": ["a"],
}
LOOP: Final = {"type": "object", "properties": {"a": {"$ref": "#"}}}
URI: Final = {"type": "object", "properties": {"a": {"type": "string", "format": "uri"}}}
HERON: Final = {"type": "image_url", "image_url": {"url": "https://a.example/heron.png"}}
SURROGATE: Final = '{"model":"m","messages":[{"role":"user","content":"\\ud83d"}]}'

OPEN: Final = {"type": "object", "properties": {"any": {"type": "object"}}}
LINE: Final = [{"type": "text", "text": "x-anthropic-billing-header: cc_version=1;"}]


def mended() -> Receipt:
    """What watching a careless stream changed."""
    translator = StreamTranslator("anthropic", "anthropic", watch=True)
    translator.feed(b'data: {"type": "message_start", "message": {}}\n\n')
    return translator.receipt


def passed_on(
    finish_reason: str = "tool_calls", failed_generation: str = "", call: Any = None
) -> Exchange:
    """An answer in the client's own protocol, or an error in its place."""
    exchange = Exchange("openai-chat", "openai-chat")
    tools = [{"type": "function", "function": {"name": "f"}}]
    exchange.request(jsontext.encode(chat(*HI, tools=tools)))
    if failed_generation:
        error = {"code": "tool_use_failed", "failed_generation": failed_generation}
        assert exchange.recovered(jsontext.encode({"error": error})) is not None
    else:
        message = {**ASKS, "tool_calls": [call]} if call else ASKS
        choice = {"index": 0, "message": message, "finish_reason": finish_reason}
        exchange.response(jsontext.encode({"id": "a", "model": "m", "choices": [choice]}))
    return exchange


def refused() -> Exchange:
    """A request to a provider that refused it, and one before."""
    http = made_request("POST", "/v1/chat/completions")
    request = read_incoming(http, "openai-chat", http.path, jsontext.encode(chat(*HI)))
    them = Provider(protocol="openai-chat", base_url="http://them.example/v1")
    config = Config(providers={"them": them})
    (target,) = Router(config, make_upstreams(config, {})).targets("them/m")
    mending = Mending(row="r", words="no", facts={"limits.least": 16})
    learned = LearnedFacts()
    learned.add("them", "openai-chat", "m", mending)
    return make_exchange(request, target, learned, mending)


def for_an_account() -> Receipt:
    """A request whose client chooses an account although the key is not its own."""
    http = made_request("POST", "/v1/chat/completions", {"openai-project": "p"})
    request = read_incoming(http, "openai-chat", http.path, jsontext.encode(chat(*HI)))
    them = Provider(protocol="openai-chat", base_url="http://them.example/v1", api_key="k")
    config = Config(providers={"them": them})
    (target,) = Router(config, make_upstreams(config, {})).targets("them/m")
    exchange = make_exchange(request, target, LearnedFacts())
    asyncio.run(translate(request, target, exchange, None, None))
    return exchange.receipt


def half_character() -> Receipt:
    """A stream with the first byte of a character."""
    translator = StreamTranslator("ollama", "anthropic")
    translator.feed(b'{"message":{"content":"caf\xc3"},"done":true,"done_reason":"stop"}\n')
    translator.close()
    return translator.receipt


MORE: Final[dict[str, Callable[[], Receipt]]] = {
    "attribution-dropped": lambda: asked(anthropic(system=LINE), "anthropic", "openai-chat"),
    "usage-scaled": lambda: translate_response(
        {"content": [], "usage": {"input_tokens": 5}},
        source="anthropic",
        target="openai-chat",
        window=1,
        client_window=2,
    )[1],
    "bytes-replaced": half_character,
    "surrogate-kept": lambda: asked(SURROGATE, "openai-chat", "anthropic"),
    "spelling-normalised": lambda: asked(
        chat(tools=[{"type": "function", "name": "f"}]), "openai-chat", "anthropic"
    ),
    "media-by-url": lambda: asked(
        chat({"role": "user", "content": [HERON]}), "openai-chat", "gemini"
    ),
    "reasoning-restored": lambda: asked(thought_of_anthropic(), "openai-chat", "anthropic"),
    "required-filtered": lambda: asked(
        anthropic(tools=[{"name": "f", "input_schema": OPTIONAL}]), "anthropic", "openai-chat"
    ),
    "schema-refused": lambda: asked(
        anthropic(tools=[{"name": "f", "input_schema": OPEN}]),
        "anthropic",
        "openai-chat",
        schema_dialect="sealed",
    ),
    "result-paired": lambda: asked(
        {
            "model": "m",
            "messages": [
                {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
                {"role": "tool", "content": "1", "tool_call_id": "abc"},
            ],
        },
        "ollama",
        "openai-chat",
    ),
    "call-unanswered": lambda: asked(anthropic(USED), "anthropic", "openai-chat"),
    "tool-duplicate": lambda: asked(
        chat(tools=[tool(TEXT), tool(COUNT)]), "openai-chat", "anthropic"
    ),
    "schema-loosened": lambda: asked(
        chat(tools=[tool(LOOP)]), "openai-chat", "gemini", schema_dialect="openapi"
    ),
    "format-dropped": lambda: asked(chat(tools=[tool(URI)]), "openai-chat", "openai-responses"),
    "strict-dropped": lambda: asked(
        chat(tools=[tool({"type": "object", "additionalProperties": True}, strict=True)]),
        "openai-chat",
        "anthropic",
    ),
    "rule-applied": lambda: asked(
        chat(tools=[tool(TEXT)]), "openai-chat", "anthropic", rules=ToolRules(filter=("f",))
    ),
    "call-repeated": lambda: asked(
        chat(*[ASKS, DONE] * 3), "openai-chat", "anthropic", rules=ToolRules(repeat_warning=2)
    ),
    "tools-emulated": lambda: asked(chat(ASKS, DONE), "openai-chat", "anthropic", tools="emulated"),
    "arguments-mismatch": lambda: called('{"a":[]}', TEXT, validate="note"),
    "arguments-repaired": lambda: called('{"a":"7"}', COUNT, validate="repair"),
    "arguments-unchecked": lambda: called("{}", {"$ref": "#/nowhere"}, validate="note"),
    "arguments-sanitised": lambda: called('{"a":"\\u0000"}', TEXT, sanitize="nul"),
    "call-promoted": lambda: written(WRITTEN),
    "call-duplicate": lambda: written(WRITTEN, tool_calls=ASKS["tool_calls"]),
    "call-cut": lambda: written("<function=f><parameter=a>1</parameter>"),
    "reasoning-promoted": lambda: written("<think>Hm.</think>Yes."),
    "marks-dropped": lambda: written("</think>Yes."),
    "call-invalid": lambda: called("{}", TEXT, validate="retry"),
    "calls-over-limit": lambda: called("{}", COUNT, 2, max_calls=1),
    "arguments-unwrapped": patched,
    "stream-mended": mended,
    "call-renamed": lambda: repaired(ASKS, DONE, ASKS, DONE),
    "call-unknown": lambda: repair_history(
        chat(ASKS, DONE, tools=[{"type": "function", "function": {"name": "g"}}]), "openai-chat"
    )[1],
    "message-dropped": lambda: repaired({"role": "assistant", "content": ""}, *HI),
    "name-made": lambda: passed_on(call={"id": "c", "function": {"arguments": "{}"}}).receipt,
    "answer-mended": lambda: passed_on(finish_reason="stop").receipt,
    "call-recovered": lambda: passed_on(failed_generation="<function=f>{}</function>").receipt,
    "request-mended": lambda: refused().receipt,
    "fact-learned": lambda: refused().receipt,
    "account-choice-dropped": for_an_account,
}
"""Inputs for codes that no fixture raises."""


def from_requests() -> Iterator[Note]:
    for source, file in fixtures("request"):
        for target in NAMES:
            yield from asked(load(file), source, target)


def from_answers() -> Iterator[Note]:
    for source, file in (*fixtures("response"), *fixtures("error")):
        body = load(file)
        how: Any = {}
        if ".error." in file.name:
            body, how = body["body"], {"status": body["status"], "headers": body.get("headers")}
        for target in NAMES:
            yield from translate_response(body, source=source, target=target, **how)[1]


def from_streams() -> Iterator[Note]:
    for source in NAMES:
        for file in sorted((FIXTURES / source).glob("*.stream.txt")):
            for target in TRIO:
                translator = StreamTranslator(source, target)
                translator.feed(file.read_bytes())
                translator.close()
                yield from translator.receipt


@pytest.mark.parametrize("code", MORE)
def test_an_input_raises_its_code(code):
    assert code in MORE[code]().codes()


@pytest.mark.slow
def test_every_code_is_raised_by_something():
    found = {
        note.code for notes in (from_requests(), from_answers(), from_streams()) for note in notes
    }
    assert sorted(CATALOGUE.keys() - found - MORE.keys()) == []
