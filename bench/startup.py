"""How long `import toolglot` takes beside a bare Python."""

import subprocess
import sys
import time


def _run(code: str) -> float:
    best = float("inf")
    for _ in range(7):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def report() -> None:
    """Print both times."""
    bare, ours = _run("pass"), _run("import toolglot")
    more = f"{ours:.0f} ms (+{ours - bare:.0f} ms)"
    print()
    print(f"Start-up: bare Python {bare:.0f} ms, with `import toolglot` {more}")
