"""Handling one request: route, send, deliver."""
