"""Access control: who may use the gateway, for which models, and how much.

`access_control.py` is what requests pass: it authenticates a client by its virtual key
(`authentication.py`, `virtual_keys.py`), authorizes it for a model, holds it to its limits
(`rate_limits.py`) and charges it in the ledger (`ledger.py`). Keys and ledger are stored by
`toolglot.gateway.storage`.
"""
