"""Virtual keys: what clients send to the gateway, so that nobody hands out the keys of providers.

A key is shown once, when it is created; only the hash of its token is stored. A plain hash will do,
because 240 random bits cannot be guessed.
"""

import hashlib
import secrets
from fnmatch import fnmatchcase
from typing import Final, Literal, Protocol, TypeAlias, TypedDict

from msgspec import Struct

from toolglot.errors import ToolglotError

PREFIX: Final = "tg-"
_RANDOM_BYTES: Final = 30  # 40 characters of base64
_MAX_TEXT: Final = 100
_MAX_LIMIT: Final = 10**15

Period: TypeAlias = Literal["day", "month", "total"]


class InvalidKeyError(ToolglotError, ValueError):
    """A key cannot be created like this."""


class UnknownKeyError(ToolglotError, LookupError):
    """There is no such key."""


class Budget(Struct, frozen=True):
    """Tokens that a key may use in each period; days and months begin at midnight UTC."""

    tokens: int
    per: Period = "total"


class VirtualKey(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A key without its token. Times are seconds since 1970. No models means all of them."""

    id: str
    name: str
    created: float
    expires: float | None = None
    revoked: float | None = None
    models: tuple[str, ...] = ()
    rpm: int | None = None
    """Requests per minute."""
    tpm: int | None = None
    """Tokens per minute."""
    budget: Budget | None = None
    inspect: bool = False
    """Whether whoever has it may look at the latest exchanges of this key."""

    @property
    def counts_tokens(self) -> bool:
        """Whether its tokens are limited."""
        return self.tpm is not None or self.budget is not None

    def is_valid(self, now: float) -> bool:
        """Whether the key is neither revoked nor expired."""
        return self.revoked is None and (self.expires is None or now < self.expires)

    def allows(self, model: str) -> bool:
        """Whether the key may be used for a model."""
        return not self.models or any(fnmatchcase(model, glob) for glob in self.models)


class KeyTerms(TypedDict, total=False):
    """The models, limits and expiry that a key may have."""

    models: tuple[str, ...]
    rpm: int | None
    tpm: int | None
    budget: Budget | None
    expires: float | None
    inspect: bool


class KeyStore(Protocol):
    """The virtual keys, as the gateway reads them; commands create and revoke them."""

    async def find(self, hashed: bytes) -> VirtualKey | None:
        """The key whose token has this hash, valid or not."""
        ...

    async def find_named(self, name: str) -> VirtualKey | None:
        """The key with this name that was not revoked."""
        ...

    async def close(self) -> None:
        """Release everything."""
        ...


def new_token() -> str:
    """A token for a new key."""
    return PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def hash_token(token: str) -> bytes:
    """What is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def check_key(key: VirtualKey) -> None:
    """Raise `InvalidKeyError` for a key that cannot be stored, shown or meant."""
    for what, text in (("name", key.name), *(("model", glob) for glob in key.models)):
        if not (0 < len(text) <= _MAX_TEXT and text.isprintable() and text == text.strip()):
            raise InvalidKeyError(
                f"a {what} has 1 to {_MAX_TEXT} printable characters, not {text!r}"
            )
    budget = key.budget.tokens if key.budget else None
    for what, limit in (("rpm", key.rpm), ("tpm", key.tpm), ("budget", budget)):
        if limit is not None and not 0 < limit <= _MAX_LIMIT:
            raise InvalidKeyError(f"{what} is a number from 1 to {_MAX_LIMIT}, not {limit}")
