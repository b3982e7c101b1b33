"""Dialects: the ways in which models write tool calls inside plain text.

Each of the `engines` reads one family of formats. A dialect is one row over them, in the module of
its family in `rows`; `table` has all rows, and those that an application registers. `text` applies
a row, or finds out which one, to text that comes in any pieces; `rendering` writes tools, calls and
results.
"""
