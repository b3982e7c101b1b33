"""Uses of the public API that must pass mypy in strict mode; read by mypy, never run."""

import toolglot

__all__ = ["toolglot"]
