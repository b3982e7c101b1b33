"""Do the tests notice? Break the code in many small ways, one at a time, and see.

The list is `mutants.toml` beside this file: a fragment of a source file, what to put in its place,
and the tests that should notice. Each mutant runs in a scratch copy of the tree: first the tests
of its own module, then, if it survives them, wider ones. A fragment is looked for in the file that
is named and, if it is not there, in the whole package, so that modules may move; a fragment that is
gone, or is there twice, is stale and fails the run until somebody points it to the new code.

Exits with 1 if an area is below its threshold or a mutant is stale, with 2 if the tests fail
without any mutation.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".toml")
PACKAGE = Path("src", "toolglot")
COPIED = ("src", "tests", "docs", "examples", "scripts", "bench")
THRESHOLDS = {"core": 0.95, "gateway": 0.85}
KILLED = ("own", "wider")


@dataclass(frozen=True)
class Mutant:
    """One change that the tests should notice."""

    area: str
    file: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]
    wider: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}: {self.why}"


@dataclass(frozen=True)
class Result:
    """What became of a mutant: killed by its `own` tests or `wider` ones, `survives`, `stale`."""

    mutant: Mutant
    fate: str
    where: str = ""


def read_list(path: Path) -> list[Mutant]:
    """All mutants of the list."""
    groups = tomllib.loads(path.read_text(encoding="utf-8"))["group"]
    return [
        Mutant(
            area=group["area"],
            file=group["file"],
            old=each["old"],
            new=each["new"],
            why=each["why"],
            tests=tuple(group["tests"]),
            wider=tuple(group.get("wider", ())),
        )
        for group in groups
        for each in group["mutant"]
    ]


# --- addressing -----------------------------------------------------------------------------------


def locate(mutant: Mutant, root: Path) -> Path | None:
    """The file that has the fragment once: one of those named, else the only one that has it."""
    package = root / PACKAGE
    for files in (package.glob(mutant.file), package.rglob("*.py")):
        found = [path for path in sorted(files) if _once(path, mutant.old)]
        if len(found) == 1:
            return found[0]
    return None


def _once(path: Path, fragment: str) -> bool:
    return path.read_text(encoding="utf-8").count(fragment) == 1


def existing(tests: Iterable[str], root: Path) -> list[str]:
    """The tests that are there; a file that has moved is found by its name."""
    found: list[str] = []
    for test in tests:
        path = root / test
        moved = [path] if path.exists() else sorted((root / "tests").rglob(path.name))
        found += [str(each.relative_to(root)) for each in moved]
    return list(dict.fromkeys(found))


# --- running --------------------------------------------------------------------------------------


def make_copy(folder: Path) -> Path:
    """A copy of the tree to break."""
    for name in COPIED:
        if (ROOT / name).exists():
            shutil.copytree(
                ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )
    for path in (*ROOT.glob("*.toml"), *ROOT.glob("*.md"), ROOT / "Makefile"):
        shutil.copy2(path, folder / path.name)
    return folder


def passes(tests: Sequence[str], root: Path, seconds: float) -> bool:
    """Whether tests pass in a copy. Too slow is a failure; no tests at all are an error."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {
        **os.environ,
        "PYTHONPATH": str(root / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_PROFILE": os.environ.get("HYPOTHESIS_PROFILE", "quick"),
    }
    # Tests start servers: all of them end with the one that started them.
    process = subprocess.Popen(
        command,
        cwd=root,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False
    if code in (4, 5):
        raise SystemExit(f"pytest found no tests in {' '.join(tests)}")
    return code == 0


@contextmanager
def broken(path: Path, mutant: Mutant) -> Iterator[None]:
    """A file with a mutation in it, and as it was afterwards."""
    whole, times = path.read_text(encoding="utf-8"), path.stat()
    text = whole.replace(mutant.old, mutant.new)
    compile(text, str(path), "exec")
    path.write_text(text, encoding="utf-8")
    # Compiled files know the second of their source, which may be the same one.
    os.utime(path, (times.st_atime + 60, times.st_mtime + 60))
    try:
        yield
    finally:
        path.write_text(whole, encoding="utf-8")
        os.utime(path, (times.st_atime, times.st_mtime))


def try_out(mutant: Mutant, root: Path, seconds: float) -> Result:
    """Break the code and see who notices."""
    path = locate(mutant, root)
    own = existing(mutant.tests, root)
    if path is None or not own:
        return Result(mutant, "stale", "the fragment" if path is None else "the tests")
    line = path.read_text(encoding="utf-8").split(mutant.old)[0].count("\n") + 1
    where = f"{path.relative_to(root)}:{line}"
    with broken(path, mutant):
        if not passes(own, root, seconds):
            return Result(mutant, "own", where)
        wider = existing(mutant.wider, root)
        if wider and not passes(wider, root, 2 * seconds):
            return Result(mutant, "wider", where)
    return Result(mutant, "survives", where)


def run(mutants: Sequence[Mutant], jobs: int, seconds: float) -> list[Result]:
    """Try all mutants, several at a time, each in a copy of its own."""
    results: dict[Mutant, Result] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            folder = Path(name, str(number))
            folder.mkdir()
            copies.put(make_copy(folder))

        def one(mutant: Mutant) -> Result:
            copy = copies.get()
            try:
                return try_out(mutant, copy, seconds)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            for done in as_completed([pool.submit(one, mutant) for mutant in mutants]):
                result = done.result()
                results[result.mutant] = result
                show_progress(len(results), len(mutants), result)
    return [results[mutant] for mutant in mutants]


# --- telling --------------------------------------------------------------------------------------


def show_progress(done: int, total: int, result: Result) -> None:
    """A bar for people, nothing for files."""
    if not sys.stderr.isatty():
        return
    filled = 30 * done // total
    bar = "█" * filled + "·" * (30 - filled)
    end = "\n" if done == total else ""
    line = f"{bar} {done}/{total} {result.fate}: {result.mutant}"
    print(f"\r\x1b[K{line[:110]}", end=end, file=sys.stderr, flush=True)


def strength(results: Sequence[Result]) -> float:
    """The share of mutants that were killed."""
    tried = [result for result in results if result.fate != "stale"]
    return sum(result.fate in KILLED for result in tried) / len(tried) if tried else 1.0


def report(results: Sequence[Result]) -> int:
    """Print the table and what is left to do; the exit code."""
    areas = sorted({result.mutant.area for result in results})
    print(
        f"{'area':<10} {'mutants':>7} {'own':>6} {'wider':>6} {'survive':>8} {'stale':>6}  killed"
    )
    code = 0
    for area in areas:
        found = [result for result in results if result.mutant.area == area]
        own, wider, survive, stale = (
            sum(result.fate == fate for result in found)
            for fate in ("own", "wider", "survives", "stale")
        )
        share, wanted = strength(found), THRESHOLDS.get(area, 1.0)
        print(
            f"{area:<10} {len(found):>7} {own:>6} {wider:>6} {survive:>8} {stale:>6}"
            f"  {share:.0%}{'' if share >= wanted else f', below {wanted:.0%}'}"
        )
        code = 1 if share < wanted or stale else code
    for result in results:
        if result.fate == "survives":
            mutant = result.mutant
            print(f"\nsurvives: {result.where}: {mutant.why}")
            print("".join(f"  - {line}\n" for line in mutant.old.splitlines()), end="")
            print("".join(f"  + {line}\n" for line in mutant.new.splitlines()), end="")
        elif result.fate == "stale":
            print(f"\nstale: {result.where} of {result.mutant} cannot be found once")
    return code


def main() -> int:
    """Run the list, or a part of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--only", nargs="+", default=[""], help="mutants whose file or reason has one of these"
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: 2)")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run of tests")
    parser.add_argument("--stale", action="store_true", help="only look for stale mutants")
    parser.add_argument("--trust", action="store_true", help="do not run the tests unbroken first")
    options = parser.parse_args()
    mutants = [each for each in read_list(LIST) if any(map(str(each).__contains__, options.only))]
    if not mutants:
        print(f"no mutant has {options.only} in its file or reason", file=sys.stderr)
        return 2
    if options.stale:
        stale = [
            each for each in mutants if not (locate(each, ROOT) and existing(each.tests, ROOT))
        ]
        print("\n".join(map(str, stale)) or "none is stale")
        return 1 if stale else 0
    if not options.trust:
        tests = existing(dict.fromkeys(test for each in mutants for test in each.tests), ROOT)
        if not passes(tests, ROOT, 10 * options.timeout):
            print("the tests fail without any mutation", file=sys.stderr)
            return 2
    return report(run(mutants, max(1, options.jobs), options.timeout))


if __name__ == "__main__":
    sys.exit(main())
