"""Checks that ask real servers: providers of a configuration, tool loops, and discovery."""
