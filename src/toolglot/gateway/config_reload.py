"""A configuration that is read again when its file changes."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from toolglot.gateway.config import Config, ConfigError, Server, load_config

_EVERY: Final = 1.0
_AT_ONCE: Final = frozenset({"origins", "receipts", "keep_alive"})
"""What of `[server]` is looked up at every request."""
_log: Final = logging.getLogger("toolglot")


async def watch(path: Path, use: Callable[[Config], None], every: float = _EVERY) -> None:
    """Use every new version of a file; one that is wrong is told and not used."""
    seen, server = _stamp(path), _server(path)
    while True:
        await asyncio.sleep(every)
        now = _stamp(path)
        if now == seen or now is None:
            continue
        seen = now
        try:
            config = load_config(path)
            use(config)
        except (ConfigError, OSError) as error:
            _log.error("the configuration is not used: %s", error)
            continue
        _log.info("%s: read again", path)
        later = ", ".join(_for_the_next_start(server, config.server))
        if later:
            _log.warning("%s: %s in [server] will count after a restart", path, later)
        server = config.server


def _for_the_next_start(old: Server, new: Server) -> Iterator[str]:
    """The settings that changed and cannot be changed while the gateway runs."""
    for name in Server.__struct_fields__:
        if name not in _AT_ONCE and getattr(old, name) != getattr(new, name):
            yield name


def _server(path: Path) -> Server:
    try:
        return load_config(path).server
    except (ConfigError, OSError):
        return Server()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        # Editors replace a file by removing it first.
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
