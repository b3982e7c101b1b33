"""Telemetry: metrics, logs, traces and recordings of requests.

`request_telemetry.py` collects what happens to one request in a `RequestRecord` and hands it to
`metrics.py`, `logs.py` and `tracing.py` when the request ends. `recorder.py` writes whole exchanges
to disk, and `redact.py` keeps keys out of all of it.
"""
