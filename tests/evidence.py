"""What clients and servers in the wild sent: a small set in the repository, more beside it.

The set in `tests/fixtures` has the structure of what was recorded, with words of our own. A folder
`shared` beside the repository may hold the recordings themselves; they are used where they are.
"""

from pathlib import Path

OWN = Path(__file__).parent / "fixtures"
BESIDE = Path(__file__).parents[2] / "shared"


def evidence(folder: str, pattern: str) -> list[Path]:
    """The files of one kind: those of the repository, then those beside it."""
    return [*sorted((OWN / folder).glob(pattern)), *sorted((BESIDE / folder).glob(pattern))]
