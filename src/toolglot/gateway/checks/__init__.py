"""Whether providers, tool loops and unknown servers work."""
