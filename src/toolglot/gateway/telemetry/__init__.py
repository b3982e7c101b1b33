"""Metrics, logs, traces, recordings."""
