"""What providers and their models accept, as data that drives translation.

A protocol says what can be said in it; a provider that speaks it may accept less, and one of its
models less again. Each such restriction is a rule in the provider's book (`books/NAME.toml`), with
the provider's own words, a source and a date. The rules that hold for a model are laid over the
surface of the protocol, and the passes read the surface as they always do.
"""

from toolglot.providers.effective_surface import check_overrides, surface_for
from toolglot.providers.quick_check import is_accepted
from toolglot.providers.rule_books import (
    UNKNOWN,
    ProviderRule,
    RuleBook,
    RuleBookError,
    book_names,
    load_book,
    protocol_for,
    protocols_for,
    read_book,
    rules_for,
)

__all__ = [
    "UNKNOWN",
    "ProviderRule",
    "RuleBook",
    "RuleBookError",
    "book_names",
    "check_overrides",
    "is_accepted",
    "load_book",
    "protocol_for",
    "protocols_for",
    "read_book",
    "rules_for",
    "surface_for",
]
