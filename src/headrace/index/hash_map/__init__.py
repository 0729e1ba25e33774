"""Maps, sets and multimaps of numbers or texts, changed by whole arrays."""
