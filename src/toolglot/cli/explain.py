"""`toolglot explain`: what a translation would change, and why."""

import argparse
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from toolglot.cli.common import (
    STREAM,
    Commands,
    add_command,
    add_document,
    check_options,
    counted,
    hanging,
    read_input,
    stream_translator,
    translate_document,
)
from toolglot.cli.input_kind import check_input
from toolglot.receipt import CATALOGUE, SEVERITIES, Note, Receipt

_EXAMPLES: Final = (
    "toolglot explain --from openai-responses --to anthropic request.json",
    "toolglot explain --from anthropic --provider groq --model openai/gpt-oss-120b request.json",
    "toolglot explain --from openai-chat --to gemini --what stream < recorded.txt",
)


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "print what a translation would change and why, without translating"
    add_document(add_command(commands, "explain", run, summary, *_EXAMPLES))


def run(args: argparse.Namespace) -> int:
    """Print the receipt, most severe first, with the meaning of every code in it."""
    check_options(args)
    receipt = _receipt(args)
    pair = f"{args.source} to {args.target}"
    if not receipt:
        print(f"{pair}: nothing would change")
        return 0
    print(f"{pair}: {counted(receipt)}")
    for severity in reversed(SEVERITIES):
        for code, notes in _by_code(receipt, severity):
            print("\n" + hanging(f"{severity}: {code}:", CATALOGUE[code].meaning, 2))
            for note in notes:
                detail = "" if note.message == CATALOGUE[code].meaning else note.message
                where = note.path or ("everywhere" if not detail else "")
                print(hanging("   ", ": ".join(filter(None, (where, detail))), 4))
    return 0


def _receipt(args: argparse.Namespace) -> Receipt:
    data = read_input(args.file)
    if args.what != STREAM:
        check_input(data, args.what, args.source)
        return translate_document(args, data)[1]
    translator = stream_translator(args)
    translator.feed(data)
    translator.close()
    return translator.receipt


def _by_code(receipt: Receipt, severity: str) -> Iterable[tuple[str, list[Note]]]:
    groups: defaultdict[str, list[Note]] = defaultdict(list)
    for note in receipt:
        if note.severity == severity:
            groups[note.code].append(note)
    return groups.items()
