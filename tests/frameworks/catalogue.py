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
            ("pydantic-ai-slim[openai,anthropic,google]>=1,<3",),
            (CHAT, RESPONSES, ANTHROPIC, GEMINI),
            in_every_build=True,
        ),
        Framework(
            "openai_agents",
            "python",
            ("openai-agents>=0.6,<1",),
            (CHAT, RESPONSES),
            in_every_build=True,
        ),
        Framework(
            "litellm",
            "python",
            ("litellm>=1.75,<2", "mcp"),
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
                "langchain-google-genai>=3",
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
            ("agno>=2,<3", "openai", "anthropic", "google-genai", "ollama"),
            (CHAT, RESPONSES, ANTHROPIC, GEMINI, OLLAMA),
        ),
        Framework(
            "llama_index",
            "python",
            (
                "llama-index-core",
                "llama-index-llms-openai",
                "llama-index-llms-anthropic",
                "llama-index-llms-google-genai",
                "llama-index-llms-ollama",
            ),
            (CHAT, RESPONSES, ANTHROPIC, GEMINI, OLLAMA),
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
                "haystack-ai>=2.20,<3",
                "anthropic-haystack",
                "google-genai-haystack",
                "ollama-haystack",
            ),
            (CHAT, RESPONSES, ANTHROPIC, GEMINI, OLLAMA),
            LOOPS,
        ),
        Framework(
            "autogen",
            "python",
            ("autogen-agentchat>=0.7,<1", "autogen-ext[openai,anthropic,ollama]>=0.7,<1"),
            (CHAT, ANTHROPIC, OLLAMA),
            LOOPS,
        ),
        Framework(
            "agent_framework",
            "python",
            ("agent-framework-core", "agent-framework-openai"),
            (CHAT, RESPONSES),
            LOOPS,
        ),
        Framework(
            "google_adk",
            "python",
            ("google-adk>=1.18,<3", "litellm>=1.75,<2", "mcp"),
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
                "@mastra/core",
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
            ("openai@^6", "@anthropic-ai/sdk", "@google/genai@^1", "ollama@^0.6"),
            (CHAT, RESPONSES, ANTHROPIC, GEMINI, OLLAMA),
            LOOPS,
        ),
    )
}

_ONE_CALL = "parallel calls of an Ollama stream become one"
KNOWN: dict[tuple[str, str, str], str] = {
    ("litellm", "ollama", "parallel/stream"): _ONE_CALL,
    ("litellm", "ollama", "rounds/stream"): _ONE_CALL,
    ("google_adk", "ollama", "parallel/stream"): _ONE_CALL,
    ("google_adk", "ollama", "rounds/stream"): _ONE_CALL,
}
"""What fails without the gateway as well, by framework, protocol and scenario: why.

With `/stream` or `/whole` behind the scenario, only one of the two.
"""
