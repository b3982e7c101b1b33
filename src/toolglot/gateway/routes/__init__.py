"""Endpoints: one module for each family, each with a table of routes."""
