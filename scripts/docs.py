"""Regenerate the marked blocks of README.md and docs/*.md from the code.

A block is what stands between these two lines, where NAME is a key of BLOCKS:

    <!-- generated: NAME -->
    <!-- end -->

Without arguments the files are rewritten. With --check nothing is written, and the exit code is 1
when a block is stale.
"""

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import get_type_hints

from toolglot import cli
from toolglot import profiles as profile_book
from toolglot import providers as provider_rules
from toolglot import surface as surface_facts
from toolglot.calls import PROVIDERS
from toolglot.cli.clients import CLIENTS
from toolglot.context import Options, ProviderOptions
from toolglot.dialects.table import DIALECTS
from toolglot.gateway.telemetry.metrics import Metrics
from toolglot.matrix import pairs
from toolglot.mending import rows as refusal_rows
from toolglot.providers.facts import facts as rule_fact_types
from toolglot.receipt import CATALOGUE

ROOT = Path(__file__).resolve().parent.parent


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def note_codes() -> str:
    """Return the catalogue of notes, in its own order."""
    rows = ((f"`{name}`", code.severity, code.meaning) for name, code in CATALOGUE.items())
    return table(("Code", "Severity", "Meaning"), rows)


def matrix() -> str:
    """Return what each pair of protocols cannot say."""
    rows = ((a, b, ", ".join(lost) or "nothing") for a, b, lost in pairs() if a != b)
    return table(("From", "To", "What the target cannot say"), rows)


def metrics() -> str:
    """Return the metrics of the gateway."""
    rows = (
        (
            f"`{metric.name}`",
            metric.kind,
            ", ".join(f"`{label}`" for label in metric.labels) or "-",
            metric.meaning,
        )
        for metric in Metrics().registry.metrics
    )
    return table(("Metric", "Kind", "Labels", "Meaning"), rows)


def options() -> str:
    """Return the options of a translation, with what their source says of them."""
    source = inspect.getsource(Options) + inspect.getsource(ProviderOptions)
    found = re.findall(r'^    (\w+): [^\n]+ = ([^\n]+)\n    """([\s\S]+?)"""', source, re.MULTILINE)
    rows = ((f"`{name}`", f"`{value}`", " ".join(text.split())) for name, value, text in found)
    return table(("Option", "Default", "Meaning"), rows)


def providers() -> str:
    """Return the names that stand for a protocol."""
    rows = ((f"`{name}`", f"`{protocol}`") for name, protocol in PROVIDERS.items())
    return table(("Name", "Protocol"), rows)


def profiles() -> str:
    """Return what is known about providers; a question mark is unknown."""
    yes = {True: "yes", False: "no", None: "?"}
    rows = (
        (
            f"`{each.name}`",
            ", ".join(each.protocols),
            yes[each.tools.parallel],
            yes[each.tools.strict],
            each.tools.streaming or "?",
            str(each.tools.max_tools or "?"),
            each.tools.ids,
            each.reasoning.field if each.reasoning else "?",
            ", ".join(f"`{quirk.word}`" for quirk in each.quirks),
        )
        for each in profile_book.profiles()
    )
    head = ("Name", "Protocols", "Many calls", "Strict", "Stream", "Tools", "Ids", "Reasoning")
    return table((*head, "Quirks"), rows)


def rule_books() -> str:
    """Return how many rules each provider's book has, and what they are about."""
    rows = []
    for name in provider_rules.book_names():
        book = provider_rules.load_book(name)
        about = dict.fromkeys(fact for rule in book.rules for fact in (*rule.set, *rule.add))
        like = f"as `{book.like}`, and " if book.like else ""
        title = "unknown servers" if name == provider_rules.UNKNOWN else f"`{name}`"
        spoken = ", ".join(book.speaks)
        facts = like + ", ".join(f"`{fact}`" for fact in about)
        rows.append((title, spoken, str(len(book.rules)), facts))
    return table(("Provider", "Asked in, the best first", "Rules", "Facts that they change"), rows)


def refusals() -> str:
    """Return the refusals that are understood, and what is learned from them."""
    rows = []
    for row in refusal_rows():
        facts = [f"`{name}`" for name in (*row.set, *row.add)]
        facts += ["members left out"] if row.drop else []
        facts += [f"`{key} = {value}`" for key, value in row.options.items()]
        facts += [f"repair `{name}`" for name in row.repairs]
        rows.append((f"`{row.id}`", ", ".join(row.seen), ", ".join(facts)))
    return table(("Refusal", "Seen at", "What is learned"), rows)


def rule_facts() -> str:
    """Return the facts that a rule or a configuration may change."""
    rows = []
    for name in rule_fact_types():
        group, _, last = name.rpartition(".")
        holder = surface_facts.Surface
        if group:
            holder = get_type_hints(holder)[group]
        source = inspect.getsource(holder)
        found = re.search(rf'^    {last}: [^\n]+\n    """([\s\S]+?)"""', source, re.MULTILINE)
        rows.append((f"`{name}`", " ".join(found[1].split()) if found else ""))
    return table(("Fact", "Meaning"), rows)


def families() -> str:
    """Return what is known about model families."""
    rows = (
        (
            each.name,
            ", ".join(f"`{pattern}`" for pattern in each.match),
            each.reasoning or "",
            " ".join(each.efforts),
            each.dialect or "",
            str(each.max_output or ""),
            " ".join((*each.thought_signatures * ("Calls keep their signatures.",), *each.notes)),
        )
        for each in profile_book.families()
    )
    head = ("Family", "Models", "Reasoning", "Efforts", "Dialect", "Output limit", "Notes")
    return table(head, rows)


def dialects() -> str:
    """Return the dialects and who writes them."""
    rows = ((f"`{row.name}`", row.models.replace("|", "\\|")) for row in DIALECTS.values())
    return table(("Dialect", "Written by"), rows)


def clients() -> str:
    """Return the clients that can be run through the gateway."""
    rows = (
        (each.title, f"`{each.name}`", f"`{each.package}`", each.version, ", ".join(each.setups))
        for each in CLIENTS.values()
    )
    return table(("Client", "Name", "Package", "Measured", "Protocols, the usual one first"), rows)


def cli_help() -> str:
    """Return the help of every command."""
    return "\n\n".join(f"## {name}\n\n```\n{text.strip()}\n```" for name, text in cli.help_texts())


# The name in the marker, and the function that writes the Markdown between the markers.
BLOCKS: dict[str, Callable[[], str]] = {
    "cli-help": cli_help,
    "clients": clients,
    "dialects": dialects,
    "families": families,
    "matrix": matrix,
    "metrics": metrics,
    "note-codes": note_codes,
    "options": options,
    "profiles": profiles,
    "providers": providers,
    "refusals": refusals,
    "rule-books": rule_books,
    "rule-facts": rule_facts,
}

_BLOCK = re.compile(
    r"^(?P<start><!-- generated: (?P<name>[\w-]+) -->\n)(?P<body>.*?)(?P<end>^<!-- end -->$)",
    re.DOTALL | re.MULTILINE,
)
_START = re.compile(r"^<!-- generated: ", re.MULTILINE)


class BlockError(Exception):
    """A marker that names no block, or a block without its end."""


def render(text: str) -> str:
    """Return the text with every marked block made anew."""

    def replace(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in BLOCKS:
            raise BlockError(f"no block is called {name!r}; known: {', '.join(BLOCKS) or 'none'}")
        if _START.search(match["body"]):
            raise BlockError(f"block {name!r} has no end")
        return f"{match['start']}\n{BLOCKS[name]().strip()}\n\n{match['end']}"

    rendered, count = _BLOCK.subn(replace, text)
    if count != len(_START.findall(text)):
        raise BlockError("a generated block is malformed or has no end")
    return rendered


def documents() -> Iterator[Path]:
    """Yield the files that may hold blocks."""
    readme = ROOT / "README.md"
    if readme.exists():
        yield readme
    yield from sorted((ROOT / "docs").glob("*.md"))


def main() -> int:
    """Rewrite or check every document; return the exit code."""
    parser = argparse.ArgumentParser(description="Regenerate the marked blocks in the docs.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail if stale")
    check: bool = parser.parse_args().check
    failed = False
    for path in documents():
        name = path.relative_to(ROOT)
        text = path.read_text(encoding="utf-8")
        try:
            rendered = render(text)
        except BlockError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
            continue
        if rendered == text:
            continue
        if check:
            print(f"{name} is stale: run make docs", file=sys.stderr)
            failed = True
        else:
            path.write_text(rendered, encoding="utf-8")
            print(f"{name} regenerated")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
