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

from configuration_table import sections as configuration_sections
from provider_table import rows as provider_rows

from toolglot import cli
from toolglot import profiles as profile_book
from toolglot import providers as provider_rules
from toolglot import surface as surface_facts
from toolglot.calls import PROVIDERS
from toolglot.cli.clients import CLIENTS
from toolglot.context import Options, ProviderOptions
from toolglot.convert import FORMATS
from toolglot.dialects.table import DIALECTS
from toolglot.gateway.telemetry.metrics import Metrics
from toolglot.matrix import pairs
from toolglot.mending import rows as refusal_rows
from toolglot.providers.facts import facts as rule_fact_types
from toolglot.receipt import CATALOGUE
from toolglot.registry import PROTOCOLS
from toolglot.schema.narrow import narrow
from toolglot.schema.subsets import SUBSETS, Subset

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


_SAMPLES = {
    "`type`": {"type": "string"},
    "several types": {"type": ["string", "null"]},
    "`enum` of texts": {"type": "string", "enum": ["a"]},
    "`enum` of other values": {"enum": [1, True, "a"]},
    "`const`": {"const": "a"},
    "`anyOf`": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    "`oneOf`": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    "`allOf`": {"allOf": [{"type": "string"}, {"description": "a"}]},
    "`not`": {"type": "string", "not": {"const": "a"}},
    "`if`, `then`, `else`": {"type": "string", "if": {"minLength": 1}, "then": {"maxLength": 3}},
    "`$ref`": {"$ref": "#/$defs/plain"},
    "`$ref` into itself": {"$ref": "#/$defs/node"},
    "`minLength`, `maxLength`": {"type": "string", "minLength": 1, "maxLength": 3},
    "`pattern`": {"type": "string", "pattern": "a"},
    "`format: date-time`": {"type": "string", "format": "date-time"},
    "`format: uri`": {"type": "string", "format": "uri"},
    "`minimum`, `maximum`": {"type": "number", "minimum": 1, "maximum": 3},
    "`exclusiveMinimum` (number)": {"type": "number", "exclusiveMinimum": 1},
    "`exclusiveMinimum` (integer)": {"type": "integer", "exclusiveMinimum": 1},
    "`multipleOf`": {"type": "number", "multipleOf": 2},
    "`minItems` of 1": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    "`minItems` above 1": {"type": "array", "items": {"type": "string"}, "minItems": 2},
    "`maxItems`": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    "`uniqueItems`": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    "`contains`": {"type": "array", "items": {"type": "string"}, "contains": {"const": "a"}},
    "`prefixItems`": {"type": "array", "prefixItems": [{"type": "string"}]},
    "`required`": {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
    "`additionalProperties: false`": {"type": "object", "additionalProperties": False},
    "`additionalProperties`": {"type": "object", "additionalProperties": {"type": "string"}},
    "`patternProperties`": {"type": "object", "patternProperties": {"^a": {"type": "string"}}},
    "`propertyNames`": {"type": "object", "propertyNames": {"maxLength": 3}},
    "`minProperties`, `maxProperties`": {"type": "object", "minProperties": 1},
    "`dependentRequired`": {"type": "object", "dependentRequired": {"a": ["b"]}},
    "`default`": {"type": "string", "default": "a"},
    "`examples`": {"type": "string", "examples": ["a"]},
    "`title`, `description`": {"type": "string", "title": "a", "description": "b"},
    "`$comment`": {"type": "string", "$comment": "a"},
}


def schema_keywords() -> str:
    """Return what becomes of each keyword in each subset of JSON Schema."""
    rows = (
        (word, *(_fate(sample, subset) for subset in SUBSETS.values()))
        for word, sample in _SAMPLES.items()
    )
    return table(("Keyword", *(f"`{name}`" for name in SUBSETS)), rows)


def _fate(sample: dict[str, object], subset: Subset) -> str:
    node = {"$ref": "#/$defs/node"}
    members = {"b": {"type": "string"}, "next": {"anyOf": [node, {"type": "null"}]}}
    closed = {"additionalProperties": False}
    defs = {
        "plain": {"type": "string"},
        "node": {"type": "object", "properties": members, "required": ["b", "next"], **closed},
    }
    if subset.closed and "properties" in sample:
        sample = {**sample, **closed}
    used = {word: held for word, held in defs.items() if f"/{word}" in str(sample)}
    schema = {"type": "object", "properties": {"a": sample}, "required": ["a"]}
    if subset.closed:
        schema |= closed
    if used:
        schema["$defs"] = used
    narrowed = narrow(schema, subset)
    if narrowed is None or (subset.closed and narrowed.loosened):
        return "not strict"
    if narrowed.lossy:
        return "two levels, checked" if "$ref" in narrowed.dropped else "dropped, checked"
    if narrowed.loosened:
        return "described, checked"
    if narrowed.described:
        return "described"
    if narrowed.dropped:
        return "dropped"
    if narrowed.rewritten:
        return "rewritten, checked" if narrowed.inexact else "rewritten"
    return "kept"


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
    """Return where each provider is reached and where its key is found."""
    rows = (
        (
            f"`{each.name}`",
            each.title,
            ", ".join(each.protocols),
            ", ".join(f"`{name}`" for name in each.auth.env),
        )
        for each in profile_book.profiles()
    )
    return table(("Name", "Provider", "Protocols", "Key from"), rows)


def rule_books() -> str:
    """Return how many rules each provider's book has, and what they are about."""
    rows = []
    for name in provider_rules.book_names():
        book = provider_rules.load_book(name)
        about = dict.fromkeys(fact for rule in book.rules for fact in (*rule.set, *rule.add))
        like = f"as {', '.join(f'`{each}`' for each in book.like)}, and " if book.like else ""
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


def provider_table() -> str:
    """Return what is asked of each provider's models by each client, and which rules shaped it."""
    sections: dict[str, list[tuple[str, ...]]] = {}
    for provider, *row in provider_rows():
        sections.setdefault(provider, []).append(tuple(row))
    head = ("Model", "Clients", "Asked in", "Rules")
    return "\n\n".join(f"## {name}\n\n{table(head, rows)}" for name, rows in sections.items())


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
        (
            each.title,
            f"`{each.name}`",
            f"`{each.install}`",
            each.version,
            each.tried,
            ", ".join(each.setups),
        )
        for each in CLIENTS.values()
    )
    head = ("Client", "Name", "Install", "Version", "Tried", "Protocols, the usual one first")
    return table(head, rows)


def configuration() -> str:
    """Return all keys of the configuration, table by table."""
    head = ("Key", "Type", "Default", "Meaning")
    return "\n\n".join(
        f"## {title}\n\n{about}\n\n{table(head, rows)}"
        for title, about, rows in configuration_sections()
    )


def client_trials() -> str:
    """Return how many trials of each client went well with each provider."""
    page = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
    counts: dict[str, dict[str, list[bool]]] = {}
    providers: list[str] = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| Client"):
            providers = [cell.split()[0] for cell in cells[1:]]
        elif line.startswith("| ") and not line.startswith("| ---") and len(cells) > 1:
            client = counts.setdefault(cells[0].split()[0].strip(), {})
            for provider, cell in zip(providers, cells[1:], strict=True):
                client.setdefault(provider, []).append(cell == "ok")
    order = dict.fromkeys(name for client in counts.values() for name in client)
    rows = (
        (
            f"`{name}`",
            *(
                f"{sum(client[each])}/{len(client[each])}" if each in client else ""
                for each in order
            ),
        )
        for name, client in counts.items()
    )
    versions = re.search(r"^Versions: (.+)$", page, re.MULTILINE)
    named = f"\n\n{versions[1]}" if versions else ""
    return table(("Trials that went well", *order), rows) + named


def cli_help() -> str:
    """Return the help of every command."""
    return "\n\n".join(f"## {name}\n\n```\n{text.strip()}\n```" for name, text in cli.help_texts())


def formats() -> str:
    """Return the formats of files, and what each can say."""
    rows = []
    for each in FORMATS.values():
        surface = each.surface
        words = "words" if surface.reasoning.takes_unsigned else ""
        state = "words, state sealed" if each.seals else words
        if not words and surface.name in PROTOCOLS:
            state = "with its state"
        beside = {*each.facts, *each.turn_facts, *each.holds} - {"tools", "system"}
        pictures = "image.inline" in surface.media.accepted["user"]
        facts = (each.ids, pictures, "tools" in each.holds, "system" in each.holds)
        marks = ("yes" if fact else "" for fact in facts)
        rows.append((f"`{each.name}`", each.summary, state, *marks, ", ".join(sorted(beside))))
    heads = ("Format", "What it is", "Reasoning", "Ids", "Images", "Tools", "System text")
    return table((*heads, "Beside the messages"), rows)


# The name in the marker, and the function that writes the Markdown between the markers.
BLOCKS: dict[str, Callable[[], str]] = {
    "cli-help": cli_help,
    "client-trials": client_trials,
    "clients": clients,
    "configuration": configuration,
    "dialects": dialects,
    "families": families,
    "formats": formats,
    "matrix": matrix,
    "metrics": metrics,
    "note-codes": note_codes,
    "options": options,
    "profiles": profiles,
    "provider-table": provider_table,
    "providers": providers,
    "refusals": refusals,
    "rule-books": rule_books,
    "schema-keywords": schema_keywords,
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
