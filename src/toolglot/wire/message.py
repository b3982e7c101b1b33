"""A request or response on the wire: its body, and what matters of the HTTP around it."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire import jsontext
from toolglot.wire.fields import kind_of


class WireRequest(Struct, frozen=True, kw_only=True):
    """A request on the wire. Some protocols have the model and streaming in the path."""

    body: Json
    path: str = ""
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}

    def data(self) -> bytes:
        """The body as bytes."""
        return jsontext.encode(self.body)


class WireResponse(Struct, frozen=True, kw_only=True):
    """A response on the wire."""

    body: Json
    status: int = 200
    headers: Mapping[str, str] = {}

    def data(self) -> bytes:
        """The body as bytes."""
        return jsontext.encode(self.body)

    @property
    def ok(self) -> bool:
        """Whether the status means success."""
        return 200 <= self.status < 300  # noqa: PLR2004 - the meaning of the numbers is HTTP's


def plain_body(body: Any) -> Any:
    """A body; of an object of a provider's SDK, what it has on the wire."""
    dump = getattr(body, "model_dump", None)
    return body if dump is None else dump(mode="json", by_alias=True, exclude_unset=True)


def read_body(body: Any, ctx: Context | None = None) -> Json:
    """A JSON object from bytes, text, an object that was parsed already, or one of an SDK."""
    body = plain_body(body)
    if isinstance(body, (bytearray, memoryview)):
        body = bytes(body)
    value = jsontext.decode(body, ctx) if isinstance(body, (bytes, str)) else body
    if not isinstance(value, dict):
        raise DecodeError("", f"expected object, got {kind_of(value)}")
    return value
