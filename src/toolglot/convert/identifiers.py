"""Ids and times in the forms that agents need, made from what a conversation is."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from toolglot.context import Context
from toolglot.convert.transcript import RecordedConversation, turn_of
from toolglot.ir import Message

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def new_uuid(ctx: Context) -> str:
    """A UUID that is new in this context, and the same for the same input."""
    text = ctx.new_id("") + ctx.new_id("")
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:32]}"


def session_id(conversation: RecordedConversation, ctx: Context) -> str:
    """The id of a session, which must be a UUID: its own, if that is one."""
    known = conversation.facts.get("id", "")
    if _UUID.fullmatch(known):
        return known
    made = new_uuid(ctx)
    ctx.note("id-made", "id", f"the session is {made}" + (f", it was {known}" if known else ""))
    return made


def times_of(conversation: RecordedConversation, ctx: Context) -> list[str]:
    """A time for each message: its own, or a moment after the one before."""
    last = _read_time(conversation.facts.get("time")) or datetime.fromtimestamp(ctx.now(), UTC)
    times: list[str] = []
    made = 0
    for message in conversation.messages:
        known = time_of(message)
        made += known is None
        last = known or last + timedelta(milliseconds=1)
        times.append(write_time(last))
    if made:
        ctx.note("default-added", "time", f"{made} messages say no time, which is needed here")
    return times


def time_of(message: Message) -> datetime | None:
    """When a message was written, if that is known."""
    return _read_time(turn_of(message).get("time"))


def write_time(time: datetime) -> str:
    """A time to the millisecond, as agents write it."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _read_time(text: str | None) -> datetime | None:
    try:
        time = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time is not None and time.tzinfo is None else time
