"""`toolglot convert`: transcripts and training data from one format into another."""

import argparse
import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from toolglot.cli.byte_progress import ByteProgress
from toolglot.cli.common import Commands, add_command, plural, print_table
from toolglot.cli.convert_input import BAD_ROWS, InputLimits, find_files
from toolglot.cli.convert_output import FolderOutput, InstallOutput, LinesFile, open_output
from toolglot.cli.convert_ray import convert_with_ray
from toolglot.cli.convert_run import Manifest, Run
from toolglot.convert.batches import Counts, Wanted
from toolglot.convert.filters import NEED_VALIDATION, Filter, FilterError, parse_filter
from toolglot.convert.formats import FORMATS, UnknownFormatError, get_format

_EXAMPLES: Final = (
    "toolglot convert ~/.claude/projects --to atif --out trajectories",
    "toolglot convert 'data/**/*.jsonl.gz' --to openai --out train.jsonl --validate --stats",
    "toolglot convert rows.parquet --from sharegpt --to hermes --out rows.jsonl --jobs 4",
    "toolglot convert session.jsonl --to codex --install",
    "toolglot convert --list",
)
_AUTO: Final = "auto"
_SAID: Final = 20
"""How many sentences about files and bad rows are printed."""
_MEGA: Final = 1 << 20


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "convert transcripts and training data between formats"
    parser = add_command(commands, "convert", run, summary, *_EXAMPLES)
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="files, folders or patterns; `-`: standard input"
    )
    parser.add_argument(
        "--from", dest="source", default=_AUTO, metavar="FORMAT", help="format of the input; auto"
    )
    parser.add_argument("--to", dest="target", metavar="FORMAT", help="format of the output")
    parser.add_argument(
        "--out",
        metavar="OUT",
        default="-",
        help="a folder, a file (.jsonl, .jsonl.gz, .xz, .zst, .parquet, .arrow), or `-`",
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; 1 if left out")
    parser.add_argument(
        "--engine", choices=("processes", "ray"), default="processes", help="who does the work"
    )
    parser.add_argument("--address", help="of a Ray cluster; one is started here if left out")
    parser.add_argument("--receipts", metavar="FILE", help="write what changed, a line for each")
    parser.add_argument(
        "--bad", metavar="FILE", help="write rows that were left out; OUT/bad-rows.jsonl in folders"
    )
    parser.add_argument("--strict", action="store_true", help="leave out rows that lose something")
    parser.add_argument(
        "--validate", action="store_true", help="check calls against the schemas of their tools"
    )
    parser.add_argument("--stats", action="store_true", help="print counts of calls and notes")
    parser.add_argument(
        "--filter",
        action="append",
        default=[],
        metavar="EXPR",
        help="keep has-calls, no-calls, has-tools, lossless, valid, invalid, model=PATTERN, "
        "note=CODE, messages>=N; all of several",
    )
    parser.add_argument(
        "--resume", action="store_true", help="skip files that an earlier run has completed"
    )
    parser.add_argument(
        "--install", action="store_true", help="put a session where its agent can resume it"
    )
    parser.add_argument(
        "--max-row", type=int, default=512, metavar="MB", help="skip longer rows; 512"
    )
    parser.add_argument(
        "--max-ratio", type=int, default=200, metavar="N", help="how far a packed file expands; 200"
    )
    parser.add_argument("--list", action="store_true", help="print the formats")


def run(args: argparse.Namespace) -> int:
    """Convert, and say what was left out."""
    if args.list:
        print_table([("format", "what it is"), *((f.name, f.summary) for f in FORMATS.values())])
        return 0
    wanted = _wanted(args)
    files, missing = find_files(args.files)
    output = InstallOutput(get_format(args.target)) if args.install else _output(args)
    folder = args.out if isinstance(output, FolderOutput) else None
    for option, given in (("--resume", args.resume), ("--engine ray", args.engine == "ray")):
        if given and folder is None:
            args.refuse(f"{option} needs --out FOLDER")
    bad = args.bad or (str(Path(folder) / BAD_ROWS) if folder else None)
    said = _Said()
    with ExitStack() as stack:
        work = Run(
            wanted=wanted,
            output=output,
            limits=InputLimits(row=args.max_row * _MEGA, ratio=args.max_ratio),
            jobs=max(1, args.jobs),
            receipts=stack.enter_context(LinesFile(args.receipts)),
            bad=stack.enter_context(LinesFile(bad)),
            say=said,
            manifest=Manifest(folder, wanted, resume=args.resume) if folder else None,
        )
        for path, why in missing:
            said(f"{path}: {why}")
        if args.engine == "ray" and folder is not None:
            bar = stack.enter_context(ByteProgress(sum(file.size for file in files)))
            convert_with_ray(files, folder, work, args.address, bar.show)
        else:
            work.convert(files)
    said.end()
    _report(args, work, len(missing), len(files))
    for hint in getattr(output, "hints", ()):
        print(hint)
    return 1 if work.counts.bad or missing else 0


def _output(args: argparse.Namespace) -> Any:
    return open_output(args.out, get_format(args.target))


def _wanted(args: argparse.Namespace) -> Wanted:
    if not args.files:
        args.refuse("give files, folders or patterns, or `-` for standard input")
    if not args.target:
        args.refuse("give --to FORMAT; --list prints the formats")
    filters: list[Filter] = []
    try:
        for name in (args.source, args.target):
            if name not in (_AUTO, None):
                get_format(name)
        if not get_format(args.target).writable:
            args.refuse(f"{args.target} can only be read")
        filters = [parse_filter(text) for text in args.filter]
    except (UnknownFormatError, FilterError) as error:
        args.refuse(str(error))
    checked = args.validate or any(each.name in NEED_VALIDATION for each in filters)
    return Wanted(
        target=get_format(args.target).name,
        source=None if args.source == _AUTO else get_format(args.source).name,
        strict=args.strict,
        validate=checked,
        filters=tuple(filters),
        now=int(time.time()) if args.install else 0,
        defaults=(("folder", os.getcwd()),) if args.install else (),  # noqa: PTH109 - as text
    )


class _Said:
    """Sentences on standard error, of which only some are printed."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, text: str) -> None:
        self._count += 1
        if self._count <= _SAID:
            print(text, file=sys.stderr)

    def end(self) -> None:
        """Say how many were not printed."""
        if self._count > _SAID:
            print(f"… and {self._count - _SAID} more", file=sys.stderr)


def _report(args: argparse.Namespace, work: Run, missing: int, files: int) -> None:
    counts = work.counts
    words = [f"{plural(counts.conversations, 'conversation')} of {plural(files, 'file')}"]
    if work.skipped:
        words.append(f"{plural(work.skipped, 'file')} converted before")
    if counts.filtered:
        words.append(f"{counts.filtered} filtered out")
    if counts.lossy:
        words.append(f"{counts.lossy} lost something")
    if counts.bad or missing:
        words.append(f"{counts.bad + missing} left out")
    print(", ".join(words), file=sys.stderr)
    if args.stats:
        _print_counts(counts)


def _print_counts(counts: Counts) -> None:
    rows = [
        ("messages", counts.messages),
        ("calls", counts.calls),
        ("calls that fit their tools", counts.calls_ok),
        ("calls that do not", counts.calls_bad),
        *((f"read as {name}", count) for name, count in sorted(counts.sources.items())),
        *((f"note {code}", count) for code, count in sorted(counts.codes.items())),
    ]
    width = max(len(name) for name, _ in rows)
    for name, count in rows:
        if count:
            print(f"{name.ljust(width)} {count}", file=sys.stderr)
