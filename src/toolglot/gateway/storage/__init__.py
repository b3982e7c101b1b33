"""Storage: what outlives a request. `store.py` has the interfaces, `backends.py` opens them."""
