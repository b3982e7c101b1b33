"""The life of one request: route, ask, deliver."""
