"""Links of the documentation to files outside docs/, for the site.

On a page in the repository `../CONTRIBUTING.md` is right; the site has no such page, so there it is
the name of a file. mkdocs calls this as a hook (mkdocs.yml).
"""

import re

_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?:[\w./-]+)?(?:#[\w-]+)?\)")


def on_page_markdown(markdown: str, *, page: object, **_more: object) -> str:
    """A page with links that lead out of docs/ written as plain names."""
    depth = getattr(page, "file").src_uri.count("/")  # noqa: B009 - the class is mkdocs' own

    def name(found: re.Match[str]) -> str:
        steps = found[0].count("../")
        return found[1] if steps > depth else found[0]

    return _OUTSIDE.sub(name, markdown)
