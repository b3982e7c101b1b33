"""Putting one question: which request it is, how the key is sent, how many there may be."""

from collections.abc import Generator, Mapping
from typing import Final, TypeVar

from msgspec.structs import replace

from toolglot.discovery.facts import Notebook
from toolglot.discovery.questions import QUESTIONS
from toolglot.discovery.values import AUTHS, Answer, Asked, Probe
from toolglot.ir import Json
from toolglot.profiles import Auth, Endpoint, get_profile
from toolglot.translate import encode_request

T = TypeVar("T")
Steps = Generator[Probe, Answer, T]
"""Something that asks: yields probes, is sent their answers, returns what it found."""

HOMES: Final[Mapping[str, str]] = {
    "gemini": "google",
    "ollama": "ollama",
    "openai-chat": "openai",
    "anthropic": "anthropic",
    "openai-responses": "openai",
}
"""The protocols and who made them, in the order in which they are preferred: a server that speaks
several speaks one of its own, and others for the clients of those."""

OTHER_LIMIT: Final[Mapping[str, tuple[str, str]]] = {
    "openai-chat": ("max_tokens", "max_completion_tokens")
}
"""The usual name of the limit and the other one, where there are two."""


class Asker:
    """Asks, and remembers what was asked and how the key is sent."""

    def __init__(self, *, model: str, key: bool, limit: int) -> None:
        self.book = Notebook()
        self.asked: list[Asked] = []
        self.model = model
        self.key = key
        self.style = ""
        """How the key is sent, once a way was taken."""
        self.other_limit = False
        """Whether the limit goes by its other name."""
        self.no_temperature = False
        """Whether the temperature is left to the server."""
        self._key_failed = False
        self._limit = limit

    def ask(
        self, question: str, protocol: str, base: str, body: Json | None = None
    ) -> Steps[Answer]:
        """The answer to a question in a protocol, with `body` in place of its own if given."""
        request = replace(QUESTIONS[question], model=self.model or "default")
        if self.no_temperature:
            request = replace(request, temperature=None)
        wire = encode_request(request, target=protocol)
        url = Endpoint(protocol=protocol, base_url=base).url(wire.path)
        query = "&".join(f"{key}={value}" for key, value in wire.query.items())
        probe = Probe(
            name=question,
            method="POST",
            url=f"{url}?{query}" if query else url,
            headers=home_auth(protocol).headers,
            body=self._named_limit(wire.body, protocol) if body is None else body,
        )
        return (yield from self.send(probe, protocol))

    def send(self, probe: Probe, protocol: str = "") -> Steps[Answer]:
        """The answer to a probe, with the key sent in whichever way is taken."""
        answer = Answer()
        for style in self._styles(protocol):
            was_locked = answer.locked
            answer = yield from self.send_once(replace(probe, auth=style))
            if not answer.locked:
                # A list of models may be open to all: it proves a way only where others failed.
                if style and answer.ok and (protocol or was_locked):
                    self.style = style
                return answer
        self._key_failed = self.key
        self.book.once("key", "not accepted" if self.key else "needed", probe.name, answer)
        return answer

    def send_once(self, probe: Probe) -> Steps[Answer]:
        """The answer to a probe as it is, unless there were too many."""
        if len(self.asked) >= self._limit:
            return Answer(failure="not asked: there were too many probes already")
        answer = yield probe
        self.asked.append(
            Asked(
                probe=probe.name,
                method=probe.method,
                url=probe.url,
                status=answer.status,
                ms=answer.ms,
                failure=answer.failure,
            )
        )
        return answer

    def _styles(self, protocol: str) -> tuple[str, ...]:
        """The ways of sending the key that are worth trying, the likely one first."""
        if not self.key:
            return ("",)
        if self.style:
            return (self.style,)
        home = home_auth(protocol).header if protocol else ""
        usual = sorted(AUTHS, key=lambda word: AUTHS[word].header != home)
        return tuple(usual[:1] if self._key_failed else usual)

    def _named_limit(self, body: Json, protocol: str) -> Json:
        if not self.other_limit or protocol not in OTHER_LIMIT:
            return body
        usual, other = OTHER_LIMIT[protocol]
        return {(other if key == usual else key): value for key, value in body.items()}


def home_auth(protocol: str) -> Auth:
    """How the provider who made a protocol takes keys."""
    return get_profile(HOMES[protocol]).auth
