"""Calls and results: ids, arguments, pairing, calls written as text."""
