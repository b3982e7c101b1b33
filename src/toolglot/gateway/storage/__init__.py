"""Storage: what outlives a request.

`store.py` has the interface for values; those for virtual keys and the ledger are beside what they
store, in `toolglot.gateway.access`. `backends.py` opens a backend: memory or SQLite. What is in
memory is lost with the process, what is in SQLite survives it.
"""
