"""Details of errors as google.rpc has them (https://cloud.google.com/apis/design/errors)."""

import re
from math import ceil
from typing import Any, Final

_SECONDS: Final = re.compile(r"(\d+(?:\.\d+)?)s")


def retry_delay(details: Any) -> str | None:
    """Seconds to wait, from the RetryInfo among the details."""
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        match = _SECONDS.fullmatch(delay) if isinstance(delay, str) else None
        if match is not None:
            return str(ceil(float(match[1])))
    return None
