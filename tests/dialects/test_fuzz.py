"""A few seconds of coverage-guided fuzzing; longer runs are for `python -m tests.dialects.fuzz`."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_fuzzing_finds_nothing(tmp_path):
    """S3-06: no text raises, and no cut changes what is read."""
    pytest.importorskip("atheris", reason="atheris has no build for this machine")
    command = [sys.executable, "-m", "tests.dialects.fuzz", "-runs=2500", "-seed=7"]
    options = ["-max_len=300", f"-artifact_prefix={tmp_path}/", "-verbosity=0"]
    done = subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
