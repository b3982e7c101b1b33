"""Which models and protocols a server has, and at which URL."""

from typing import Final

from msgspec import Struct

from toolglot.discovery.parse_response import (
    ParsedResponse,
    error_text,
    keys_of,
    parse_response,
    read_models,
)
from toolglot.discovery.probe import Probe, ProbeResponse
from toolglot.discovery.prober import Prober, Steps
from toolglot.discovery.urls import model_lists, places
from toolglot.registry import PROTOCOLS, get_protocol

_UNFIT: Final = ("embed", "whisper", "tts", "moderation", "rerank", "dall-e", "image", "audio")
"""Words in the names of models that do not chat."""

_NO_SUCH: Final = (400, 404)
"""How servers say that they have no such model."""


class DetectedProtocol(Struct, frozen=True, kw_only=True):
    """A protocol that is spoken: where, and what was answered to the question with a tool."""

    protocol: str
    base_url: str
    answer: ProbeResponse
    reading: ParsedResponse


class ModelList(Struct, frozen=True, kw_only=True):
    """The models that a server lists, and the protocol of the list, if its entries show it."""

    names: tuple[str, ...] = ()
    protocol: str = ""


def find_models(prober: Prober, base_url: str) -> Steps[ModelList]:
    """The first list of models that there is; one of them is asked from then on."""
    headers = {
        key: text for codec in PROTOCOLS.values() for key, text in codec.API.fixed_headers.items()
    }
    for url in model_lists(base_url):
        answer = yield from prober.send(
            Probe(name="models", method="GET", url=url, headers=headers)
        )
        if answer.failure or (answer.locked and not prober.key):
            break
        protocol, names = read_models(answer.body) if answer.ok else ("", ())
        if names:
            prober.findings.add("models", f"{len(names)} at {url}", answer, ", ".join(names))
            prober.model = prober.model or next(filter(_chats, names), names[0])
            return ModelList(names=names, protocol=protocol)
    return ModelList()


def _chats(model: str) -> bool:
    return not any(word in model.lower() for word in _UNFIT)


def find_protocols(prober: Prober, base_url: str) -> Steps[list[DetectedProtocol]]:
    """Each protocol where it is likely to be; only if none is there, where else it may be."""
    found: list[DetectedProtocol] = []
    locked: list[tuple[str, str, ProbeResponse]] = []
    for turn in range(2):
        for protocol in sorted(PROTOCOLS, key=lambda name: PROTOCOLS[name].API.imitated):
            at = places(base_url, get_protocol(protocol).SURFACE)
            if turn < len(at) and not (turn and (found or locked)):
                spoken = yield from _find(prober, protocol, at[turn])
                if isinstance(spoken, DetectedProtocol):
                    found.append(spoken)
                elif spoken.locked:
                    locked.append((protocol, at[turn], spoken))
    if locked and not found:
        yield from _note_paths(prober, base_url, locked)
    return found


def _find(prober: Prober, protocol: str, base: str) -> Steps[DetectedProtocol | ProbeResponse]:
    """A protocol if it is spoken there, or else what came instead."""
    answer = yield from prober.ask("tools", protocol, base)
    while answer.refused and _remedy(prober, protocol, answer):
        answer = yield from prober.ask("tools", protocol, base)
    refusal = answer if answer.refused else None
    if refusal is not None:
        answer = yield from prober.ask("hello", protocol, base)
    reading = parse_response(answer.body) if answer.ok else ParsedResponse()
    if reading.protocol != protocol:
        _note_other(prober, protocol, answer, reading)
        return answer
    prober.findings.add("protocol", f"{protocol} at {base}", answer, keys_of(answer.body))
    return DetectedProtocol(
        protocol=protocol,
        base_url=base,
        answer=refusal or answer,
        reading=ParsedResponse() if refusal else reading,
    )


def _remedy(prober: Prober, protocol: str, answer: ProbeResponse) -> bool:
    """Whether an error names a setting that can be changed; it then is, from now on."""
    words = error_text(answer.body)
    _, other = get_protocol(protocol).API.limit_keys or ("", "")
    if other and other in words and not prober.other_limit:
        prober.other_limit = True
        prober.findings.add("limit", other, answer)
        return True
    if "temperature" in words and not prober.no_temperature:
        prober.no_temperature = True
        prober.findings.quirk("fixed-temperature", "A temperature of 0 is refused.")
        return True
    return prober.apply_learned(protocol)


def _note_other(
    prober: Prober, protocol: str, answer: ProbeResponse, reading: ParsedResponse
) -> None:
    """What came where a protocol might have been."""
    path = get_protocol(protocol).SURFACE.path
    if reading.protocol:
        prober.findings.quirk("other-shape", f"{path} answers in the shape of {reading.protocol}.")
    elif answer.status in _NO_SUCH and "model" in error_text(answer.body).lower():
        prober.findings.once("model", "not known to it", answer)


def _note_paths(
    prober: Prober, base_url: str, locked: list[tuple[str, str, ProbeResponse]]
) -> Steps[None]:
    """Which paths are there behind the lock, if not everything is behind it."""
    probe = Probe(name="nowhere", method="POST", url=f"{base_url}/toolglot-probe", body={})
    answer = yield from prober.send_once(probe)
    if answer.locked or answer.ok or answer.failure:
        return
    for protocol, base, refusal in locked:
        prober.findings.add("path", f"{protocol} at {base}", refusal)
