"""Refusals that are understood, and what makes a request acceptable after one.

A provider that refuses a request says why, in words of its own. `refusals.toml` is a table of such
words: each row has a pattern and what is learned from it. Most learn a fact of the surface, as a
rule book would state it, and the one road of passes does the rest; the others name a repair of the
history, which says nothing of the next request.

    error = read_error(status, body)
    mending = understand(error, surface, sent)        # None: it is not understood
    options = mending.options_for(options)            # what the next request is translated with
"""

from toolglot.mending.error_words import ErrorWords, read_error
from toolglot.mending.recovered_calls import failed_text
from toolglot.mending.refusals import (
    Mending,
    RefusalRow,
    read_rows,
    rows,
    understand,
    with_learned,
)
from toolglot.mending.request_repairs import REPAIRS, repair_body

__all__ = [
    "REPAIRS",
    "ErrorWords",
    "Mending",
    "RefusalRow",
    "failed_text",
    "read_error",
    "read_rows",
    "repair_body",
    "rows",
    "understand",
    "with_learned",
]
