"""The tokens that a request is charged, and those that it may come to be charged.

A provider's own count is used wherever there is one. Some give none, and a client that disconnects
before the end never gets it; then the sizes of the request and of the answer are all that is known.
"""

from typing import Any, Final

from msgspec.structs import replace

from toolglot.gateway.access.rate_limits import NO_RESERVATION, Reservation
from toolglot.gateway.access.virtual_keys import VirtualKey
from toolglot.gateway.telemetry.request_record import RequestRecord
from toolglot.ir import Usage
from toolglot.profiles import family_of
from toolglot.surface import Surface
from toolglot.wire import jsontext

_BYTES_PER_TOKEN: Final = 4
_MOST_INPUT: Final = 200_000
"""Tokens that a request is taken for at most: a picture in it has fewer than its bytes suggest."""
_EVENT_BYTES: Final = 300
"""Bytes around the text of an event, so many at most."""
_LINES_PER_EVENT: Final = 2
_UNSEEN_OUTPUT: Final = 256
"""Tokens that an answer is taken for of which nothing was seen."""
_ON_THE_WAY: Final = 64
"""Tokens that are taken to be on their way when a client leaves."""
_USUAL_OUTPUT: Final = 4096
"""Tokens of an answer that are reserved of those per minute, unless the request has a limit."""
_LONGEST_OUTPUT: Final = 16_384
"""Tokens of an answer that are reserved of a budget, unless the request has a limit or the model
is known.
"""
_FIRST_ERROR: Final = 400


def reservation_for(
    key: VirtualKey | None, surface: Surface, model: str, body: bytes
) -> Reservation:
    """What is to be reserved for a request."""
    if key is None or not key.counts_tokens:
        return NO_RESERVATION
    members = jsontext.members(body)
    names = surface.limits.spellings or (surface.settings.get("max_tokens", ""),)
    limits = [_number(members, name) for name in names]
    limit = max((each for each in limits if each is not None), default=None)
    choices = max(1, _number(members, surface.settings.get("n", "")) or 1)
    family = family_of(model)
    longest = (family.max_output if family else None) or _LONGEST_OUTPUT
    given = _input(len(body))
    return Reservation(
        tokens=given + choices * (_USUAL_OUTPUT if limit is None else limit),
        budget=given + choices * (longest if limit is None else limit),
    )


def charged_usage(request: RequestRecord) -> Usage | None:
    """The tokens of a request: the provider's count, completed by an estimate where it ended too
    early; None: it was not answered.
    """
    usage = _counted(request.usage)
    cut = request.stream and not request.finish_reasons
    if not request.sent or request.status >= _FIRST_ERROR or (usage is not None and not cut):
        return usage
    output = _output(request)
    if usage is None or not usage.prompt:
        return Usage(input=_input(request.body_size), output=output)
    return replace(usage, output=max(usage.output or 0, output))


def _counted(usage: Usage | None) -> Usage | None:
    """A provider's count; some count nothing, and none gives tokens back."""
    if usage is None or ((usage.prompt or 0) <= 0 and (usage.output or 0) <= 0):
        return None
    counts = (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning)
    if all(each is None or each >= 0 for each in counts):
        return usage
    made = [None if each is None else max(0, each) for each in counts]
    return Usage(
        input=made[0], output=made[1], cache_read=made[2], cache_write=made[3], reasoning=made[4]
    )


def _input(size: int) -> int:
    return min(size // _BYTES_PER_TOKEN, _MOST_INPUT)


def _output(request: RequestRecord) -> int:
    if not request.received:
        return _UNSEEN_OUTPUT
    if not request.stream:
        return request.received // _BYTES_PER_TOKEN
    # Most providers send an event for each token, and some one for many.
    events = request.received_lines // _LINES_PER_EVENT
    seen = max(events, (request.received - _EVENT_BYTES * events) // _BYTES_PER_TOKEN)
    left = not request.finish_reasons and not request.error
    return seen + _ON_THE_WAY if left else seen


def _number(members: Any, path: str) -> int | None:
    """A number in a request, by its path."""
    for name in path.split("."):
        if not isinstance(members, dict):
            return None
        members = jsontext.read(members.get(name))
    is_number = isinstance(members, (int, float)) and not isinstance(members, bool)
    return int(members) if is_number and 0 < members < _MOST else None


_MOST: Final = 10**9
"""A limit above this is none."""
