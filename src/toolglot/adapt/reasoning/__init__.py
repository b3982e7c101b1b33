"""Reasoning: how much of it, and the state that a provider wants back."""
