"""Making probes: which request it is, how the key is sent, how many there may be."""

from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from toolglot.discovery.probe import AUTHS, Probe, ProbeResponse, SentProbe
from toolglot.discovery.probe_findings import Findings
from toolglot.discovery.probe_requests import PROBE_REQUESTS
from toolglot.ir import Json
from toolglot.profiles import Endpoint
from toolglot.registry import get_protocol
from toolglot.translate import encode_request, translate_request

T = TypeVar("T")
Steps = Generator[Probe, ProbeResponse, T]
"""A generator that yields probes, is sent their responses and returns what it found."""

Learn = Callable[[str, ProbeResponse, Json, Mapping[str, Any]], Mapping[str, Any]]
"""What the words of a refusal say of a server: the protocol, the refusal, the request that was
refused and the facts that are known already give further facts."""

_WRONG: Final = frozenset({"error", "limit"})
"""Probes that may be refused for what they are."""


class Prober:
    """Makes probes, and remembers what was sent and how the key is accepted."""

    def __init__(self, *, model: str, key: bool, limit: int, learn: Learn | None = None) -> None:
        self.findings = Findings()
        self.asked: list[SentProbe] = []
        self.model = model
        self.key = key
        self.style = ""
        """How the key is sent, once a way was accepted."""
        self.other_limit = False
        """Whether the token limit has its other name."""
        self.no_temperature = False
        """Whether the temperature is left to the server."""
        self.learned: dict[str, dict[str, Any]] = {}
        """By protocol, what refusals said in words, as facts."""
        self.applied: dict[str, dict[str, Any]] = {}
        """Those of them without which no request is accepted."""
        self._learn = learn
        self._key_failed = False
        self._limit = limit

    def ask(
        self, question: str, protocol: str, base: str, body: Json | None = None
    ) -> Steps[ProbeResponse]:
        """The response to a request in a protocol, with `body` in place of its own if given."""
        request = replace(PROBE_REQUESTS[question], model=self.model or "default")
        if self.no_temperature:
            request = replace(request, temperature=None)
        wire = encode_request(request, target=protocol)
        if applied := self.applied.get(protocol):
            wire, _ = translate_request(
                wire.body, source=protocol, target=protocol, path=wire.path, overrides=applied
            )
        url = Endpoint(protocol=protocol, base_url=base).url(wire.path)
        query = "&".join(f"{key}={value}" for key, value in wire.query.items())
        probe = Probe(
            name=question,
            method="POST",
            url=f"{url}?{query}" if query else url,
            headers=get_protocol(protocol).API.fixed_headers,
            body=self._named_limit(wire.body, protocol) if body is None else body,
        )
        answer = yield from self.send(probe, protocol)
        if answer.refused and self._learn is not None and question not in _WRONG:
            known = self.learned.setdefault(protocol, {})
            known.update(self._learn(protocol, answer, probe.body or {}, known))
        return answer

    def apply_learned(self, protocol: str) -> bool:
        """Make further requests as the refusals want them; False if that changes nothing."""
        learned, applied = self.learned.get(protocol, {}), self.applied.setdefault(protocol, {})
        if learned == applied:
            return False
        applied.update(learned)
        return True

    def send(self, probe: Probe, protocol: str = "") -> Steps[ProbeResponse]:
        """The response to a probe, with the key sent in whichever way is accepted."""
        answer = ProbeResponse()
        for style in self._styles(protocol):
            was_locked = answer.locked
            answer = yield from self.send_once(replace(probe, auth=style))
            if not answer.locked:
                # A list of models may be open to all: it proves a way only where others failed.
                if style and answer.ok and (protocol or was_locked):
                    self.style = style
                return answer
        self._key_failed = self.key
        self.findings.once("key", "not accepted" if self.key else "needed", answer)
        return answer

    def send_once(self, probe: Probe) -> Steps[ProbeResponse]:
        """The response to a probe as it is, unless there were too many."""
        if len(self.asked) >= self._limit:
            return ProbeResponse(failure="not asked: there were too many probes already")
        answer = replace((yield probe), probe=probe.name)
        self.asked.append(
            SentProbe(
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
        """How the key may be sent, the likely way first."""
        if not self.key:
            return ("",)
        if self.style:
            return (self.style,)
        own = get_protocol(protocol).API.key_header if protocol else ""
        usual = sorted(AUTHS, key=lambda word: AUTHS[word].header != own)
        return tuple(usual[:1] if self._key_failed else usual)

    def _named_limit(self, body: Json, protocol: str) -> Json:
        names = get_protocol(protocol).API.limit_keys
        if not self.other_limit or names is None:
            return body
        usual, other = names
        return {(other if key == usual else key): value for key, value in body.items()}
