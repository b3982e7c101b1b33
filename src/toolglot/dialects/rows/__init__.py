"""The dialects as rows over the engines, one module for each family."""
