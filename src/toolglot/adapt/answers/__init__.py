"""Answers: the passes that a response goes through, whole or streamed."""
