"""Dialects: the ways in which models write tool calls inside plain text.

An engine (`json_calls`, `parameters`, `pairs`, …) reads one family of formats; a dialect is a row
over the engines, in the module of its family in `rows`, and `table` has them all; `text` applies a
row, or finds out which one, to text that comes in any pieces.
"""
