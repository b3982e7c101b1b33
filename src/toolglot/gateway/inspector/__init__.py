"""The inspector: what happened to the latest exchanges, as an API and as a page over it.

`captures.py` in `telemetry` keeps the exchanges. Here `exchange_facts.py` finds out what is in one,
`grouping.py` puts them into conversations, `call_rows.py` makes a row of each tool call, and
`bridges.py` leads from a note to the two places that it is about. `inspector_api.py` has the
routes, `page_files.py` the page, and `export.py` writes both into one HTML file.
"""
