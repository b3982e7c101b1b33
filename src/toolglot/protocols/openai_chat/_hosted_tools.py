"""Tools that OpenAI defines itself: see `hosted_tools`.

Read from the types of the package `openai` 3.49.0.
"""

from typing import Final

from toolglot.hosted_tools import HostedTool

HOSTED_TOOLS: Final[tuple[HostedTool, ...]] = (
    HostedTool(
        purpose="web_search",
        types=("web_search_options",),
        wire={},
        wrapped="web_search_options",
        settings={
            "location": "user_location.approximate",
            "context_size": "search_context_size",
        },
        # Other models refuse the whole request.
        models="search",
    ),
)
"""Those that the provider runs."""
