"""Whether what is sent to providers is taken: recorded requests, translated for strict upstreams.

    python scripts/check_translations.py RECORDINGS [--every N] [--show RULE]

RECORDINGS is as for calibrate_upstreams.py. Each request that its provider accepted is translated
as the gateway translates it for every strict upstream of the tests, and checked there.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from scripts.calibrate_upstreams import model_of, provider_of, read, unredacted
from tests.upstreams.strict.check import check
from tests.upstreams.strict.upstreams import BY_PROTOCOL, OTHERS, sent_to

from toolglot.errors import ToolglotError


def main() -> None:
    """Print what is refused, by rule."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("recordings", type=Path)
    parser.add_argument("--every", type=int, default=1, help="look at each Nth request only")
    parser.add_argument("--show", metavar="RULE", help="the requests that it refuses")
    args = parser.parse_args()
    items = [
        each
        for each in read(args.recordings)
        if each["kind"] == "request" and each.get("accepted") and isinstance(each["body"], dict)
    ][:: args.every]
    upstreams = [*BY_PROTOCOL.values(), *OTHERS]
    refused, total, untranslatable = Counter[tuple[str, str, str]](), 0, 0
    examples: dict[tuple[str, str, str], str] = {}
    for number, item in enumerate(items, 1):
        if number % 50 == 0:
            print(f"\r{number} of {len(items)}", end="", file=sys.stderr)
        body = json.dumps(unredacted(item, provider_of(item) or "")).encode()
        for upstream in upstreams:
            total += 1
            try:
                wire = sent_to(upstream, item["protocol"], body, item.get("path") or "")
            except ToolglotError:
                untranslatable += 1
                continue
            found = check(upstream.provider, upstream.protocol, upstream.model, wire)
            if not found:
                continue
            key = (item["protocol"], upstream.title, found[0].rule)
            refused[key] += 1
            examples.setdefault(key, f"{item['id']} {model_of(item)}: {found[0].words[:140]}")
            if found[0].rule == args.show:
                print(item["id"], upstream, found[0].words[:200])
    print(file=sys.stderr)
    taken = total - untranslatable - sum(refused.values())
    print(f"{taken} of {total} are taken; {untranslatable} cannot be translated.")
    rules = Counter[str]()
    for (_, _, rule), count in refused.items():
        rules[rule] += count
    for rule, count in rules.most_common():
        keys = [key for key in refused if key[2] == rule]
        clients = ", ".join(sorted({key[0] for key in keys}))
        titles = ", ".join(sorted({key[1] for key in keys}))
        print(f"{count:5} {rule}: {clients} → {titles}\n      {examples[keys[0]]}")


if __name__ == "__main__":
    main()
