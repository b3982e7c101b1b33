"""`toolglot convert --engine ray`: files as tasks of a Ray cluster, or of one on this machine.

A task converts one file and writes its output under another name until that is complete, so a task
that is run again after a node died neither loses nor doubles a row. Output goes to a folder that
all nodes share.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from toolglot.cli.convert_input import InputFile, InputLimits
from toolglot.cli.convert_output import FolderOutput
from toolglot.cli.convert_run import Manifest, Run
from toolglot.convert.batches import Counts, Wanted
from toolglot.convert.formats import get_format
from toolglot.errors import MissingExtraError

_RETRIES: Final = 5
"""How often a file is begun again after its worker died."""
_TASKS: Final = 256
"""Tasks that wait at Ray at once."""

FileResult = tuple[Counts, list[Any], list[Any], list[str], list[str]]


def convert_file(
    file: InputFile, name: str, folder: str, wanted: Wanted, limits: InputLimits
) -> FileResult:
    """One file, in whatever process: counts, receipts, bad rows, sentences, and its output."""
    receipts: list[Any] = []
    bad: list[Any] = []
    said: list[str] = []
    target = get_format(wanted.target)
    output = _NamedOutput(folder, name, target)
    run = Run(
        wanted=wanted,
        output=output,
        limits=limits,
        receipts=receipts.append,
        bad=bad.append,
        say=said.append,
        quiet=True,
    )
    run.convert([file])
    return run.counts, receipts, bad, said, output.written


class _NamedOutput(FolderOutput):
    """The output of one file under a name that was given to it among all files."""

    def __init__(self, folder: str, name: str, target: Any) -> None:
        super().__init__(folder, target, target.suffix)
        self._given = name
        self.written: list[str] = []

    def begin(self, _name: str) -> None:
        super().begin(self._given)

    def end(self) -> list[str]:
        self.written = super().end()
        return self.written


def unique_names(files: list[InputFile]) -> list[str]:
    """A name for the output of each file."""
    taken: dict[str, int] = {}
    names = []
    for file in files:
        taken[file.name] = taken.get(file.name, 0) + 1
        count = taken[file.name]
        names.append(file.name if count == 1 else f"{file.name}-{count}")
    return names


def convert_with_ray(
    files: list[InputFile],
    folder: str,
    run: Run,
    address: str | None,
    progress: Callable[[int, int], None],
) -> None:
    """All files; results are taken as they come, and what is complete is in the manifest."""
    try:
        ray = import_module("ray")
    except ImportError:
        raise MissingExtraError("ray", "ray") from None
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    task = ray.remote(convert_file).options(max_retries=_RETRIES)
    work = list(zip(files, unique_names(files), strict=True))
    waiting: dict[Any, InputFile] = {}
    done = 0
    while work or waiting:
        while work and len(waiting) < _TASKS:
            file, name = work.pop(0)
            if run.is_known(file):
                continue
            path = InputFile(str(Path(file.path).resolve()), str(Path(file.base).resolve()))
            reference = task.remote(path, name, str(Path(folder).resolve()), run.wanted, run.limits)
            waiting[reference] = file
        if not waiting:
            break
        ready, _ = ray.wait(list(waiting), num_returns=1)
        for reference in ready:
            file = waiting.pop(reference)
            _take(run, file, ray.get(reference))
            done += file.size
            progress(done, run.counts.conversations)


def _take(run: Run, file: InputFile, result: FileResult) -> None:
    counts, receipts, bad, said, written = result
    run.counts.add(counts)
    for each in receipts:
        run.receipts({**each, "file": file.path})
    for each in bad:
        run.bad({**each, "file": file.path})
    for text in said:
        run.say(text)
    broken = any(each["line"] == 0 for each in bad)
    if isinstance(run.manifest, Manifest) and not broken:
        run.manifest.add(file, written, counts)
