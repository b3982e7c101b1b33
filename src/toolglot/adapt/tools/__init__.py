"""Tool definitions: names, schemas, kinds that a target lacks."""
