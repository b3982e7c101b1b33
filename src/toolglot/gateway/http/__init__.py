"""Sockets, and nowhere else: server, client, middleware, writers."""
