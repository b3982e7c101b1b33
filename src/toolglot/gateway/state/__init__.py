"""What the Responses API and clients that drop reasoning need between requests."""
