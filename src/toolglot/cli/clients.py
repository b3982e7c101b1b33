"""Agent clients that people use, and how each is set up to use a gateway: one row for each.

A row never changes files of the user. What cannot be set in the environment is set by arguments of
this one run, or in a file of a temporary folder that is deleted after it. Each row was measured
with the version that it names.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from string import Template
from typing import Any, Final

from msgspec import Struct

from toolglot.errors import DecodeError
from toolglot.wire import jsontext

KEY_VARIABLE: Final = "TOOLGLOT_KEY"
"""The environment variable with the key that the gateway asks its clients for, if it does."""


class File(Struct, frozen=True):
    """A JSON file in the temporary folder."""

    content: dict[str, Any]
    over: str = ""
    """The user's own file, below the home folder: its settings stay unless they are set here."""


class ClientSetup(Struct, frozen=True):
    """How a client is set up to speak one protocol with a gateway.

    In all texts, `$url`, `$key`, `$model` and `$folder` are replaced by their values. An entry with
    a value that is not given is left out: without a model, the client uses its own.
    """

    environment: Mapping[str, Any]
    """Variables; what is not text is written as JSON."""
    arguments: tuple[str, ...] = ()
    """Arguments before those of the user."""
    files: Mapping[str, File] = {}
    """By their place in the temporary folder."""


class AgentClient(Struct, frozen=True):
    """A client: what it is called, where it comes from, and the protocols it speaks."""

    name: str
    title: str
    package: str
    """Its name in the npm registry."""
    version: str
    """The version whose behaviour was measured."""
    setups: Mapping[str, ClientSetup]
    """By protocol; the first is the default. It should be one in which the client returns reasoning
    state, which few do in Chat Completions."""
    usual_model: str = ""
    """A model that it asks for by itself; none: it must be told."""
    hint: str = ""
    """What a user must do by hand when only the environment is set."""

    @property
    def needs_model(self) -> bool:
        """Whether it has no model of its own choice."""
        return not self.usual_model

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"npm install -g {self.package}"


class Launch(Struct, frozen=True):
    """What one run of a client needs."""

    environment: dict[str, str]
    arguments: tuple[str, ...]
    files: Mapping[str, File]


_CLAUDE_ENVIRONMENT: Final[Mapping[str, str]] = {
    "ANTHROPIC_BASE_URL": "$url",
    "ANTHROPIC_AUTH_TOKEN": "$key",
    # A key for the provider would be sent beside the token.
    "ANTHROPIC_API_KEY": "",
    "ANTHROPIC_MODEL": "$model",
    "ANTHROPIC_DEFAULT_OPUS_MODEL": "$model",
    "ANTHROPIC_DEFAULT_SONNET_MODEL": "$model",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL": "$model",
    "CLAUDE_CODE_SUBAGENT_MODEL": "$model",
    # It differs in every conversation, so that no other provider could cache the prompt.
    "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    # Any of these would send the conversation to another provider, past the gateway.
    "CLAUDE_CODE_USE_BEDROCK": "0",
    "CLAUDE_CODE_USE_VERTEX": "0",
    "CLAUDE_CODE_USE_FOUNDRY": "0",
}

_CLAUDE: Final = ClientSetup(
    environment=_CLAUDE_ENVIRONMENT,
    # What `~/.claude/settings.json` sets wins over the environment, as another router may have left
    # it there; what this option names wins over both.
    arguments=("--settings=$folder/claude-settings.json",),
    files={"claude-settings.json": File({"env": dict(_CLAUDE_ENVIRONMENT)})},
)

_CODEX: Final = ClientSetup(
    environment={KEY_VARIABLE: "$key"},
    arguments=(
        "-c=model_provider=toolglot",
        "-c=model_providers.toolglot.name=toolglot",
        '-c=model_providers.toolglot.base_url="$url/v1"',
        f"-c=model_providers.toolglot.env_key={KEY_VARIABLE}",
        "-c=model_providers.toolglot.wire_api=responses",
        '-c=model="$model"',
    ),
)

_GEMINI: Final = ClientSetup(
    environment={
        "GOOGLE_GEMINI_BASE_URL": "$url",
        "GEMINI_API_KEY": "$key",
        "GEMINI_MODEL": "$model",
        # How one logs in is a setting. A file for the whole machine would have to belong to root.
        "GEMINI_CLI_HOME": "$folder",
    },
    files={
        ".gemini/settings.json": File(
            {"security": {"auth": {"selectedType": "gemini-api-key"}}},
            over=".gemini/settings.json",
        )
    },
)


def _opencode(package: str) -> ClientSetup:
    """The configuration of a provider, over which of the SDK's packages it is spoken to."""
    model = {
        "name": "$model",
        "tool_call": True,
        "reasoning": True,
        "attachment": True,
        "modalities": {"input": ["text", "image"], "output": ["text"]},
        "limit": {"context": 200_000, "output": 32_000},
    }
    provider = {
        "npm": package,
        "name": "toolglot",
        "options": {"baseURL": "$url/v1", "apiKey": "$key"},
        "models": {"$model": model},
    }
    config = {
        "model": "toolglot/$model",
        "small_model": "toolglot/$model",
        "provider": {"toolglot": provider},
    }
    return ClientSetup(environment={"OPENCODE_CONFIG_CONTENT": config})


def _qwen(auth: str, prefix: str, base: str, address: str) -> ClientSetup:
    return ClientSetup(
        environment={base: address, f"{prefix}_API_KEY": "$key", f"{prefix}_MODEL": "$model"},
        arguments=(f"--auth-type={auth}",),
    )


_ROWS: Final = (
    AgentClient(
        name="claude",
        title="Claude Code",
        package="@anthropic-ai/claude-code",
        version="2.1.197",
        setups={"anthropic": _CLAUDE},
        usual_model="claude-sonnet-5",
    ),
    AgentClient(
        name="codex",
        title="Codex CLI",
        package="@openai/codex",
        version="0.166.0",
        setups={"openai-responses": _CODEX},
        usual_model="gpt-5.5",
    ),
    AgentClient(
        name="gemini",
        title="Gemini CLI",
        package="@google/gemini-cli",
        version="0.61.0",
        setups={"gemini": _GEMINI},
        usual_model="gemini-3-pro-preview",
        hint="Gemini CLI must be set to use an API key: choose it once with /auth.",
    ),
    AgentClient(
        name="opencode",
        title="opencode",
        package="opencode-ai",
        version="1.18.33",
        setups={
            "anthropic": _opencode("@ai-sdk/anthropic"),
            "openai-responses": _opencode("@ai-sdk/openai"),
            "openai-chat": _opencode("@ai-sdk/openai-compatible"),
            "gemini": _opencode("@ai-sdk/google"),
        },
    ),
    AgentClient(
        name="qwen",
        title="Qwen Code",
        package="@qwen-code/qwen-code",
        version="0.15.10",
        setups={
            "anthropic": _qwen("anthropic", "ANTHROPIC", "ANTHROPIC_BASE_URL", "$url"),
            "gemini": _qwen("gemini", "GEMINI", "GOOGLE_GEMINI_BASE_URL", "$url"),
            "openai-chat": _qwen("openai", "OPENAI", "OPENAI_BASE_URL", "$url/v1"),
        },
    ),
)

CLIENTS: Final[Mapping[str, AgentClient]] = {row.name: row for row in _ROWS}


def launch(
    client: AgentClient, protocol: str, *, url: str, key: str, model: str | None, folder: str | None
) -> Launch:
    """The row of a client, filled in; without a folder also without what needs one."""
    setup = client.setups[protocol]
    values = {"url": url.rstrip("/"), "key": key, "model": model, "folder": folder}
    known = {name: value for name, value in values.items() if value is not None}

    def complete(value: Any) -> bool:
        return all(name in known or f"${name}" not in _text(value) for name in values)

    return Launch(
        environment={
            name: _text(_filled(value, known))
            for name, value in setup.environment.items()
            if complete(value)
        },
        arguments=tuple(_filled(each, known) for each in setup.arguments if complete(each)),
        files={
            name: File(_filled(_complete(file.content, complete), known), file.over)
            for name, file in setup.files.items()
        },
    )


def _complete(value: Any, complete: Callable[[str], bool]) -> Any:
    """A value without the entries that need what is not given."""
    if not isinstance(value, dict):
        return value
    return {
        name: _complete(each, complete)
        for name, each in value.items()
        if not isinstance(each, str) or complete(each)
    }


def written(file: File, home: Path) -> bytes:
    """A file for one run, over what the user has set."""
    try:
        own = jsontext.decode((home / file.over).read_bytes())
    except (OSError, DecodeError):
        # There is none, or it is more than JSON (comments); then the client starts afresh.
        own = None
    return jsontext.encode(_over(own, file.content))


def _over(below: Any, above: Any) -> Any:
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return {**below, **{name: _over(below.get(name), value) for name, value in above.items()}}


def _filled(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return Template(value).substitute(known)
    if isinstance(value, list):
        return [_filled(each, known) for each in value]
    if isinstance(value, dict):
        return {_filled(name, known): _filled(each, known) for name, each in value.items()}
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else jsontext.encode(value).decode()
