"""Tools that Google defines itself: see `hosted_tools`.

Read from the types of the package `google-genai` 3.1.0.
"""

from typing import Final

from toolglot.hosted_tools import HostedTool

HOSTED_TOOLS: Final[tuple[HostedTool, ...]] = (
    HostedTool(
        purpose="web_search",
        types=("googleSearch", "google_search", "googleSearchRetrieval"),
        wire={},
        wrapped="googleSearch",
    ),
    HostedTool(
        purpose="web_fetch",
        types=("urlContext", "url_context"),
        wire={},
        wrapped="urlContext",
    ),
    HostedTool(
        purpose="code_execution",
        types=("codeExecution", "code_execution"),
        wire={},
        wrapped="codeExecution",
    ),
)
"""Those that the provider runs."""
