"""Engines: each reads one family of formats, and knows how it is usually written."""
