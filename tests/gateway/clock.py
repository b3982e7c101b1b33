"""A clock for tests."""


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float = 100.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
