"""How long importing takes beside a bare Python: the package, and everything a translation needs."""

import os
import subprocess
import sys
import time


def _run(code: str) -> float:
    # An installed package has its byte code beside it, whatever this shell says about writing it.
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", code], check=True, env=env)
    best = float("inf")
    for _ in range(9):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=env)
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def report() -> None:
    """Print the times."""
    bare = _run("pass")
    for what, code in (
        ("import msgspec", "import msgspec"),
        ("import toolglot", "import toolglot"),
        ("first translation", "import toolglot; toolglot.translate_request"),
    ):
        print(
            f"Start-up, {what}: {_run(code) - bare:.0f} ms more than a bare Python ({bare:.0f} ms)"
        )
