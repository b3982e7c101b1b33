"""What protocols share about bytes: JSON, typed reading, framing, small conversions."""
