"""Where things are kept: memory or SQLite."""
