"""`python -m tests.fuzz`: feed every target for some seconds; what it stumbles over is kept.

With atheris where it is installed, else with mutations of our own (`--driver own`). Inputs that
raise something are written to `tests/fuzz/regressions/TARGET/`, which a test replays from then on.
"""

import argparse
import hashlib
import importlib.util
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.fuzz.mutations import mutate
from tests.fuzz.seeds import seeds
from tests.fuzz.targets import TARGETS

REGRESSIONS = Path(__file__).parent / "regressions"
ROOT = Path(__file__).parents[2]
_ENOUGH = 5
"""Findings of one target, after which it is left."""


def keep(target: str, data: bytes) -> Path:
    """Keep an input that raises."""
    folder = REGRESSIONS / target
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(data).hexdigest()[:12]
    path.write_bytes(data)
    return path


def with_mutations(target: str, seconds: float, seed: int) -> tuple[int, int]:
    """Mutate seeds for some seconds: how many inputs were tried, and how many raised."""
    rng, begin = random.Random(f"{seed} {target}"), seeds(target)
    ends, tried, found = time.monotonic() + seconds, 0, set()
    while time.monotonic() < ends and len(found) < _ENOUGH:
        data = mutate(rng.choice(begin), rng, begin)
        tried += 1
        try:
            TARGETS[target](data)
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            place = traceback.extract_tb(error.__traceback__)[-1]
            if (where := (type(error), place.filename, place.lineno)) not in found:
                found.add(where)
                print(f"  {error!r}"[:200], f"at {place.filename}:{place.lineno}, kept in", end=" ")
                print(keep(target, data), flush=True)
    return tried, len(found)


def with_atheris(target: str, seconds: float, seed: int) -> tuple[int, int]:
    """The same, guided by coverage, in a process of its own, which ends at the first finding."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        corpus, found = Path(name, "corpus"), Path(name, "found")
        corpus.mkdir()
        found.mkdir()
        for number, data in enumerate(seeds(target)):
            (corpus / str(number)).write_bytes(data)
        command = [sys.executable, "-m", "tests.fuzz.guided", target, str(corpus)]
        options = [f"-max_total_time={int(seconds)}", f"-seed={seed}", "-max_len=4096"]
        done = subprocess.run(
            [*command, *options, f"-artifact_prefix={found}/", "-print_final_stats=1"],
            cwd=ROOT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        kept = [keep(target, path.read_bytes()) for path in found.iterdir()]
    for path in kept:
        lines = [line for line in done.stderr.splitlines() if "Error" in line or "assert" in line]
        print(f"  {' | '.join(lines[-3:])[:300]}, kept in {path}", flush=True)
    runs = [line for line in done.stderr.splitlines() if "number_of_executed_units" in line]
    if not runs and not kept:
        print(done.stderr[-2000:])
        return 0, 1
    return int(runs[-1].split(":")[-1]) if runs else 0, len(kept)


def main() -> int:
    """Fuzz the targets that were asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="for each target")
    parser.add_argument("--only", nargs="+", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--driver", choices=("atheris", "own"))
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    logging.disable()  # The server logs every refusal.
    there = importlib.util.find_spec("atheris") is not None
    driver = options.driver or ("atheris" if there else "own")
    print(f"driver {driver}, seed {options.seed}", flush=True)
    findings = 0
    for target in options.only:
        run = with_atheris if driver == "atheris" else with_mutations
        tried, found = run(target, options.seconds, options.seed)
        findings += found
        print(f"{target:<14} {tried:>9,} inputs, {found} findings", flush=True)
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main())
