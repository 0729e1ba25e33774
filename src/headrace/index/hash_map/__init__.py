"""Maps, sets and multimaps of numbers, changed by whole arrays."""
