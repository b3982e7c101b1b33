"""Who may ask for what: keys, rate limits, the usage ledger."""
