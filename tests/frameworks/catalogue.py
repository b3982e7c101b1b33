"""Frameworks that run through the gateway: what to install, and which protocols each speaks."""

from dataclasses import dataclass

CHAT, RESPONSES, ANTHROPIC, GEMINI, OLLAMA = (
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "ollama",
)
LOOPS = ("one", "parallel", "rounds", "failing", "reason")
ALL = (*LOOPS, "schema", "image")


@dataclass(frozen=True)
class Framework:
    """One framework: its driver is `drivers/drive_NAME.py` or `.mjs`."""

    name: str
    language: str
    requirements: tuple[str, ...]
    protocols: tuple[str, ...]
    scenarios: tuple[str, ...] = ALL
    streams: tuple[bool, ...] = (False, True)
    in_every_build: bool = False


FRAMEWORKS = {
    each.name: each
    for each in (
        Framework(
            "pydantic_ai",
            "python",
            ("pydantic-ai-slim[openai,anthropic,google]>=2,<3",),
            (CHAT, RESPONSES, ANTHROPIC, GEMINI),
            in_every_build=True,
        ),
        Framework(
            "openai_agents",
            "python",
            ("openai-agents>=0.20,<1",),
            (CHAT, RESPONSES),
            in_every_build=True,
        ),
        Framework(
            "litellm",
            "python",
            ("litellm>=1.100,<2", "mcp>=2,<3"),
            (CHAT, RESPONSES, ANTHROPIC, GEMINI, OLLAMA),
            in_every_build=True,
        ),
        Framework(
            "langchain",
            "python",
            (
                "langchain>=1,<2",
                "langgraph>=1,<2",
                "langchain-openai>=1,<2",
                "langchain-anthropic>=1,<2",
                "langchain-google-genai>=4,<5",
                "langchain-ollama>=1,<2",
            ),
            (CHAT, RESPONSES, ANTHROPIC, GEMINI, OLLAMA),
        ),
        Framework(
            "instructor",
            "python",
            ("instructor[anthropic,google-genai]>=1.10,<2",),
            (CHAT, ANTHROPIC, GEMINI),
            ("schema",),
            (False,),
        ),
        Framework(
            "agno",
            "python",
            ("agno>=3,<4", "openai>=3,<4", "anthropic>=2,<3", "google-genai>=3,<4", "ollama<1"),
            (CHAT, RESPONSES, ANTHROPIC, GEMINI, OLLAMA),
        ),
        Framework(
            "llama_index",
            "python",
            (
                "llama-index-core>=0.14,<0.15",
                "llama-index-llms-openai>=0.8,<0.9",
                "llama-index-llms-google-genai>=0.11,<0.12",
                "llama-index-llms-ollama>=0.11,<0.12",
            ),
            # Its package for Anthropic 0.12 fails with the SDK that it asks for.
            (CHAT, RESPONSES, GEMINI, OLLAMA),
            (*LOOPS, "image"),
        ),
        Framework(
            "strands",
            "python",
            ("strands-agents[openai,anthropic,gemini,ollama]>=1,<2",),
            (CHAT, ANTHROPIC, GEMINI, OLLAMA),
            LOOPS,
            (True,),
        ),
        Framework(
            "haystack",
            "python",
            (
                "haystack-ai>=3,<4",
                "anthropic-haystack>=8,<9",
                "google-genai-haystack>=7,<8",
                "ollama-haystack>=7,<8",
            ),
            (CHAT, RESPONSES, ANTHROPIC, GEMINI, OLLAMA),
            LOOPS,
        ),
        Framework(
            "autogen",
            "python",
            ("autogen-agentchat>=0.7,<1", "autogen-ext[openai,ollama]>=0.7,<1"),
            # Its client of Anthropic fails with the SDK that it asks for.
            (CHAT, OLLAMA),
            LOOPS,
        ),
        Framework(
            "agent_framework",
            "python",
            ("agent-framework-core>=1,<2", "agent-framework-openai>=1,<2"),
            (CHAT, RESPONSES),
            LOOPS,
        ),
        Framework(
            "google_adk",
            "python",
            ("google-adk>=1.18,<3", "litellm>=1.100,<2", "mcp>=2,<3"),
            (GEMINI, CHAT, ANTHROPIC, OLLAMA),
            LOOPS,
        ),
        Framework(
            "vercel_ai",
            "node",
            ("ai@^6", "@ai-sdk/openai@^3", "@ai-sdk/anthropic@^3", "@ai-sdk/google@^3", "zod@^4"),
            (CHAT, RESPONSES, ANTHROPIC, GEMINI),
            in_every_build=True,
        ),
        Framework(
            "vercel_ai_5",
            "node",
            ("ai@^5", "@ai-sdk/openai@^2", "@ai-sdk/anthropic@^2", "@ai-sdk/google@^2", "zod@^4"),
            (CHAT, RESPONSES, ANTHROPIC, GEMINI),
        ),
        Framework(
            "mastra",
            "node",
            (
                "@mastra/core@^0.24",
                "@ai-sdk/openai@^2",
                "@ai-sdk/anthropic@^2",
                "@ai-sdk/google@^2",
                "zod@^4",
            ),
            (CHAT, RESPONSES, ANTHROPIC, GEMINI),
            LOOPS,
        ),
        Framework(
            "langchainjs",
            "node",
            (
                "langchain@^1",
                "@langchain/core@^1",
                "@langchain/openai@^1",
                "@langchain/anthropic@^1",
                "@langchain/ollama@^1",
                "zod@^4",
            ),
            (CHAT, RESPONSES, ANTHROPIC, OLLAMA),
            LOOPS,
        ),
        Framework(
            "node_sdks",
            "node",
            ("openai@^6", "@anthropic-ai/sdk@^1", "@google/genai@^2", "ollama@^0.6"),
            (CHAT, RESPONSES, ANTHROPIC, GEMINI, OLLAMA),
            LOOPS,
        ),
    )
}

_SPLIT = "results of parallel calls are returned one by one"
_RANDOM = "parallel calls of a stream are returned in random order"
_HELPERS = "returns members that its own helper for streams added"
_ONE_CALL = "parallel calls of an Ollama stream become one"
KNOWN: dict[tuple[str, ...], str] = {
    ("litellm", "ollama", "parallel/stream"): _ONE_CALL,
    ("litellm", "ollama", "rounds/stream"): _ONE_CALL,
    ("haystack", "gemini", "parallel"): _SPLIT,
    ("haystack", "gemini", "rounds"): _SPLIT,
    ("haystack", "openai-responses", "parallel/stream"): _RANDOM,
    ("haystack", "openai-responses", "rounds/stream"): _RANDOM,
}
"""What fails without the gateway as well, by framework, protocol and scenario: why.

With `/stream` or `/whole` behind the scenario, only one of the two.
"""
KNOWN_NATIVE: dict[tuple[str, str, str], str] = {
    ("node_sdks", "openai-chat", "stream"): _HELPERS,
    ("node_sdks", "openai-responses", "stream"): _HELPERS,
    ("litellm", "openai-chat", "whole"): "returns members of its own, which the upstream refuses",
}
"""The same with an upstream of the framework's own protocol, where requests pass as they are."""
_MERGED = "several turns of the model come back as one, and only the state of the first is found"
_TWICE = "a call after reasoning comes back twice"
UNSOLVED: dict[tuple[str, ...], str] = {
    ("mastra", "anthropic", "reason"): _MERGED,
    ("mastra", "openai-chat", "reason"): _MERGED,
    ("mastra", "gemini", "one/stream"): _TWICE,
    ("mastra", "gemini", "rounds/stream"): _TWICE,
    ("mastra", "gemini", "reason/stream"): _TWICE,
}
"""What works without the gateway, and not yet through it with every upstream: it counts as not ok,
but does not stop a build.
"""
