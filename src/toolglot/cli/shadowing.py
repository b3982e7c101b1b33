"""Settings of other routers, and variables, that send a client or the gateway somewhere else.

`toolglot run` overrides what it can for one run; a client that is started by hand, and the gateway
itself, obey them. Each row says where one looks, and what to do about it.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from toolglot.errors import DecodeError
from toolglot.profiles import profiles
from toolglot.wire import jsontext


class Shadowing(Struct, frozen=True):
    """Something that takes precedence: where it is, what it does, and what to do."""

    place: str
    effect: str
    advice: str

    def __str__(self) -> str:
        return f"{self.place} {self.effect}; {self.advice}"


_CLAUDE_SETTINGS: Final = (
    "~/.claude/settings.json",
    "~/.claude/settings.local.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
)
_CLAUDE_MANAGED: Final = "/etc/claude-code/managed-settings.json"
"""What an administrator sets; no option of a run wins over it (code.claude.com, settings)."""
_ELSEWHERE: Final = (
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
)
_OFF: Final = ("", "0", "false")
_PROXIES: Final = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
_EXCEPTIONS: Final = ("no_proxy", "NO_PROXY")
_RUN_OVERRIDES: Final = "`toolglot run` overrides it for its run; a client started by hand obeys it"


def find_shadowing(
    environment: Mapping[str, str], home: Path, folder: Path, root: Path = Path("/")
) -> list[Shadowing]:
    """What is set on this machine that clients or the gateway obey instead."""
    return [
        *_claude(home, folder, root),
        *_other_files(home),
        *_flags(environment),
        *_addresses(environment),
        *_proxies(environment),
    ]


def _claude(home: Path, folder: Path, root: Path) -> Iterator[Shadowing]:
    managed = root / _CLAUDE_MANAGED.lstrip("/")
    places = [(home / name[2:] if name[0] == "~" else folder / name) for name in _CLAUDE_SETTINGS]
    for name, path in zip((*_CLAUDE_SETTINGS, _CLAUDE_MANAGED), (*places, managed), strict=True):
        found = _json(path)
        variables = found.get("env")
        variables = variables if isinstance(variables, dict) else {}
        set_ = [each for each in _ELSEWHERE if str(variables.get(each, "")) not in _OFF]
        helper = ["apiKeyHelper"] if found.get("apiKeyHelper") else []
        for each in (*set_, *helper):
            advice = "ask its administrator: nothing overrides it" if path == managed else ""
            yield Shadowing(
                name, f"sets {each} for Claude Code", advice or f"{_RUN_OVERRIDES}: remove it there"
            )


def _other_files(home: Path) -> Iterator[Shadowing]:
    if (home / ".claude-code-router/config.json").is_file():
        yield Shadowing(
            "~/.claude-code-router",
            "is the setup of claude-code-router",
            "`ccr code` starts Claude Code with that one; `toolglot run claude` does not use it",
        )
    provider = _toml(home / ".codex/config.toml").get("model_provider")
    if isinstance(provider, str) and provider not in ("openai", "toolglot"):
        yield Shadowing("~/.codex/config.toml", f"sets model_provider = {provider}", _RUN_OVERRIDES)


def _flags(environment: Mapping[str, str]) -> Iterator[Shadowing]:
    for name in _ELSEWHERE[1:]:
        if environment.get(name, "").lower() not in _OFF:
            yield Shadowing(name, "sends Claude Code to another provider", _RUN_OVERRIDES)


def _addresses(environment: Mapping[str, str]) -> Iterator[Shadowing]:
    for profile in profiles():
        for name in profile.base_url_env:
            if environment.get(name):
                yield Shadowing(
                    name,
                    f"is set: the gateway reaches {profile.title} there, and SDKs do too",
                    f"unset it if that is not meant (`unset {name}`)",
                )


def _proxies(environment: Mapping[str, str]) -> Iterator[Shadowing]:
    used = next((name for name in _PROXIES if environment.get(name)), None)
    excepted = ",".join(environment.get(name, "") for name in _EXCEPTIONS)
    if used and not any(name in excepted for name in ("127.0.0.1", "127.", "*")):
        yield Shadowing(
            used,
            "is set without an exception for this machine: clients may send what is for the "
            "gateway to the proxy",
            "set NO_PROXY=127.0.0.1,localhost",
        )


def _json(path: Path) -> dict[str, Any]:
    try:
        value = jsontext.decode(path.read_bytes())
    except (OSError, DecodeError):
        return {}
    return value if isinstance(value, dict) else {}


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
