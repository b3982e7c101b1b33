"""Experiments with clients whose requests are wrong: in one member, or altogether."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.gateway.wild import Turn
from tests.torture.connection import Connection
from tests.torture.conversation import (
    NAMES,
    Conversation,
    question,
    reply,
    speaker,
    target,
)
from tests.torture.lab import Lab, Row, Settings, laboratory, many
from tests.torture.provider_trials import PROMPT
from tests.torture.readers import read
from tests.upstreams.values import Asked, Offered

FIXTURES = Path(__file__).parents[1] / "fixtures"
_RAW = "\x00raw:"
"""The mark of a value that is written as it is, because no JSON has it."""

WRONG: dict[str, Any] = {
    "null": None,
    "true": True,
    "zero": 0,
    "minus one": -1,
    "a fraction": 0.5,
    "a huge number": 10**30,
    "a number beyond all": _RAW + "1e999",
    "a thousand digits": _RAW + "9" * 1000,
    "NaN": _RAW + "NaN",
    "an empty string": "",
    "a string": "x",
    "a long string": "y" * 5000,
    "a lone surrogate": _RAW + '"\\ud800"',
    "a NUL": "\x00",
    "no list": [],
    "no object": {},
    "a list of lists": [[]],
    "a list of null": [None],
    "an object of nonsense": {"type": [1], "a": {}},
    "fifty levels": _RAW + "[" * 50 + "]" * 50,
    "nothing": _RAW,
}
"""Values in place of any member."""


@dataclass(frozen=True)
class Question:
    """A request that is wrong, and in what way."""

    protocol: str
    path: str
    make: Callable[[], bytes]
    """Makes the body: there are too many to have all of them."""
    what: str
    stream: bool = False
    headers: str = "content-type: application/json\r\n"


# --- what is asked --------------------------------------------------------------------------------


def _bases() -> Iterator[tuple[str, str, dict[str, Any], bool]]:
    """Sound requests: protocol, path, body, and whether a stream is asked for."""
    for place, name in enumerate(NAMES):
        for stream in (False, True):
            talk = Conversation(place, name, NAMES[place - 1], stream, 1, True, " ")
            path, body = question(talk)
            yield name, path, json.loads(body), stream
        for number, file in enumerate(_fixtures(name)):
            body = json.loads(file.read_bytes())
            other = target(NAMES[(place + number) % len(NAMES)])
            if name == "gemini":
                yield name, f"/v1beta/models/{other}:generateContent", body, False
            elif name == "bedrock-converse":
                yield name, f"/model/{other}/converse", body, False
            else:
                stream = bool(body.get("stream", name == "ollama"))
                yield name, question(talk)[0], {**body, "model": other}, stream
    model, messages = target("openai-chat"), [{"role": "user", "content": "Hi."}]
    yield "anthropic", "/v1/messages/count_tokens", {"model": model, "messages": messages}, False
    contents = [{"role": "user", "parts": [{"text": "Hi."}]}]
    yield "gemini", f"/v1beta/models/{model}:countTokens", {"contents": contents}, False
    for path in ("/v1/responses/input_tokens", "/v1/responses/compact"):
        yield "openai-responses", path, {"model": model, "input": messages}, False
    prompt = {"model": model, "prompt": "Hi.", "system": "Be brief.", "stream": False}
    yield "ollama", "/api/generate", prompt, False
    yield "ollama", "/api/show", {"model": model}, False
    items = [{"type": "message", "role": "user", "content": "Hi."}]
    yield "openai-responses", "/v1/conversations", {"items": items, "metadata": {"a": "b"}}, False
    body = {"model": model, "messages": messages}
    asked = {"protocol": "openai-chat", "model": model, "body": body, "path": "/v1/x"}
    yield "openai-chat", "/toolglot/translate", asked, False


def _fixtures(name: str) -> list[Path]:
    """Some requests of real clients, the ones that have most in them."""
    found = sorted((FIXTURES / name).glob("*.request.json"), key=lambda path: path.stat().st_size)
    return [path for path in found if path.stat().st_size < 4000][-3:]


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every member and element in a body."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inside:
        yield (*at, key)
        if isinstance(each, (dict, list)):
            yield from _places(each, (*at, key))


def _replaced(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = _replaced(value[at[0]], at[1:], new)
    return copy


def _written(value: Any) -> bytes:
    """JSON with what is no JSON in it."""
    text = json.dumps(value)
    found = re.compile(r'"\\u0000raw:((?:[^"\\]|\\.)*)"')
    return found.sub(lambda match: json.loads(f'"{match[1]}"'), text).encode()


def _members(body: dict[str, Any]) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """One member wrong, missing or twice."""
    for at in _places(body):
        name = ".".join(map(str, at))
        for what, value in WRONG.items():
            yield f"{name} is {what}", partial(_with, body, at, value)
        if isinstance(at[-1], str):
            yield f"{name} twice", partial(_twice, body, at[-1])


def _with(body: dict[str, Any], at: tuple[Any, ...], value: Any) -> bytes:
    return _written(_replaced(body, at, value))


def _twice(body: dict[str, Any], name: str) -> bytes:
    key = json.dumps(name) + ": "
    return json.dumps(body).replace(key, f"{key}1, {key}", 1).encode()


def _altogether(body: dict[str, Any]) -> Iterator[tuple[str, bytes, str]]:
    """Everything wrong: what, the body, and headers."""
    data, plain = json.dumps(body).encode(), "content-type: application/json\r\n"
    for part in range(8):
        yield f"cut after {part} eighths", data[: len(data) * part // 8], plain
    wholes = {
        "a number": b"17",
        "a string": b'"x"',
        "a list": b"[]",
        "null": b"null",
        "no object": b"{}",
        "two objects": data + data,
        "something after it": data + b" x",
        "a byte order mark": b"\xef\xbb\xbf" + data,
        "half a byte order mark": b"\xef\xbb" + data,
        "UTF-16": data.decode().encode("utf-16"),
        "UTF-32": data.decode().encode("utf-32"),
        "Latin-1": data.replace(b"Hi.", "\u00e9".encode("latin-1")) + b"\xe9",
        "bytes": bytes(range(256)),
        "a NUL": data + b"\0",
        "a hundred thousand levels": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        "a hundred thousand lists": b"[" * 100_000,
        "a number of 100,000 digits": b'{"max_tokens":' + b"9" * 100_000 + b"}",
        "half an escape": data[:-1] + b',"a":"\\u12"}',
        "a line end in a string": data[:-1] + b',"a":"\n"}',
        "a comma too much": data[:-1] + b",}",
        "single quotes": data.replace(b'"', b"'"),
        "a form": b"model=x&messages=y",
        "XML": b"<?xml version='1.0'?><model>x</model>",
    }
    for what, whole in wholes.items():
        yield what, whole, plain
    kinds = (
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
        "application/json; charset=utf-16", "application/xml", "\xe9", "",
    )  # fmt: skip
    for kind in kinds:
        yield f"content type {kind!r}", data, f"content-type: {kind}\r\n"
    for name, packed in (
        ("gzip", data), ("gzip", gzip.compress(data)[:-9]), ("deflate", data), ("br", data),
        ("zstd", data), ("gzip, gzip", data), ("rot13", data), ("\xe9", data), (",", data),
    ):  # fmt: skip
        yield f"content encoding {name!r}", packed, f"content-encoding: {name}\r\n"


def questions() -> Iterator[Question]:
    """All of them, always in the same order."""
    for protocol, path, body, stream in _bases():
        for what, data in _members(body):
            yield Question(protocol, path, data, what, stream)
        for what, data, headers in _altogether(body):
            yield Question(protocol, path, partial(bytes, data), what, stream, headers)


# --- asking ---------------------------------------------------------------------------------------

_INSIDE = re.compile(
    r"Traceback|NoneType|object has no attribute|not subscriptable|unhashable|KeyError|TypeError"
    r"|codec can't|out of range|<class|msgspec|object at 0x"
)
"""Words that tell of our code and not of the request."""
_FIRST_FAULT = 500
_SHORTEST = 8
_OURS = ("/v1/conversations", "/toolglot/translate", "/api/show")
"""Paths with answers of their own."""


def _wrong(asked: Question, status: int, body: bytes) -> list[str]:
    """What is wrong with an answer to a wrong request; that there is one may be right."""
    if status < 400:
        return []
    if status >= _FIRST_FAULT:
        return [f"status {status}: {body[:200]!r}"]
    seen = read(asked.protocol, status, body, stream=asked.stream)
    wrong = list(seen.wrong)
    words = _words(body)
    if len(words) < _SHORTEST or _INSIDE.search(words):
        wrong.append(f"says {words!r}")
    return wrong


def _words(body: bytes) -> str:
    try:
        said = json.loads(body)
        error = said["error"] if "error" in said else said["message"]
    except (ValueError, KeyError, TypeError):
        return ""
    return str(error.get("message", "") if isinstance(error, dict) else error)


async def bad_bodies(settings: Settings) -> Row:
    """Requests that are wrong in one place or altogether: a sentence, and never a fault of ours."""
    row = Row("requests that are wrong")
    rng = settings.random("bodies")
    asked = list(questions())
    wanted = settings.pick(part=300, short=8_000, long=len(asked))
    everything = len(asked)
    if wanted < everything:
        asked = rng.sample(asked, wanted)
    refused = 0
    async with laboratory(provider=PROMPT, server="max_body = 4000000") as lab:
        lab.otherwise = _any_answer

        async def one(connection: Connection, number: int) -> None:
            nonlocal refused
            each = asked[number]
            try:
                answer = await connection.ask_raw(each.path, each.make(), each.headers)
            except (OSError, EOFError, TimeoutError) as error:
                connection.close()
                row.count([f"no answer at all: {error!r}"], f"{each.path}, {each.what}")
                return
            refused += answer.status >= 400
            row.count(_wrong(each, answer.status, answer.body), f"{each.path}, {each.what}")

        await many(settings, lab, row, len(asked), 20, one)
        row.check(lab.gateway.process.returncode is None, "the gateway still runs")
        row.check(await _lives(lab), "it answers as before")
    row.figures = {"refused": f"{refused:,}", "there are": f"{everything:,}"}
    return row


async def _lives(lab: Lab) -> bool:
    async with lab.connection() as connection:
        talk = Conversation(1, NAMES[0], NAMES[0], False, 1, True, " ")
        return (await connection.ask(*question(talk))).status == 200


async def _any_answer(turn: Turn) -> None:
    """An answer that depends on nothing but the path, since the request may be anything."""
    theirs = next((each for each in NAMES if turn.path.startswith(_BEGINNINGS[each])), NAMES[0])
    talk = Conversation(1, theirs, theirs, False, 1, True, " ")
    request = Asked(theirs, "m", False, {}, (Offered("look_up", {}),), (), (), (), ())
    body = speaker(talk).whole(reply(talk, request), request)
    await turn.whole(json.dumps(body).encode())


_BEGINNINGS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat",
    "openai-responses": "/v1/responses",
    "gemini-interactions": "/v1beta/interactions",
    "gemini": "/v1beta",
    "ollama": "/api",
    "bedrock-converse": "/model",
}
