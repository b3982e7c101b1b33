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
    """Use every new version of a file; one that is wrong, or half written, is told and not used."""
    used, seen = _load(path), _stamp(path)
    changed = seen
    while True:
        await asyncio.sleep(every)
        now = _stamp(path)
        if now != changed:
            # Whoever writes it may not be done.
            changed = now
            continue
        if now == seen or now is None:
            continue
        seen = now
        config = _replacement(path, used, use)
        if config is not None:
            used = config


def _replacement(path: Path, used: Config | None, use: Callable[[Config], None]) -> Config | None:
    """The new version, once it is used."""
    try:
        config = load_config(path)
        _keep_providers(path, used, config)
        use(config)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a file, the gateway goes on
        deep = isinstance(error, RecursionError)
        words = "nested too deeply" if deep else str(error) or type(error).__name__
        place = "" if str(path) in words else f"{path}: "
        _log.error("the configuration is not used, the one before stays: %s%s", place, words)
        return None
    _log.info("%s: read again", path)
    later = ", ".join(_for_the_next_start(used.server, config.server)) if used else ""
    if later:
        _log.warning("%s: %s in [server] will count after a restart", path, later)
    return config


def _keep_providers(path: Path, used: Config | None, config: Config) -> None:
    """Reject a file without providers where there were some: it was emptied, to be written anew.

    The built-in model would answer everybody, with status 200.
    """
    if used is not None and used.providers and not config.providers:
        raise ConfigError(f"{path} has no providers any more; restart toolglot if that is intended")


def _for_the_next_start(old: Server, new: Server) -> Iterator[str]:
    """The settings that changed and cannot be changed while the gateway runs."""
    for name in Server.__struct_fields__:
        if name not in _AT_ONCE and getattr(old, name) != getattr(new, name):
            yield name


def _load(path: Path) -> Config | None:
    try:
        return load_config(path)
    except (ConfigError, OSError):
        return None


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        # Editors replace a file by removing it first.
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
