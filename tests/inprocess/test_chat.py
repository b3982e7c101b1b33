"""A tool loop in one call, with every kind of provider."""

import asyncio

import pytest
from tests.upstreams.strict.upstreams import BY_PROTOCOL

import toolglot
from toolglot.gateway.config import Config
from toolglot.ir import Message, Text, ToolCall, ToolResult

FILES = {"cat one.txt": "word-00c0ffee", "cat two.txt": "word-0000beef"}
UPSTREAMS = pytest.mark.parametrize("theirs", list(BY_PROTOCOL))


def bash(command: str) -> str:
    """Runs a command."""
    return FILES[command]


def read(path: str) -> str:
    """Reads a file."""
    raise FileNotFoundError(path)


def _at(scripted, theirs):
    each = BY_PROTOCOL[theirs]
    return f"there/{each.model}", Config(providers={"there": each.at(scripted.url)})


def _check(talk, scripted):
    assert talk.text == "They say word-00c0ffee and word-0000beef."
    assert scripted.problems == []
    kinds = [[type(part) for part in message.parts] for message in talk.messages]
    assert kinds[0] == [Text]
    assert kinds[1].count(ToolCall) == 2
    assert kinds[2] == [ToolResult, ToolResult]
    assert len(talk.responses) == len(talk.receipts) == 2


@UPSTREAMS
def test_parallel_calls(theirs, scripted):
    model, config = _at(scripted, theirs)
    scripted.begin("parallel")
    talk = toolglot.chat(
        model, "Look at what is there.", tools=[bash, read], config=config, max_tokens=4000
    )
    _check(talk, scripted)


@UPSTREAMS
def test_coroutines_run_at_once(theirs, scripted):
    model, config = _at(scripted, theirs)
    scripted.begin("parallel")
    both = asyncio.Barrier(2)

    async def bash(command: str) -> str:
        await both.wait()  # Neither goes on before the other has begun.
        return FILES[command]

    prompt = "Look at what is there."
    asked = toolglot.achat(model, prompt, tools=[bash], config=config, max_tokens=4000)
    _check(asyncio.run(asyncio.wait_for(asked, 30)), scripted)


def double(number: int) -> dict[str, int]:
    """Twice a number."""
    return {"twice": 2 * number}


def test_dicts_values_and_a_system_prompt():
    first = toolglot.chat("demo", [{"role": "user", "content": "Hello."}], system="Be brief.")
    again = toolglot.chat("demo", [*first.messages, "And now?"])
    assert [message.role for message in again.messages] == ["user", "assistant"] * 2
    assert "And now?" in again.text


def test_what_goes_wrong_in_a_tool_is_told_to_the_model():
    def weather(city: str) -> str:
        """The weather in a city."""
        raise LookupError(f"no station in {city}")

    talk = toolglot.chat("demo", "What is the weather in Rome?", tools=[weather])
    (result,) = [part for part in talk.messages[2].parts if isinstance(part, ToolResult)]
    assert result.is_error
    assert result.parts == (Text(text="LookupError: no station in Rome"),)


def test_a_limit_on_rounds():
    def weather(city: str) -> str:
        """The weather in a city."""
        return "sunny"

    with pytest.raises(toolglot.TooManyRoundsError, match="after 1 rounds") as caught:
        toolglot.chat("demo", "What is the weather in Rome?", tools=[weather], max_rounds=1)
    assert isinstance(caught.value.transcript.messages[-1].parts[0], ToolResult)


def test_a_refusal(scripted):
    model, config = _at(scripted, "openai-chat")
    scripted.begin("refused")
    with pytest.raises(
        toolglot.RequestFailedError, match="The moon is in the wrong house"
    ) as caught:
        toolglot.chat(model, "Hello.", config=config)
    assert caught.value.error.status == 400
    assert caught.value.transcript.messages == (Message(role="user", parts=(Text(text="Hello."),)),)


@pytest.mark.parametrize(
    "given", [{"role": "user"}, {"role": "tool", "content": "x"}, {"role": "user", "content": []}]
)
def test_dicts_that_say_more_than_a_text(given):
    with pytest.raises(toolglot.DecodeError, match=r"messages\[1\]: expected a role and a text"):
        toolglot.chat("demo", ["Hello.", given])
