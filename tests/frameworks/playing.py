"""What the upstream plays for frameworks: a few tools, whose results prove the way there and back.

The result of a tool follows from its arguments and is not in the request before, so a result in the
place of another, or made of other arguments, is noticed.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from types import ModuleType
from typing import Any

from aiohttp import web
from tests.upstreams import gemini, openai_responses
from tests.upstreams.scenarios import Stage, ids, shows_reasoning, silent, with_thought
from tests.upstreams.server import SPEAKERS, ScriptedUpstream
from tests.upstreams.values import Asked, Call, Failure, Json, Offered, Reply, Say, Think, opaque

OBJECT = {"city": "Paris", "degrees": 21}
FAILED = ("no such key", "rror")
"""What a framework may tell the model of a tool that failed."""
_TOOLS = ("get_weather", "add", "lookup")
_SEALED = {"anthropic", "openai-responses", "gemini"}
"""Protocols whose reasoning comes with sealed state."""


def weather(city: str) -> str:
    """What the tool of the drivers says of a city."""
    return "weather-" + sha256(city.encode()).hexdigest()[:8]


_EXPECTED: dict[str, Callable[..., str]] = {
    "get_weather": weather,
    "add": lambda a, b: str(a + b),
    "lookup": lambda key: "failed",
}


@dataclass
class Play(Stage):
    """What lasts over the requests of one cell."""

    client: str = ""
    """The protocol that the framework speaks."""
    made: list[tuple[str, str]] = field(default_factory=list)
    """The calls so far: the name of the tool, and what its result must have in it."""


_SPELLINGS = {
    b'"function_call":': b'"functionCall":',
    b'"function_response":': b'"functionResponse":',
    b'"inline_data":': b'"inlineData":',
    b'"mime_type":': b'"mimeType":',
}
"""Both are accepted by the service, and the first ones are sent by LiteLLM."""


class FrameworkUpstream(ScriptedUpstream):
    """A provider that plays a scenario for frameworks, and stores what it said."""

    def begin(self, scenario: str, **stage: object) -> None:
        """Play this from now on, from its start."""
        self.stage = Play(ids(lambda name: SPEAKERS[name].CALL_ID), **stage)  # type: ignore[arg-type]
        self.requests = []
        items: dict[str, Json] = {}
        self._items = items

        def play(asked: Asked, stage: Stage) -> Reply | Failure:
            answer = SCENARIOS[scenario](asked, stage)
            if asked.provider:
                answer = with_thought(answer, asked) if shows_reasoning(asked) else silent(answer)
            if asked.protocol == openai_responses.NAME:
                made = openai_responses.whole(answer, asked)["output"]
                items.update((item["id"], item) for item in made)
            return answer

        self.play = play

    async def _answer(
        self, request: web.Request, body: bytes, speaker: ModuleType
    ) -> web.StreamResponse:
        if b"item_reference" in body:
            data = json.loads(body)
            data["input"] = [self._items.get(item.get("id"), item) for item in data["input"]]
            body = json.dumps(data).encode()
        for old, new in _SPELLINGS.items() if speaker is gemini else ():
            body = body.replace(old, new)
        return await super()._answer(request, body, speaker)


def _calls(asked: Asked, play: Play, *wanted: tuple[str, Json], state: str = "") -> Iterator[Call]:
    for name, arguments in wanted:
        tool = next((each for each in asked.tools if each.name.endswith(name)), None)
        if tool is None:
            play.object(f"no tool {name} among {[each.name for each in asked.tools]}")
            return
        play.made.append((name, _EXPECTED[name](**arguments)))
        yield Call(tool, arguments, play.call_id(asked.protocol), state)
        state = ""


def _check(asked: Asked, play: Play) -> list[str]:
    """What the results have that belong to the calls so far, each in its place."""
    calls, results = list(asked.calls), list(asked.results)
    names = [name for _, name in calls]
    expected = [name for name, _ in play.made]
    if len(names) != len(expected) or not all(map(str.endswith, names, expected)):
        play.object(f"the calls in the history are {names}, and {expected} were made")
    known = [call_id for call_id, _ in calls]
    if None not in known and len({*known}) != len(known):
        play.object(f"calls with the same id: {known}")
    if len(results) != len(play.made):
        play.object(f"{len(play.made)} calls have {len(results)} results")
    found = [""] * len(play.made)
    for order, result in enumerate(results):
        place = known.index(result.id) if result.id in known and result.id else order
        if result.id and result.id not in known and any(known):
            play.object(f"a result for {result.id}, and the calls are {known}")
        if place >= len(play.made):
            continue
        words = FAILED if play.made[place][0] == "lookup" else (play.made[place][1],)
        if not any(each in result.text for each in words):
            play.object(f"call {place} should give {play.made[place][1]}: {result.text[:100]!r}")
        else:
            found[place] = play.made[place][1]
    return found


def _final(asked: Asked, play: Play) -> Reply:
    return Reply((Say("Found: " + ", ".join(_check(asked, play)) + "."),))


def one(asked: Asked, play: Play) -> Reply:
    """One call."""
    if asked.results:
        return _final(asked, play)
    return Reply((Say("I look."), *_calls(asked, play, ("get_weather", {"city": "Paris"}))))


def parallel(asked: Asked, play: Play) -> Reply:
    """Two calls of one tool at once."""
    if asked.results:
        return _final(asked, play)
    both = ("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Oslo"})
    return Reply(tuple(_calls(asked, play, *both)))


_ROUNDS: dict[int, tuple[tuple[str, Json], ...]] = {
    0: (("add", {"a": 2, "b": 3}),),
    1: (("get_weather", {"city": 'Zürich "Nord"'}), ("get_weather", {"city": "Oslo\n\\"})),
    3: (("add", {"a": 40, "b": 2}),),
    4: (("get_weather", {"city": "São Paulo"}),),
}
"""The calls of each round, by how many results there are."""


def rounds(asked: Asked, play: Play) -> Reply:
    """Four rounds, one of them with two calls, with quotes and umlauts in arguments."""
    _check(asked, play)
    due = _ROUNDS.get(len(asked.results))
    if due is None:
        return _final(asked, play)
    said = (Say("Now this."),) if len(asked.results) % 2 else ()
    return Reply((*said, *_calls(asked, play, *due)))


def failing(asked: Asked, play: Play) -> Reply:
    """A tool that fails, then one that does not."""
    if not asked.results:
        return Reply(tuple(_calls(asked, play, ("lookup", {"key": "x"}))))
    if len(asked.results) == 1:
        _check(asked, play)
        return Reply(tuple(_calls(asked, play, ("get_weather", {"city": "Paris"}))))
    return _final(asked, play)


def reason(asked: Asked, play: Play) -> Reply:
    """Reasoning with state before calls, in two rounds, and a look whether it came back."""
    number = len(asked.results)
    state = opaque(asked.protocol) if asked.protocol in _SEALED else ""
    # In its own protocol a framework may leave out what the provider has stored or does not need.
    due = bool(state) and shows_reasoning(asked) and play.client != asked.protocol
    if due and asked.states.count(state) < number:
        play.object(f"state of {number} turns is due, and {len(asked.states)} came back")
    if number == 2:
        return _final(asked, play)
    thought = Think(f"Thought {number}.", state)
    calls = _calls(asked, play, ("get_weather", {"city": ("Paris", "Oslo")[number]}), state=state)
    return Reply((thought, Say("I look."), *calls))


def schema(asked: Asked, play: Play) -> Reply:
    """An answer as JSON by a schema, or as a call of a tool that the framework made of it."""
    if "degrees" not in asked.text:
        play.object("the schema did not arrive")
    tool = next((each for each in asked.tools if not each.name.endswith(_TOOLS)), None)
    if tool is None:
        return Reply((Say(json.dumps(OBJECT)),))
    if asked.results:
        return Reply((Say("Done."),))
    return Reply((Call(tool, _wrapped(tool), play.call_id(asked.protocol)),))


def _wrapped(tool: Offered) -> Json:
    """The object as the tool takes it: some have one parameter for all of it."""
    known = tool.schema.get("properties") or {}
    if "city" in known or len(known) != 1:
        return OBJECT
    return {next(iter(known)): OBJECT}


def image(asked: Asked, play: Play) -> Reply:
    """A picture in the user's message."""
    if play.pixels not in asked.images:
        play.object(f"no picture; images of {[len(each) for each in asked.images]} bytes")
    return Reply((Say("I see the picture."),))


SCENARIOS: dict[str, Callable[[Any, Any], Reply]] = {
    "one": one,
    "parallel": parallel,
    "rounds": rounds,
    "failing": failing,
    "reason": reason,
    "schema": schema,
    "image": image,
}


def judge(scenario: str, answer: Json, upstream: FrameworkUpstream) -> str:
    """What is wrong with a cell; empty if nothing is."""
    play = upstream.stage
    assert isinstance(play, Play)
    if not upstream.asked:
        return f"no request reached the upstream: {answer.get('error', '')}"[:300]
    if play.problems:
        return "; ".join(play.problems)[:300]
    refused = [each.status for each in upstream.requests if each.status >= 400]
    if refused:
        return f"refused with {refused[0]}: {answer.get('error', '')}"[:300]
    if answer.get("error"):
        return str(answer["error"])[:300]
    if scenario == "schema":
        given = answer.get("object")
        return "" if given == OBJECT else f"the object is {given!r}"[:200]
    text = str(answer.get("text", ""))
    due = ["I see the picture"] if scenario == "image" else [each for _, each in play.made]
    missing = [each for each in due if each not in text]
    return f"the final text lacks {missing}: {text[-150:]!r}" if missing or not due else ""
