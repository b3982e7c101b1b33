"""The scripted upstream, as the official SDKs see it."""

import asyncio
import json

import anthropic
import ollama
import openai
import pytest
from google import genai
from google.genai import errors as genai_errors
from google.genai import types as genai_types
from tests.gateway.sdks import Interactions
from tests.upstreams.server import SPEAKERS, ScriptedUpstream

SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string"}, "why": {"type": "string"}},
    "required": ["command", "why"],
}
CHAT_TOOL = {"type": "function", "function": {"name": "run_shell_command", "parameters": SCHEMA}}
ASK = [{"role": "user", "content": "Look."}]


async def _anthropic(url, words):
    tools = [{"name": "Bash", "input_schema": SCHEMA}]
    async with anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as client:
        given = {"model": "m", "max_tokens": 64, "tools": tools}
        async with client.messages.stream(messages=ASK, **given) as stream:
            first = await stream.get_final_message()
        calls = [block for block in first.content if block.type == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": word}
            for call, word in zip(calls, words, strict=False)
        ]
        history = [*ASK, {"role": "assistant", "content": first.content}]
        history.append({"role": "user", "content": results})
        last = await client.messages.create(messages=history, **given)
    return [(call.name, call.input) for call in calls], last.content[-1].text


async def _chat(url, words):
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
        given = {"model": "m", "tools": [CHAT_TOOL]}
        async with client.chat.completions.stream(messages=ASK, **given) as stream:
            first = (await stream.get_final_completion()).choices[0].message
        # The SDK reads reasoning as an unknown field; those who need it send it back themselves.
        said = first.model_dump(exclude_none=True)
        said.pop("parsed", None)
        for call in said["tool_calls"]:
            call["function"].pop("parsed_arguments", None)
        history = [*ASK, said]
        history += [
            {"role": "tool", "tool_call_id": call.id, "content": word}
            for call, word in zip(first.tool_calls, words, strict=False)
        ]
        last = await client.chat.completions.create(messages=history, **given)
    calls = [(each.function.name, json.loads(each.function.arguments)) for each in first.tool_calls]
    return calls, last.choices[0].message.content


async def _responses(url, words):
    tools = [{"type": "function", "name": "exec_command", "parameters": SCHEMA}]
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
        given = {"model": "m", "tools": tools}
        async with client.responses.stream(input=ASK, **given) as stream:
            first = await stream.get_final_response()
        calls = [item for item in first.output if item.type == "function_call"]
        history = [*ASK, *(item.to_dict() for item in first.output)]
        for item in history[1:]:
            item.pop("parsed_arguments", None)
        history += [
            {"type": "function_call_output", "call_id": call.call_id, "output": word}
            for call, word in zip(calls, words, strict=False)
        ]
        last = await client.responses.create(input=history, **given)
    return [(each.name, json.loads(each.arguments)) for each in calls], last.output_text


async def _gemini(url, words):
    return await asyncio.to_thread(_gemini_at_once, url, words)


def _gemini_at_once(url, words):
    declared = {"name": "run_shell_command", "parameters_json_schema": SCHEMA}
    options = genai_types.HttpOptions(base_url=url)
    config = genai_types.GenerateContentConfig(
        tools=[genai_types.Tool(function_declarations=[declared])],
        automatic_function_calling=genai_types.AutomaticFunctionCallingConfig(disable=True),
    )
    with genai.Client(api_key="k", http_options=options) as client:
        ask = genai_types.Content(role="user", parts=[genai_types.Part(text="Look.")])
        parts = []
        for chunk in client.models.generate_content_stream(
            model="m", contents=[ask], config=config
        ):
            parts += chunk.candidates[0].content.parts
        calls = [part.function_call for part in parts if part.function_call]
        answers = [
            genai_types.Part(
                function_response=genai_types.FunctionResponse(
                    id=call.id, name=call.name, response={"output": word}
                )
            )
            for call, word in zip(calls, words, strict=False)
        ]
        history = [ask, genai_types.Content(role="model", parts=parts)]
        history.append(genai_types.Content(role="user", parts=answers))
        last = client.models.generate_content(model="m", contents=history, config=config)
    return [(call.name, call.args) for call in calls], last.text


async def _interactions(url, words):
    return await asyncio.to_thread(_interactions_at_once, url, words)


def _interactions_at_once(url, words):
    tools = [{"type": "function", "name": "run_shell_command", "parameters": SCHEMA}]
    given = {"model": "m", "store": False, "tools": tools}
    client = Interactions(url)
    create = client.client.interactions.create
    history = [{"type": "user_input", "content": [{"type": "text", "text": "Look."}]}]
    try:
        steps, _ = client.read(create(input=history, stream=True, **given))
        calls = [step for step in steps if step["type"] == "function_call"]
        history += steps
        history += [
            {"type": "function_result", "call_id": call["id"], "name": call["name"], "result": word}
            for call, word in zip(calls, words, strict=False)
        ]
        last = create(input=history, **given)
    finally:
        client.close()
    said = [step.content for step in last.steps if step.type == "model_output"]
    text = "".join(content.text for contents in said for content in contents)
    return [(call["name"], call["arguments"]) for call in calls], text


async def _ollama(url, words):
    client = ollama.AsyncClient(host=url)
    try:
        thinking, calls = "", []
        async for chunk in await client.chat("m", ASK, tools=[CHAT_TOOL], stream=True):
            thinking += chunk.message.thinking or ""
            calls += chunk.message.tool_calls or ()
        said = {"role": "assistant", "content": "", "thinking": thinking, "tool_calls": calls}
        history = [*ASK, said]
        history += [
            {"role": "tool", "tool_name": call.function.name, "content": word}
            for call, word in zip(calls, words, strict=False)
        ]
        last = await client.chat("m", history, tools=[CHAT_TOOL])
    finally:
        await client._client.aclose()
    return [(each.function.name, dict(each.function.arguments)) for each in calls], (
        last.message.content
    )


SDKS = {
    "anthropic": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini-interactions": _interactions,
    "gemini": _gemini,
    "ollama": _ollama,
}
FAILURES = (
    anthropic.APIStatusError,
    openai.APIStatusError,
    genai_errors.APIError,
    Interactions.error,
    ollama.ResponseError,
)
WORDS = ("word-0000aaaa", "word-0000bbbb")


def play(scenario, protocol, words=WORDS):
    async def main():
        async with ScriptedUpstream(scenario) as upstream:
            return (*await SDKS[protocol](upstream.url, words), upstream)

    return asyncio.run(main())


def test_every_protocol_is_played():
    # boto3 holds the same conversations in `tests/gateway/test_sdk_matrix.py`.
    assert [*SDKS, "bedrock-converse"] == list(SPEAKERS)


@pytest.mark.parametrize("protocol", SDKS)
def test_one_tool(protocol):
    calls, said, upstream = play("one-tool", protocol)
    assert [arguments for _, arguments in calls] == [
        {"command": "cat one.txt", "why": "Read a file"}
    ]
    assert said == "It says word-0000aaaa."
    assert upstream.problems == []
    assert [each.protocol for each in upstream.asked] == [protocol] * 2


@pytest.mark.parametrize("protocol", SDKS)
def test_parallel(protocol):
    calls, said, upstream = play("parallel", protocol)
    assert [arguments["command"] for _, arguments in calls] == ["cat one.txt", "cat two.txt"]
    assert upstream.problems == []
    assert said == "They say word-0000aaaa and word-0000bbbb."


@pytest.mark.parametrize("protocol", SDKS)
def test_what_is_missing_is_a_problem(protocol):
    _, said, upstream = play("parallel", protocol, ["nothing of that kind"])
    assert said == "They say nothing."
    assert upstream.problems == [
        "2 calls got 1 results",
        "a result without its word: " + repr(upstream.asked[-1].results[0].text),
    ]


FAILING = [
    (protocol, scenario)
    for protocol in SDKS
    for scenario in ("overflow", "refused", "rate-limited")
    if (protocol, scenario) != ("openai-responses", "overflow")
]


def test_an_input_that_is_too_long_fails_a_stream_that_has_begun():
    async def main():
        async with (
            ScriptedUpstream("overflow") as upstream,
            openai.AsyncOpenAI(base_url=f"{upstream.url}/v1", api_key="k") as client,
        ):
            stream = await client.responses.create(model="m", input="long", stream=True)
            return [event async for event in stream]

    assert asyncio.run(main())[-1].response.error.code == "context_length_exceeded"


@pytest.mark.parametrize(("protocol", "scenario"), FAILING)
def test_failures_are_those_of_the_protocol(protocol, scenario):
    words = {"overflow": SPEAKERS[protocol].OVERFLOW, "refused": "The moon is in the wrong house."}
    with pytest.raises(FAILURES) as caught:
        play(scenario, protocol)
    assert words.get(scenario, "Too many requests.") in str(caught.value)


def test_where_there_is_no_shell():
    async def main():
        async with ScriptedUpstream("one-tool") as upstream:
            client = ollama.AsyncClient(host=upstream.url)
            function = {"name": "weather", "parameters": {}}
            await client.chat("m", ASK, tools=[{"type": "function", "function": function}])
            await client._client.aclose()
            return upstream.problems

    assert "['weather']" in asyncio.run(main())[0]
