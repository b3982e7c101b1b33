"""Messages and settings of a request."""
