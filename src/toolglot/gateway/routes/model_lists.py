"""Lists of models, in the shape that whoever asks can read.

Four protocols ask on the same path; `protocol_of` tells them apart. Shapes were read in the types
of openai 3.49.0, anthropic 2.8.0, google-genai 3.1.0 and ollama 0.6.3, the one for Codex by leaving
out fields until Codex 0.166.0 complained (2026-11-15).
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from toolglot.gateway.config import DEMO
from toolglot.gateway.http.client import Client
from toolglot.gateway.relay.providers import Upstream
from toolglot.gateway.relay.routing import Router
from toolglot.ir import Json
from toolglot.profiles import family_of
from toolglot.registry import get_protocol

DEMO_MODEL: Final = "toolglot-demo"
_LASTING: Final = 300.0
"""Seconds for which a provider's list is taken as it was."""
_AGAIN: Final = 5.0
"""Seconds for which a provider that gave none is not asked again."""
_EPOCH: Final = "2026-01-01T00:00:00Z"
_WINDOW: Final = 200_000
_OUTPUT: Final = 32_000


class Catalogue:
    """The models that can be asked for."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lists: dict[tuple[str, str], tuple[float, tuple[str, ...]]] = {}
        """By a provider's name and address, which may change while we run."""

    async def names(self, router: Router) -> tuple[str, ...]:
        """All of them; a provider that cannot be asked is left out."""
        names = list(router.names)
        async with asyncio.TaskGroup() as tasks:
            lists = {
                name: tasks.create_task(self._listed(upstream))
                for name, upstream in router.upstreams.items()
            }
        for upstream in router.upstreams.values():
            for model in lists[upstream.name].result():
                targets = router.targets(model)
                plain = targets and (targets[0].name, targets[0].model) == (upstream.name, model)
                names.append(model if plain else f"{upstream.name}/{model}")
        if not router.upstreams:
            names.append(DEMO_MODEL)
        return tuple(dict.fromkeys(names)) or (f"{DEMO}/{DEMO_MODEL}",)

    async def _listed(self, upstream: Upstream) -> tuple[str, ...]:
        if upstream.config.models:
            return upstream.config.models
        protocol, address = upstream.endpoints[0].protocol, upstream.endpoints[0].base_url
        until, models = self._lists.get((upstream.name, address), (0.0, ()))
        if time.monotonic() < until:
            return models
        path = get_protocol(protocol).SURFACE.models
        answer = await self._client.fetch(upstream.small_request(protocol, path))
        models = tuple(listed(answer))
        lasting = _LASTING if models else _AGAIN
        self._lists[upstream.name, address] = (time.monotonic() + lasting, models)
        return models


def listed(answer: Any) -> list[str]:
    """The names in a list of models of any of the shapes."""
    entries = answer.get("data") or answer.get("models") if isinstance(answer, dict) else None
    found = []
    for entry in entries if isinstance(entries, list) else ():
        name = (entry.get("id") or entry.get("name")) if isinstance(entry, dict) else None
        if isinstance(name, str):
            found.append(name.removeprefix("models/"))
    return found


# --- shapes ---------------------------------------------------------------------------------------


def openai_model(name: str) -> Json:
    """One model, as OpenAI says it."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "toolglot"}


def anthropic_model(name: str) -> Json:
    """One model, as Anthropic says it."""
    return {"type": "model", "id": name, "display_name": name, "created_at": _EPOCH}


def gemini_model(name: str) -> Json:
    """One model, as Google says it."""
    return {
        "name": f"models/{name}",
        "displayName": name,
        "inputTokenLimit": _WINDOW,
        "outputTokenLimit": _OUTPUT,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    }


def codex_model(name: str) -> Json:
    """One model, as Codex wants it: what is left out makes it use plain function tools."""
    family = family_of(name)
    efforts = family.efforts if family and family.efforts else ("low", "medium", "high")
    return {
        "slug": name,
        "display_name": name,
        "description": name,
        "default_reasoning_level": "medium" if "medium" in efforts else efforts[0],
        "supported_reasoning_levels": [
            {"effort": effort, "description": f"{effort} effort"} for effort in efforts
        ],
        "shell_type": "unified_exec",
        "visibility": "list",
        "supported_in_api": True,
        "priority": 1,
        "base_instructions": "",
        "support_verbosity": False,
        "supports_parallel_tool_calls": True,
        "truncation_policy": {"mode": "tokens", "limit": 10_000},
        "experimental_supported_tools": [],
        "input_modalities": ["text", "image"],
        "context_window": _WINDOW,
    }


def ollama_model(name: str) -> Json:
    """One model, as Ollama says it."""
    return {
        "name": name,
        "model": name,
        "modified_at": _EPOCH,
        "size": 0,
        "digest": "",
        "details": _OLLAMA_DETAILS,
    }


_OLLAMA_DETAILS: Final[Json] = {
    "parent_model": "",
    "format": "remote",
    "family": "toolglot",
    "families": ["toolglot"],
    "parameter_size": "",
    "quantization_level": "",
}


def ollama_show() -> Json:
    """What Ollama tells of one model."""
    return {
        "modelfile": "",
        "parameters": "",
        "template": "",
        "details": _OLLAMA_DETAILS,
        "model_info": {"general.architecture": "toolglot", "toolglot.context_length": _WINDOW},
        "capabilities": ["completion", "tools", "thinking", "vision"],
        "modified_at": _EPOCH,
    }


def _openai_list(names: tuple[str, ...]) -> Json:
    return {"object": "list", "data": [openai_model(name) for name in names]}


def _anthropic_list(names: tuple[str, ...]) -> Json:
    return {
        "data": [anthropic_model(name) for name in names],
        "has_more": False,
        "first_id": names[0],
        "last_id": names[-1],
    }


SHAPES: Final[Mapping[str, tuple[Callable[[tuple[str, ...]], Json], Callable[[str], Json]]]] = {
    "openai-chat": (_openai_list, openai_model),
    "openai-responses": (_openai_list, openai_model),
    "anthropic": (_anthropic_list, anthropic_model),
    "gemini": (lambda names: {"models": [gemini_model(name) for name in names]}, gemini_model),
    "ollama": (lambda names: {"models": [ollama_model(name) for name in names]}, ollama_model),
    "codex": (lambda names: {"models": [codex_model(name) for name in names]}, codex_model),
}
"""For each way of asking: a list, and one model of it."""
