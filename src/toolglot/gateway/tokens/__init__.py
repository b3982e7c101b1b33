"""Token counts: by the provider where it counts, else by an estimate."""
