"""Whether a provider knows the path at which it was asked, and what to say if it does not.

A server that does not know a path answers 404, as it does for a model that it does not have. The
first is a mistake in `base_url`, which no other model can heal.
"""

import re
from typing import Any, Final

from toolglot.base_urls import ServerUrl, likely_base_url
from toolglot.gateway import error_responses as errors
from toolglot.gateway.relay.providers import Upstream
from toolglot.gateway.telemetry.redact import redact_url
from toolglot.ir import ApiError
from toolglot.wire import jsontext

NOT_FOUND: Final = 404
_WORDS: Final = re.compile(
    r"(http )?(404[: -]*)?(page |file |resource |route |path |url |endpoint )?not[ _]found\.?"
    r"|no (such )?(route|path|endpoint)\b.*|cannot (get|post) .*"
    r"|(invalid|unknown|unsupported) (request )?(url|path|route|endpoint)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""What servers say of a path that they do not have: Go, FastAPI, Express, and providers."""
_CODES: Final = frozenset({"unknown_url", errors.UNKNOWN_PATH})


def is_missing_path(status: int, body: bytes) -> bool:
    """Whether a reply says that there is nothing at the path that was asked."""
    if status != NOT_FOUND:
        return False
    text = body.strip()
    if not text or text.startswith(b"<"):
        return True
    value = json_in(body)
    if not isinstance(value, dict):
        return bool(_WORDS.match(text.decode(errors="replace")))
    inner = value.get("error")
    error = inner if isinstance(inner, dict) else value
    if error.get("code") in _CODES:
        return True
    said = (error.get("message"), value.get("detail"), inner)
    words = next((each for each in said if isinstance(each, str) and each), "")
    return bool(_WORDS.fullmatch(words.strip()))


def json_in(body: bytes) -> Any:
    """The JSON of a body, or None."""
    try:
        return jsontext.peek(body)
    except ValueError:
        return None


def wrong_base_url(upstream: Upstream, protocol: str, url: str) -> ApiError:
    """What the client is told of a provider that does not know the path of its protocol."""
    base = next(each.base_url for each in upstream.endpoints if each.protocol == protocol)
    path = ServerUrl.of(url).path
    other = likely_base_url(base, protocol)
    hint = f"did you mean {redact_url(other)}?" if other else "`toolglot doctor` tries others"
    return errors.wrong_base_url(upstream.name, redact_url(base), path, hint)
