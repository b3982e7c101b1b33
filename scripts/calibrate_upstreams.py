"""How well the strict test upstreams agree with recorded traffic.

    python scripts/calibrate_upstreams.py RECORDINGS [--show RULE]

RECORDINGS is a JSONL file, which may be packed with xz: one object a line with `kind`, `protocol`,
`source`, `body`, and for requests `host`, `path` and `accepted`. What a provider accepted should
pass, and what it refused should be refused, unless the reason is not in the request.
"""

import argparse
import json
import lzma
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.upstreams.strict.check import check

_HOSTS = (
    ("api.openai.com", "openai"),
    ("openai.azure.com", "azure"),
    ("services.ai.azure.com", "azure-foundry"),
    ("anthropic", "anthropic"),
    ("aiplatform.googleapis.com", "vertex"),
    ("generativelanguage", "google"),
    ("api.deepseek.com", "deepseek"),
    ("api.groq.com", "groq"),
    ("api.mistral.ai", "mistral"),
    ("api.x.ai", "xai"),
    ("api.z.ai", "zai"),
    ("openrouter.ai", "openrouter"),
    ("api.together", "together"),
    ("api.cerebras.ai", "cerebras"),
    ("ollama.com", "ollama"),
)
_FOLDERS = {
    "openai": "openai", "deepseek": "deepseek", "mistral": "mistral", "llamacpp": "llama.cpp",
    "openrouter": "openrouter", "xai": "xai", "groq": "groq", "ollama": "ollama",
    "anthropic": "anthropic", "gemini": "google", "together": "together", "moonshot": "moonshot",
    "minimax": "minimax", "zai": "zai", "cerebras": "cerebras",
}  # fmt: skip
"""Folders of recordings that name their provider where the host is left out."""
_ELSEWHERE = re.compile(
    r"(?i)api.?key|auth|not exist|not found|no such|rate.?limit|quota|context length|"
    r"context window|context_length|too long|credits|downloading|unsupported image|"
    r"deprecated, learn|location is not|access denied|did not call a tool|"
    r"failed to call a function|permission"
)
"""Reasons that are not in the form of a request: keys, names of models, size, load, pictures."""


def provider_of(item: dict[str, Any]) -> str | None:
    """Who was asked; None if the recording does not say."""
    host = item.get("host") or ""
    for part, name in _HOSTS:
        if part in host:
            return name
    if host in ("x", "", "localhost", "127.0.0.1"):
        found = re.search(r"cassettes/([a-z]+)/", item["source"])
        if found and found[1] in _FOLDERS and "openai_compatible" not in item["source"]:
            return _FOLDERS[found[1]]
        if item["protocol"] == "ollama":
            return "ollama"
    if host == "llama-stack" and re.match(r"gpt-\d", str(item["body"].get("model"))):
        return "openai" if item.get("path", "").startswith("/v1") else None
    return None


def model_of(item: dict[str, Any]) -> str:
    """The model, from the body or from the path."""
    found = re.search(r"models/([^:/]+):", item.get("path") or "")
    return found[1] if found else str(item["body"].get("model") or "")


def unredacted(item: dict[str, Any], provider: str) -> dict[str, Any]:
    """The body with ids in the place of those that somebody took out of the recording."""
    if provider != "mistral":
        return item["body"]
    text = re.sub(
        r"call_REDACTED_(\d+)", lambda found: f"r{found[1]:0>8}", json.dumps(item["body"])
    )
    return json.loads(text)


def read(file: Path) -> Iterator[dict[str, Any]]:
    """The items of a file."""
    with lzma.open(file, "rt") if file.suffix == ".xz" else file.open() as lines:
        for line in lines:
            yield json.loads(line)


@dataclass
class Tally:
    """What was counted."""

    errors: dict[str, str]
    show: str | None
    passed: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    items: Counter[tuple[str, str]] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    unknown: int = 0

    def add(self, item: dict[str, Any]) -> None:
        """Count a request."""
        provider, model = provider_of(item), model_of(item)
        if provider is None:
            self.unknown += 1
            return
        found = check(provider, item["protocol"], model, unredacted(item, provider))
        rules = {each.rule: each.words for each in found}
        if item["accepted"]:
            key = (item["protocol"], provider)
            self.items[key] += 1
            self.passed[key] += not found
            self.wrong[key].update(rules.keys())
            if self.show in rules:
                print(item["id"], model, item["source"][-60:], rules[self.show][:160])
            return
        said = self.errors.get(item["id"], "")
        if found:
            self.refused["refused"] += 1
        elif _ELSEWHERE.search(said or item["source"]):
            self.refused["for reasons outside of the request"] += 1
        else:
            self.refused["taken"] += 1
            self.missed.append(f"{provider} {model} {item['source'][-80:]} {said[:160]}")

    def report(self) -> Iterator[str]:
        """A table, and what is not as recorded."""
        yield "| protocol | provider | accepted | taken | refused wrongly, by rule |"
        yield "| --- | --- | --- | --- | --- |"
        for key in sorted(self.items):
            said = ", ".join(f"{rule} {count}" for rule, count in self.wrong[key].most_common())
            yield f"| {key[0]} | {key[1]} | {self.items[key]} | {self.passed[key]} | {said} |"
        yield ""
        total, taken = sum(self.items.values()), sum(self.passed.values())
        yield f"{taken} of {total} accepted requests are taken; {self.unknown} name no provider."
        counted = ", ".join(f"{count} {word}" for word, count in self.refused.items())
        yield f"Of {sum(self.refused.values())} recorded refusals: {counted}."
        yield from (f"taken: {each}" for each in self.missed)


def main() -> None:
    """Print how well they agree."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("recordings", type=Path)
    parser.add_argument("--show", metavar="RULE", help="the requests that it refuses wrongly")
    args = parser.parse_args()
    errors: dict[str, str] = {}
    requests: list[dict[str, Any]] = []
    for item in read(args.recordings):
        if item["kind"] == "error":
            errors[item.get("request")] = json.dumps(item["body"])
        elif item["kind"] == "request" and isinstance(item["body"], dict):
            requests.append(item)
    tally = Tally(errors, args.show)
    for number, item in enumerate(requests, 1):
        tally.add(item)
        if number % 500 == 0:
            print(f"\r{number} of {len(requests)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    print(*tally.report(), sep="\n")


if __name__ == "__main__":
    main()
