"""Tools that Google runs itself: see `hosted_tools`.

Read from the types of the package `google-genai` 3.1.0.
"""

from typing import Final

from toolglot.hosted_tools import HostedTool

HOSTED_TOOLS: Final[tuple[HostedTool, ...]] = (
    HostedTool(
        purpose="web_search",
        types=("google_search",),
        wire={"type": "google_search"},
        neutral={"search_types": (["web_search"],)},
    ),
    HostedTool(
        purpose="web_fetch",
        types=("url_context",),
        wire={"type": "url_context"},
    ),
    HostedTool(
        purpose="code_execution",
        types=("code_execution",),
        wire={"type": "code_execution"},
    ),
)
