"""A configuration that is read again when its file changes."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from toolglot.gateway.config import Config, ConfigError, load_config

_EVERY: Final = 1.0
_log: Final = logging.getLogger("toolglot")


async def watch(path: Path, use: Callable[[Config], None], every: float = _EVERY) -> None:
    """Use every new version of a file; one that is wrong is told and not used."""
    seen = _stamp(path)
    while True:
        await asyncio.sleep(every)
        now = _stamp(path)
        if now == seen or now is None:
            continue
        seen = now
        try:
            use(load_config(path))
        except (ConfigError, OSError) as error:
            _log.error("the configuration is not used: %s", error)
        else:
            _log.info("%s: read again", path)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        # Editors replace a file by removing it first.
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
