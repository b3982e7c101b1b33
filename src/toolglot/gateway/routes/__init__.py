"""Which path means what."""
