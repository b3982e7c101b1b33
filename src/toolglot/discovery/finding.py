"""Finding out which models and protocols there are, and where."""

from typing import Final

from msgspec import Struct

from toolglot.discovery.asking import HOMES, OTHER_LIMIT, Asker, Steps, home_auth
from toolglot.discovery.reading import Reading, read_answer
from toolglot.discovery.shapes import error_text, keys_of, read_models
from toolglot.discovery.urls import model_lists, places
from toolglot.discovery.values import Answer, Probe
from toolglot.registry import get_protocol

_UNFIT: Final = ("embed", "whisper", "tts", "moderation", "rerank", "dall-e", "image", "audio")
"""Words in the names of models that do not chat."""

_NO_SUCH: Final = (400, 404)
"""How servers say that they have no such model."""


class Found(Struct, frozen=True, kw_only=True):
    """A protocol that is spoken: where, and what was answered to the question with a tool."""

    protocol: str
    base_url: str
    answer: Answer
    reading: Reading


class Models(Struct, frozen=True, kw_only=True):
    """The models that a server lists, and the protocol that the list is of, where it says so."""

    names: tuple[str, ...] = ()
    protocol: str = ""


def find_models(asker: Asker, base_url: str) -> Steps[Models]:
    """The first list of models that there is; one of them is asked from then on."""
    headers = {key: text for name in HOMES for key, text in home_auth(name).headers.items()}
    for url in model_lists(base_url):
        answer = yield from asker.send(Probe(name="models", method="GET", url=url, headers=headers))
        if answer.failure or (answer.locked and not asker.key):
            break
        protocol, names = read_models(answer.body) if answer.ok else ("", ())
        if names:
            asker.book.add("models", f"{len(names)} at {url}", "models", answer, ", ".join(names))
            asker.model = asker.model or next(filter(_chats, names), names[0])
            return Models(names=names, protocol=protocol)
    return Models()


def _chats(model: str) -> bool:
    return not any(word in model.lower() for word in _UNFIT)


def find_protocols(asker: Asker, base_url: str) -> Steps[list[Found]]:
    """Each protocol where it is likely to be; only if none is there, where else it may be."""
    found: list[Found] = []
    locked: list[tuple[str, str, Answer]] = []
    for turn in range(2):
        for protocol in HOMES:
            at = places(base_url, get_protocol(protocol).SURFACE)
            if turn < len(at) and not (turn and (found or locked)):
                spoken = yield from _find(asker, protocol, at[turn])
                if isinstance(spoken, Found):
                    found.append(spoken)
                elif spoken.locked:
                    locked.append((protocol, at[turn], spoken))
    if locked and not found:
        yield from _tell_paths(asker, base_url, locked)
    return found


def _find(asker: Asker, protocol: str, base: str) -> Steps[Found | Answer]:
    """A protocol if it is spoken there, or else what came instead."""
    answer = yield from asker.ask("tools", protocol, base)
    while answer.refused and _remedy(asker, protocol, answer):
        answer = yield from asker.ask("tools", protocol, base)
    refusal = answer if answer.refused else None
    if refusal is not None:
        answer = yield from asker.ask("hello", protocol, base)
    reading = read_answer(answer.body) if answer.ok else Reading()
    if reading.protocol != protocol:
        _note_stranger(asker, protocol, answer, reading)
        return answer
    asked = "hello" if refusal else "tools"
    asker.book.add("protocol", f"{protocol} at {base}", asked, answer, keys_of(answer.body))
    return Found(
        protocol=protocol,
        base_url=base,
        answer=refusal or answer,
        reading=Reading() if refusal else reading,
    )


def _remedy(asker: Asker, protocol: str, answer: Answer) -> bool:
    """Whether an error names a setting that can be said otherwise; it then is from now on."""
    words = error_text(answer.body)
    _, other = OTHER_LIMIT.get(protocol, ("", ""))
    if other and other in words and not asker.other_limit:
        asker.other_limit = True
        asker.book.add("limit", other, "tools", answer)
        return True
    if "temperature" in words and not asker.no_temperature:
        asker.no_temperature = True
        asker.book.quirk("fixed-temperature", "A temperature of 0 is refused.")
        return True
    return False


def _note_stranger(asker: Asker, protocol: str, answer: Answer, reading: Reading) -> None:
    """What came where a protocol might have been."""
    path = get_protocol(protocol).SURFACE.path
    if reading.protocol:
        asker.book.quirk("other-shape", f"{path} answers in the shape of {reading.protocol}.")
    elif answer.status in _NO_SUCH and "model" in error_text(answer.body).lower():
        asker.book.once("model", "not known to it", "tools", answer)


def _tell_paths(asker: Asker, base_url: str, locked: list[tuple[str, str, Answer]]) -> Steps[None]:
    """Which paths are there behind the lock, if not everything is behind it."""
    probe = Probe(name="nowhere", method="POST", url=f"{base_url}/toolglot-probe", body={})
    answer = yield from asker.send_once(probe)
    if answer.locked or answer.ok or answer.failure:
        return
    for protocol, base, refusal in locked:
        asker.book.add("path", f"{protocol} at {base}", "tools", refusal)
