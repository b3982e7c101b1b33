"""A tool loop in one call: ask a model, run the functions that it calls, tell it the results.

def weather(city: str) -> str:
    "The weather in a city."
    return "sunny"

print(toolglot.chat("openai/gpt-5.4", "How is the weather in Rome?", tools=[weather]).text)
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from toolglot.adapt import adapt_request
from toolglot.context import Context
from toolglot.errors import DecodeError, ToolglotError
from toolglot.gateway.config import DEMO, Config
from toolglot.inprocess.local_gateway import LocalGateway
from toolglot.inprocess.loop_driver import LoopDriver
from toolglot.inprocess.targets import Targets, config_for
from toolglot.inprocess.tool_functions import Function, ToolFunction, tool_function
from toolglot.ir import ApiError, Json, Message, Request, Response, Role, Text, ToolCall, ToolResult
from toolglot.profiles import get_profile
from toolglot.providers import protocols_for
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.translate import decode_response

Messages = str | Sequence[Message | Mapping[str, Any] | str]
"""A prompt; or messages: values, dicts with a role and a text, or the texts of a user."""

_PLAIN: Final = ("role", "content")


class Transcript(Struct, frozen=True):
    """What was said, from the first message to the last answer."""

    messages: tuple[Message, ...]
    """The whole history; `chat` takes it again, with what comes next."""
    responses: tuple[Response, ...]
    """The answers of the model, one for each round."""
    receipts: tuple[Json, ...] = ()
    """What translating changed, one for each round."""

    @property
    def text(self) -> str:
        """The text of the last answer."""
        parts = self.messages[-1].parts if self.messages else ()
        return "".join(part.text for part in parts if isinstance(part, Text))


class RequestFailedError(ToolglotError):
    """A model did not answer; `error` says why, `transcript` is what was said until then."""

    def __init__(self, error: ApiError, transcript: Transcript) -> None:
        self.error, self.transcript = error, transcript
        status = f" (status {error.status})" if error.status else ""
        super().__init__(f"{error.message}{status}")


class TooManyRoundsError(ToolglotError):
    """A model still calls tools after the last round; `transcript` is what was said."""

    def __init__(self, rounds: int, transcript: Transcript) -> None:
        self.transcript = transcript
        super().__init__(f"the model still calls tools after {rounds} rounds; raise max_rounds")


def chat(
    model: Targets,
    messages: Messages,
    *,
    tools: Iterable[Function] = (),
    system: str | None = None,
    max_rounds: int = 10,
    config: Config | Path | str | None = None,
    api_key: str | None = None,
    base_url: str | None = None,
    protocol: str | None = None,
    **settings: Any,
) -> Transcript:
    """Talk to a model until it calls no more tools.

    Functions get typed arguments; what they return is told to the model, and so is an exception.
    Coroutine functions that are called at once run at once. `settings` are members of
    `toolglot.Request`, such as `max_tokens` or `temperature`.
    """
    made = config_for(model, config=config, api_key=api_key, base_url=base_url, protocol=protocol)
    loop = ToolLoop(made, tools, system=system, max_rounds=max_rounds, settings=settings)
    driver = LoopDriver()
    try:
        return driver.run(loop.run(messages))
    finally:
        driver.close()


async def achat(
    model: Targets,
    messages: Messages,
    *,
    tools: Iterable[Function] = (),
    system: str | None = None,
    max_rounds: int = 10,
    config: Config | Path | str | None = None,
    api_key: str | None = None,
    base_url: str | None = None,
    protocol: str | None = None,
    **settings: Any,
) -> Transcript:
    """The same in an event loop. Plain functions run in threads, so that they do not stop it."""
    made = config_for(model, config=config, api_key=api_key, base_url=base_url, protocol=protocol)
    loop = ToolLoop(
        made, tools, system=system, max_rounds=max_rounds, settings=settings, call=asyncio.to_thread
    )
    return await loop.run(messages)


async def _call_here(function: Callable[[str], Any], arguments: str) -> Any:
    return function(arguments)


class ToolLoop:
    """Asks a model and runs its calls, round by round."""

    def __init__(
        self,
        config: Config,
        tools: Iterable[Function],
        *,
        system: str | None,
        max_rounds: int,
        settings: Mapping[str, Any],
        call: Callable[[Callable[[str], Any], str], Awaitable[Any]] = _call_here,
    ) -> None:
        self._config, self._call, self._max_rounds = config, call, max_rounds
        self._functions = {each.name: each for each in map(tool_function, tools)}
        self._protocol, self._model = _first_target(config)
        self._request = Request(
            model=self._model,
            messages=(),
            stream=False,
            system=Message(role="system", parts=(Text(text=system),)) if system else None,
            tools=tuple(each.tool for each in self._functions.values()),
            **settings,
        )

    async def run(self, given: Messages) -> Transcript:
        """The conversation that messages begin."""
        talk = Transcript(_read_messages(given), ())
        gateway = LocalGateway(self._config)
        try:
            for _ in range(self._max_rounds):
                answer = await self._ask(gateway, talk)
                parts = answer.choices[0].parts if answer.choices else ()
                talk = Transcript(
                    (*talk.messages, Message(role="assistant", parts=parts)),
                    (*talk.responses, answer),
                    tuple(gateway.receipts),
                )
                calls = [part for part in parts if isinstance(part, ToolCall)]
                if not calls:
                    return talk
                results = await asyncio.gather(*map(self._result, calls))
                message = Message(role="user", parts=tuple(results))
                talk = replace(talk, messages=(*talk.messages, message))
        finally:
            await gateway.close()
        raise TooManyRoundsError(self._max_rounds, talk)

    async def _ask(self, gateway: LocalGateway, talk: Transcript) -> Response:
        codec = get_protocol(self._protocol)
        ctx = Context(source=codec.SURFACE, target=codec.SURFACE)
        request = replace(self._request, messages=talk.messages)
        wire = codec.encode_request(adapt_request(request, ctx), ctx)
        headers = {"content-type": "application/json", "user-agent": "toolglot"}
        answer = await gateway.send("POST", wire.path, headers, wire.data())
        body = bytearray()
        while piece := await answer.read():
            body += piece
        response = decode_response(bytes(body), source=self._protocol, status=answer.status)
        if isinstance(response, ApiError):
            raise RequestFailedError(response, talk)
        return response

    async def _result(self, call: ToolCall) -> ToolResult:
        """What a call came to. Every call gets a result, or the next request would be refused."""
        known = self._functions.get(call.name)
        if known is None:
            names = ", ".join(self._functions) or "none"
            return _told(call, f"there is no tool {call.name!r}; known: {names}", is_error=True)
        try:
            return _told(call, _text(await self._value(known, call.arguments)))
        except Exception as error:  # noqa: BLE001 - the model is told what went wrong
            return _told(call, f"{type(error).__name__}: {error}", is_error=True)

    async def _value(self, known: ToolFunction, arguments: str) -> Any:
        if inspect.iscoroutinefunction(known.function):
            return await known.call(arguments)
        value = await self._call(known.call, arguments)
        return await value if inspect.isawaitable(value) else value


def _first_target(config: Config) -> tuple[str, str]:
    """The protocol to speak, which is that of the first target, and the model to name."""
    target = config.routes[0].targets[0] if config.routes else DEMO
    name, _, model = target.partition("/")
    provider = config.providers.get(name)
    if provider is None:
        return next(iter(PROTOCOLS)), model or DEMO
    if provider.protocol is not None:
        return provider.protocol, model
    profile = get_profile(provider.profile or name)
    spoken = protocols_for(profile.name, model) or profile.protocols
    return spoken[0], model


def _read_messages(given: Messages) -> tuple[Message, ...]:
    several = (given,) if isinstance(given, str) else given
    return tuple(_read_message(index, each) for index, each in enumerate(several))


def _read_message(index: int, given: Message | Mapping[str, Any] | str) -> Message:
    if isinstance(given, Message):
        return given
    if isinstance(given, str):
        return Message(role="user", parts=(Text(text=given),))
    role: Any = given.get("role")
    text = given.get("content")
    if role not in get_args(Role) or not isinstance(text, str) or len(given) != len(_PLAIN):
        raise DecodeError(
            f"messages[{index}]",
            "expected a role and a text as content; give a toolglot.Message for anything else",
        )
    return Message(role=role, parts=(Text(text=text),))


def _told(call: ToolCall, text: str, *, is_error: bool | None = None) -> ToolResult:
    parts = (Text(text=text),)
    return ToolResult(id=call.id, name=call.name, kind=call.type, parts=parts, is_error=is_error)


def _text(value: Any) -> str:
    """What a function returned, as a model reads it: text as it is, all else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value).decode()
    except TypeError:
        return str(value)
