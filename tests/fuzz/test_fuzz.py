"""A little fuzzing in every build, and what earlier fuzzing found, once more."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.mutations import mutate
from tests.fuzz.seeds import seeds
from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).parents[2]
REGRESSIONS = sorted(path for path in (Path(__file__).parent / "regressions").glob("*/*"))
ALL = pytest.mark.parametrize("target", TARGETS)


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_once_is_mended(path):
    TARGETS[path.parent.name](path.read_bytes())


@ALL
def test_seeds_are_there_and_pass(target):
    found = seeds(target)
    assert len(found) > 3
    for data in found[:40]:
        TARGETS[target](data)


@ALL
def test_mutations_find_nothing(target):
    rng, begin = random.Random(f"20261116 {target}"), seeds(target)
    for _ in range(60):
        TARGETS[target](mutate(rng.choice(begin), rng, begin))


@ALL
@given(data=st.binary(max_size=200))
def test_arbitrary_bytes_find_nothing(target, data):
    TARGETS[target](data)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["dialects", "stream"])
def test_guided_fuzzing_finds_nothing(target, tmp_path):
    """S3-06: no text raises, and no cut changes what is read."""
    pytest.importorskip("atheris", reason="atheris has no build for this machine")
    for number, data in enumerate(seeds(target)):
        (tmp_path / str(number)).write_bytes(data)
    command = [sys.executable, "-m", "tests.fuzz.guided", target, str(tmp_path)]
    options = ["-runs=1500", "-seed=7", "-max_len=300", f"-artifact_prefix={tmp_path}/"]
    done = subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_mutations_change_something_and_are_the_same_for_a_seed():
    begin = seeds("request")
    one, two = (mutate(begin[0], random.Random(3), begin) for _ in range(2))
    assert one == two != begin[0]
