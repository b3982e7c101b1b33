"""What a scripted upstream plays: each scenario says what it answers to each request.

The words that scenarios look for are in files of the client's work folder. They are known to the
upstream only from tool results, so a final answer that has them proves the whole way there and
back.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from tests.upstreams.values import (
    Asked,
    Call,
    Failure,
    Json,
    Offered,
    Reply,
    Result,
    Say,
    Think,
    opaque,
)

WORD = re.compile(r"word-[0-9a-f]{8}")
_SHELL = re.compile(r"(?i)(^|_)(bash|shell|shell_command|exec_command|run_command)$")
_SCRIPT = re.compile(r"(?i)(^|_)exec$")
"""Codex, for models of its own: JavaScript in which its tools are functions."""
_READ = re.compile(r"(?i)^(read|read_file|view_image)$")
_COMMAND = ("command", "cmd", "script")
_PATH = ("file_path", "filePath", "absolute_path", "path")
WITHOUT_REASONING = frozenset({"openai", "azure"})
"""Providers whose Chat Completions never say what a model thinks."""
_SEALED = {
    "anthropic",
    "openai-responses",
    "gemini",
    "gemini-interactions",
    "bedrock-converse",
}
"""Protocols whose reasoning comes with sealed state."""


@dataclass
class Stage:
    """What lasts over the requests of one scenario."""

    call_id: Callable[[str], str]
    commands: tuple[str, ...] = ("cat one.txt", "cat two.txt")
    picture: str = "picture.png"
    pixels: bytes = b""
    spares_checks: bool = False
    """Whether requests without tools are answered where a scenario fails: `run` sends one first."""
    keeps_ids: bool = True
    """Whether the client gives back the ids of calls; if not, calls and results get new ones."""
    problems: list[str] = field(default_factory=list)
    issued: list[str] = field(default_factory=list)
    tries: Counter[str] = field(default_factory=Counter)

    def once(self, step: str) -> bool:
        """Whether this is the first time that the step is reached."""
        self.tries[step] += 1
        return self.tries[step] == 1

    def object(self, problem: str) -> None:
        """Something in a request is not as it should be."""
        if problem not in self.problems:
            self.problems.append(problem)


Scenario = Callable[[Asked, Stage], Reply | Failure]


def ids(pattern: Callable[[str], str]) -> Callable[[str], str]:
    """Call ids in the manner of a protocol, numbered through."""
    numbers = count(1)
    return lambda protocol: pattern(protocol).format(next(numbers))


# --- tools ----------------------------------------------------------------------------------------


def _call(
    asked: Asked,
    stage: Stage,
    name: re.Pattern[str],
    keys: tuple[str, ...],
    value: str,
    *,
    state: str = "",
) -> Iterator[Call]:
    tool = next((tool for tool in asked.tools if name.search(tool.name)), None)
    if tool is None:
        stage.object(f"no tool like {name.pattern} among {[tool.name for tool in asked.tools]}")
        return
    call_id = stage.call_id(asked.protocol if asked.provider != "mistral" else "mistral")
    stage.issued.append(call_id)
    yield Call(tool, _arguments(tool, keys, value), call_id, state)


def _arguments(tool: Offered, keys: tuple[str, ...], value: str) -> Json:
    """The value under the first key that the tool knows, and something for all it requires."""
    known = tool.schema.get("properties") or {}
    key = next((key for key in keys if key in known), keys[0])
    listed = str(known.get(key, {}).get("type")).lower() == "array"
    arguments: Json = {key: ["bash", "-lc", value] if listed else value}
    for name in tool.schema.get("required") or ():
        arguments.setdefault(name, _filler(known.get(name, {})))
    return arguments


def _filler(schema: Json) -> Any:
    if schema.get("enum"):
        return schema["enum"][0]
    kind = str(schema.get("type")).lower()
    return {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}.get(
        kind, "Read a file"
    )


def shell(asked: Asked, stage: Stage, command: str, state: str = "") -> Iterator[Call]:
    """A call of the client's shell, whatever its name."""
    script = next((tool for tool in asked.tools if _SCRIPT.search(tool.name)), None)
    if script is not None and not any(_SHELL.search(tool.name) for tool in asked.tools):
        command = f"text((await tools.exec_command({{cmd: {json.dumps(command)}}})).output)"
        return _call(asked, stage, _SCRIPT, ("input",), command, state=state)
    return _call(asked, stage, _SHELL, _COMMAND, command, state=state)


def _words(results: list[Result], stage: Stage) -> str:
    found = []
    for result in results:
        words = WORD.findall(result.text)
        if not words:
            stage.object(f"a result without its word: {result.text[:200]!r}")
        found += words[:1]
    return " and ".join(found) or "nothing"


# --- scenarios ------------------------------------------------------------------------------------


def one_tool(asked: Asked, stage: Stage) -> Reply | Failure:
    """One call of the shell, then an answer that quotes its result."""
    if not asked.tools:
        return Reply((Say("A title"),))
    if not asked.results:
        return Reply((Say("I will look."), *shell(asked, stage, stage.commands[0])))
    return Reply((Say(f"It says {_words([asked.results[-1]], stage)}."),))


def parallel(asked: Asked, stage: Stage) -> Reply | Failure:
    """Reasoning and two calls at once, then a look whether all of it came back as it was."""
    if not asked.tools:
        return Reply((Say("A title"),))
    thought = Think(
        f"Two files are to be read. {opaque('thought', 30)}",
        opaque(asked.protocol) if asked.protocol in _SEALED else "",
    )
    if not asked.results:
        one, two = stage.commands
        calls = (*shell(asked, stage, one, thought.state), *shell(asked, stage, two))
        return Reply((thought, Say("I will look at both."), *calls))
    if shows_reasoning(asked):
        _expect_state(asked, stage, thought)
    return Reply((Say(f"They say {_words(_in_order(asked, stage), stage)}."),))


def shows_reasoning(asked: Asked) -> bool:
    """Whether the model tells what it thinks, so that it can come back."""
    if asked.protocol == "openai-chat":
        return asked.provider not in WITHOUT_REASONING
    if asked.provider and asked.protocol == "anthropic":
        return _is_thinking(asked)
    return not (asked.protocol == "openai-responses" and asked.model.startswith("gpt-4"))


def with_thought(reply: Reply, asked: Asked) -> Reply:
    """The reply as a real model gives it that cannot call without having thought."""
    if not reply.calls or any(isinstance(part, Think) for part in reply.parts):
        return reply
    state = opaque(asked.protocol) if asked.protocol in _SEALED else ""
    if asked.protocol == "anthropic" and not _is_thinking(asked):
        return reply
    parts = list(reply.parts)
    first = parts.index(reply.calls[0])
    parts[first] = replace(reply.calls[0], state=state)
    return replace(reply, parts=(Think("A file is to be read.", state), *parts))


def silent(reply: Reply) -> Reply:
    """The reply of a model that does not tell what it thinks."""
    return replace(reply, parts=tuple(part for part in reply.parts if not isinstance(part, Think)))


def _is_thinking(asked: Asked) -> bool:
    return (asked.body.get("thinking") or {}).get("type") in ("enabled", "adaptive")


def _expect_state(asked: Asked, stage: Stage, thought: Think) -> None:
    expected = thought.state or thought.text
    if expected not in asked.states:
        seen = [f"{state[:60]}… ({len(state)})" for state in asked.states]
        stage.object(f"reasoning state did not come back; there is {seen or 'none'}")


def _in_order(asked: Asked, stage: Stage) -> list[Result]:
    """The results in the order of their calls; without ids it is their own."""
    results = list(asked.results)
    if len(results) != len(stage.issued):
        stage.object(f"{len(stage.issued)} calls got {len(results)} results")
    if any(result.id is None for result in results):
        return results
    called = stage.issued if stage.keeps_ids else [call_id for call_id, _ in asked.calls]
    unknown = [result.id for result in results if result.id not in called]
    if unknown:
        stage.object(f"results for {unknown}, but the calls were {called}")
        return results
    return sorted(results, key=lambda result: called.index(result.id or ""))


def image(asked: Asked, stage: Stage) -> Reply | Failure:
    """A call of the tool that reads files, then a look whether the picture came."""
    if not asked.tools:
        return Reply((Say("A title"),))
    if not asked.results:
        calls = _call(asked, stage, _READ, _PATH, stage.picture)
        return Reply((Say("I will look."), *calls))
    if stage.pixels in asked.images:
        return Reply((Say("I see the picture."),))
    stage.object(f"no picture; images of {[len(image) for image in asked.images]} bytes")
    return Reply((Say("I see nothing."),))


def sloppy(asked: Asked, stage: Stage) -> Reply | Failure:
    """As `one-tool`, written carelessly."""
    answer = one_tool(asked, stage)
    assert isinstance(answer, Reply)
    return Reply(answer.parts, sloppy=True)


def rate_limited(asked: Asked, stage: Stage) -> Reply | Failure:
    """As `one-tool`, but the first request comes too soon."""
    if asked.tools and stage.once("first"):
        return Failure("rate", "Too many requests.", {"retry-after": "1"})
    return one_tool(asked, stage)


def cut(asked: Asked, stage: Stage) -> Reply | Failure:
    """As `one-tool`, but the first answer breaks off in the middle. The client asks again, or says
    that it failed where it never asks again (Gemini CLI, Qwen Code).
    """
    if asked.tools and stage.once("first"):
        return Reply((Say("I was about to say something that nobody hears the end of."),), cut=True)
    return one_tool(asked, stage)


def _is_check(asked: Asked) -> bool:
    """Whether this is the small request before a client starts. A client that makes room in its
    conversation asks without tools, too.
    """
    return not asked.tools and "Say yes." in asked.text


def overflow(asked: Asked, stage: Stage) -> Reply | Failure:
    """The conversation is too long for the model."""
    if stage.spares_checks and _is_check(asked):
        return Reply((Say("Yes."),))
    return Failure("overflow", "")


def refused(asked: Asked, stage: Stage) -> Reply | Failure:
    """An error whose words the user should get to see."""
    if stage.spares_checks and _is_check(asked):
        return Reply((Say("Yes."),))
    return Failure("invalid", "The moon is in the wrong house.")


SCENARIOS: dict[str, Scenario] = {
    "one-tool": one_tool,
    "parallel": parallel,
    "image": image,
    "sloppy": sloppy,
    "rate-limited": rate_limited,
    "cut": cut,
    "overflow": overflow,
    "refused": refused,
}
