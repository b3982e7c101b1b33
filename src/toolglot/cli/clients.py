"""Agent clients that people use, and how each is set up to use a gateway: one row for each.

A row never changes files of the user. What cannot be set in the environment is set by arguments of
this one run, or in a file of a temporary folder that is deleted after it. Each row was measured
with the version that it names.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from string import Template
from typing import Any, Final, Literal

from msgspec import Struct

from toolglot.cli.model_catalogue import ModelCatalogue
from toolglot.errors import DecodeError
from toolglot.wire import jsontext

KEY_VARIABLE: Final = "TOOLGLOT_KEY"
"""The environment variable with the key that the gateway asks its clients for, if it does."""


class File(Struct, frozen=True):
    """A file in the temporary folder: text, or JSON (which is YAML, too)."""

    content: Any
    over: str = ""
    """The user's own file, below the home folder: its settings stay unless they are set here."""


class ClientSetup(Struct, frozen=True):
    """How a client is set up to speak one protocol with a gateway.

    In all texts, `$url`, `$key`, `$model`, `$folder` and `$catalogue` are replaced by their values.
    An entry with a value that is not given is left out: without a model, the client uses its own.
    """

    environment: Mapping[str, Any]
    """Variables; what is not text is written as JSON."""
    arguments: tuple[str, ...] = ()
    """Arguments before those of the user."""
    files: Mapping[str, File] = {}
    """By their place in the temporary folder."""


_TRIALS: Final = "every scenario of `make e2e`"
_TOOL_TURN: Final = "one turn with a tool call, on the demo model"
_ANSWER: Final = "one answer of the demo model"


class AgentClient(Struct, frozen=True):
    """A client: what it is called, where it comes from, and the protocols it speaks."""

    name: str
    title: str
    package: str
    """Its name in the registry that it is installed from."""
    version: str
    """The version whose behaviour was measured."""
    setups: Mapping[str, ClientSetup]
    """By protocol; the first is the default. It should be one in which the client returns reasoning
    state, which few do in Chat Completions."""
    registry: Literal["npm", "pip"] = "npm"
    program: str = ""
    """What it is called on the command line; none: as here."""
    tried: str = _TOOL_TURN
    """What was done with that version."""
    usual_model: str = ""
    """A model that it asks for by itself; none: it must be told."""
    catalogue: ModelCatalogue | None = None
    """How it is told about models that it does not know."""
    hint: str = ""
    """What a user must do by hand when only the environment is set."""

    @property
    def needs_model(self) -> bool:
        """Whether it has no model of its own choice."""
        return not self.usual_model

    @property
    def install(self) -> str:
        """The command that installs it."""
        how = "npm install -g" if self.registry == "npm" else "pipx install"
        return f"{how} {self.package}"

    @property
    def command(self) -> str:
        """The name of its program."""
        return self.program or self.name


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
        '-c=model_catalog_json="$catalogue"',
    ),
)

_CODEX_MODELS: Final = ModelCatalogue(
    command=("debug", "models"),
    file="codex-models.json",
    list_key="models",
    name_key="slug",
    # Later ones ask in a form of their own, with most tools inside one (`use_responses_lite`).
    like=("gpt-5.5",),
    changes={
        "display_name": "$model",
        "description": "through toolglot",
        "priority": 0,
        "visibility": "list",
        "upgrade": None,
        "availability_nux": None,
        "service_tiers": [],
        "additional_speed_tiers": [],
    },
)
"""Without it, Codex warns that it has no metadata of the model, and asks with other tools."""

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


def _copilot(kind: str, base: str, api: str = "completions") -> ClientSetup:
    """Variables as `copilot help providers` explains them."""
    return ClientSetup(
        environment={
            "COPILOT_PROVIDER_BASE_URL": base,
            "COPILOT_PROVIDER_TYPE": kind,
            "COPILOT_PROVIDER_WIRE_API": api,
            "COPILOT_PROVIDER_API_KEY": "$key",
            "COPILOT_MODEL": "$model",
        }
    )


def _cline() -> ClientSetup:
    settings = {
        "provider": "openai-compatible",
        "apiKey": "$key",
        "model": "$model",
        "baseUrl": "$url/v1",
    }
    providers = {
        "version": 1,
        "lastUsedProvider": "openai-compatible",
        "modes": {},
        "providers": {
            "openai-compatible": {
                "settings": settings,
                "updatedAt": "2026-01-01T00:00:00.000Z",
                "tokenSource": "manual",
            }
        },
    }
    return ClientSetup(
        environment={},
        arguments=("--data-dir", "$folder/cline"),
        files={"cline/settings/providers.json": File(providers)},
    )


def _continue(provider: str, base: str) -> ClientSetup:
    model = {
        "name": "$model",
        "provider": provider,
        "model": "$model",
        "apiKey": "$key",
        "apiBase": base,
        "roles": ["chat", "edit", "apply"],
        "capabilities": ["tool_use", "image_input"],
    }
    config = {"name": "toolglot", "version": "1.0.0", "schema": "v1", "models": [model]}
    return ClientSetup(
        environment={},
        arguments=("--config=$folder/continue.yaml",),
        files={"continue.yaml": File(config)},
    )


def _pi(api: str, base: str) -> ClientSetup:
    model = {
        "id": "$model",
        "name": "$model",
        "reasoning": True,
        "input": ["text", "image"],
        "contextWindow": 200_000,
        "maxTokens": 32_000,
    }
    provider = {"baseUrl": base, "api": api, "apiKey": "$key", "models": [model]}
    own = ".pi/agent/models.json", ".pi/agent/settings.json"
    return ClientSetup(
        environment={"PI_CODING_AGENT_DIR": "$folder/pi"},
        arguments=("--model", "toolglot/$model"),
        files={
            "pi/models.json": File({"providers": {"toolglot": provider}}, over=own[0]),
            "pi/settings.json": File({}, over=own[1]),
        },
    )


def _droid(provider: str, base: str) -> ClientSetup:
    model = {
        "model": "$model",
        "id": "custom:toolglot",
        "displayName": "$model",
        "baseUrl": base,
        "apiKey": "$key",
        "provider": provider,
        "maxOutputTokens": 32_000,
    }
    settings = {
        "model": "custom:toolglot",
        "sessionDefaultSettings": {"model": "custom:toolglot"},
        "customModels": [model],
    }
    return ClientSetup(
        environment={},
        arguments=("--settings=$folder/droid.json",),
        files={"droid.json": File(settings)},
    )


_LLM: Final = ClientSetup(
    environment={"LLM_USER_PATH": "$folder/llm"},
    files={
        "llm/extra-openai-models.yaml": File(
            [
                {
                    "model_id": "$model",
                    "model_name": "$model",
                    "api_base": "$url/v1",
                    "api_key_name": "toolglot",
                    "supports_tools": True,
                    "supports_schema": True,
                    "vision": True,
                }
            ]
        ),
        "llm/keys.json": File({"toolglot": "$key"}),
        "llm/default_model.txt": File("$model"),
    },
)

_AIDER: Final = ClientSetup(
    environment={
        "AIDER_OPENAI_API_BASE": "$url/v1",
        "AIDER_OPENAI_API_KEY": "$key",
        "AIDER_MODEL": "openai/$model",
        "AIDER_SHOW_MODEL_WARNINGS": "false",
    }
)


_ROWS: Final = (
    AgentClient(
        name="claude",
        title="Claude Code",
        package="@anthropic-ai/claude-code",
        version="2.1.197",
        tried=_TRIALS,
        setups={"anthropic": _CLAUDE},
        usual_model="claude-sonnet-5",
    ),
    AgentClient(
        name="codex",
        title="Codex CLI",
        package="@openai/codex",
        version="0.166.0",
        tried=_TRIALS,
        setups={"openai-responses": _CODEX},
        usual_model="gpt-5.5",
        catalogue=_CODEX_MODELS,
    ),
    AgentClient(
        name="gemini",
        title="Gemini CLI",
        package="@google/gemini-cli",
        version="0.61.0",
        tried=_TRIALS,
        setups={"gemini": _GEMINI},
        usual_model="gemini-3-pro-preview",
        hint="Gemini CLI must be set to use an API key: choose it once with /auth.",
    ),
    AgentClient(
        name="opencode",
        title="opencode",
        package="opencode-ai",
        version="1.18.33",
        tried=_TRIALS,
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
        tried=_TRIALS,
        setups={
            "anthropic": _qwen("anthropic", "ANTHROPIC", "ANTHROPIC_BASE_URL", "$url"),
            "gemini": _qwen("gemini", "GEMINI", "GOOGLE_GEMINI_BASE_URL", "$url"),
            "openai-chat": _qwen("openai", "OPENAI", "OPENAI_BASE_URL", "$url/v1"),
        },
    ),
    AgentClient(
        name="copilot",
        title="GitHub Copilot CLI",
        package="@github/copilot",
        version="1.0.102",
        setups={
            "anthropic": _copilot("anthropic", "$url"),
            "openai-responses": _copilot("openai", "$url/v1", "responses"),
            "openai-chat": _copilot("openai", "$url/v1"),
        },
    ),
    AgentClient(
        name="cline",
        title="Cline CLI",
        package="cline",
        version="3.0.65",
        tried=_ANSWER,
        setups={"openai-chat": _cline()},
    ),
    AgentClient(
        name="continue",
        title="Continue CLI",
        package="@continuedev/cli",
        program="cn",
        version="1.5.47",
        setups={
            "anthropic": _continue("anthropic", "$url/v1/"),
            "openai-chat": _continue("openai", "$url/v1"),
        },
    ),
    AgentClient(
        name="pi",
        title="pi",
        package="@earendil-works/pi-coding-agent",
        version="1.5.0",
        setups={
            "anthropic": _pi("anthropic-messages", "$url"),
            "openai-responses": _pi("openai-responses", "$url/v1"),
            "openai-chat": _pi("openai-completions", "$url/v1"),
            "gemini": _pi("google-generative-ai", "$url/v1beta"),
        },
    ),
    AgentClient(
        name="droid",
        title="Factory Droid",
        package="droid",
        version="0.215.0",
        setups={
            "anthropic": _droid("anthropic", "$url"),
            "openai-responses": _droid("openai", "$url/v1"),
        },
        hint="Droid wants an account or FACTORY_API_KEY; its models are set in a file.",
    ),
    AgentClient(
        name="llm",
        title="llm",
        package="llm",
        registry="pip",
        version="0.36",
        setups={"openai-chat": _LLM},
    ),
    AgentClient(
        name="aider",
        title="Aider",
        package="aider-chat",
        registry="pip",
        version="0.86.2",
        tried=_ANSWER,
        setups={"openai-chat": _AIDER},
    ),
)

CLIENTS: Final[Mapping[str, AgentClient]] = {row.name: row for row in _ROWS}


def launch(
    client: AgentClient,
    protocol: str,
    *,
    url: str,
    key: str,
    model: str | None,
    folder: str | None,
    catalogue: str | None = None,
) -> Launch:
    """The row of a client, filled in; without a folder also without what needs one."""
    setup = client.setups[protocol]
    place = {"folder": folder, "catalogue": catalogue}
    values = {"url": url.rstrip("/"), "key": key, "model": model, **place}
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
            if not isinstance(file.content, str) or complete(file.content)
        },
    )


def _complete(value: Any, complete: Callable[[str], bool]) -> Any:
    """A value without the entries that need what is not given."""
    if isinstance(value, list):
        return [_complete(each, complete) for each in value]
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
    if isinstance(file.content, str):
        return file.content.encode()
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
