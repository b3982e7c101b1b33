"""JSON Schema as targets want it, and back."""
