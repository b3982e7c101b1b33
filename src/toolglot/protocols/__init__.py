"""The protocols, one package each with the same public names and the same files."""
