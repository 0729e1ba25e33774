"""How a text is written, found by looking at it."""
