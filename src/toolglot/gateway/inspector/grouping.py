"""Exchanges put into conversations: by the id that a client gives its session, or by what was said.

A request continues the conversation whose messages it repeats and goes on from. One that repeats
all of them and no more is the same request again: it belongs there if the last one failed.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from toolglot.gateway.incoming import session_of
from toolglot.gateway.inspector.exchange_facts import ExchangeFacts, facts_of
from toolglot.gateway.telemetry.captures import CapturedExchange

FIRST_ERROR: Final = 400
_PRODUCT: Final = re.compile(r"\s*([^\s/;()]+)(?:[/ ]v?(\d[\w.+-]*))?")
_CLIENTS: Final[Mapping[str, str]] = {
    "asyncanthropic": "anthropic-python",
    "asyncopenai": "openai-python",
    "claude-cli": "Claude Code",
    "claude-code": "Claude Code",
    "codex_cli_rs": "Codex",
    "codex_exec": "Codex",
    "codex-tui": "Codex",
    "geminicli": "Gemini CLI",
    "geminicli-tui": "Gemini CLI",
    "google-genai-sdk": "google-genai",
    "qwencode": "Qwen Code",
}
"""What clients are called whose `User-Agent` does not say it as people do."""
_CHANGED: Final = 2
"""Messages at the end of a request that clients write anew in the next."""


class InspectedTurn(Struct, frozen=True):
    """One exchange of a conversation."""

    exchange: CapturedExchange
    facts: ExchangeFacts

    @property
    def failed(self) -> bool:
        """Whether the client got an error."""
        exchange = self.exchange
        ended = exchange.state == "ended"
        return exchange.error is not None or (ended and not 0 < exchange.status < FIRST_ERROR)


class InspectedConversation(Struct):
    """The exchanges of one conversation, the oldest first."""

    turns: list[InspectedTurn]

    @property
    def id(self) -> int:
        """The number of its first exchange."""
        return self.turns[0].exchange.number

    @property
    def last(self) -> InspectedTurn:
        """The latest."""
        return self.turns[-1]


def conversations(exchanges: Iterable[CapturedExchange]) -> list[InspectedConversation]:
    """All conversations, in the order in which they began."""
    found: list[InspectedConversation] = []
    by_key: dict[tuple[str, str, int], list[InspectedConversation]] = {}
    for exchange in exchanges:
        turn = InspectedTurn(exchange, facts_of(exchange))
        named = session_of(exchange.headers)
        chain = turn.facts.request.chain
        # Without a name, nothing is continued that began in another way.
        key = client_of(exchange.headers)[0], named, 0 if named or not chain else chain[0]
        candidates = by_key.setdefault(key, [])
        home = candidates[-1] if named and candidates else _continued(turn, candidates)
        if home is None:
            home = InspectedConversation([])
            candidates.append(home)
            found.append(home)
        home.turns.append(turn)
    return found


def client_of(headers: Mapping[str, str]) -> tuple[str, str]:
    """The name and version of a client, as far as it says them."""
    product = _PRODUCT.match(headers.get("user-agent", ""))
    if product is None:
        return "", ""
    return _CLIENTS.get(product[1].lower(), product[1]), product[2] or ""


def _continued(
    turn: InspectedTurn, candidates: list[InspectedConversation]
) -> InspectedConversation | None:
    chain, best, longest = turn.facts.request.chain, None, 0
    for each in reversed(candidates):
        before = each.last
        known = before.facts.request.chain
        common = _common(known, chain)
        if chain == known:
            continues = before.failed
        else:
            continues = len(chain) > len(known) and common >= max(1, len(known) - _CHANGED)
        if continues and common > longest:
            best, longest = each, common
    return best


def _common(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return at
    return min(len(one), len(other))
