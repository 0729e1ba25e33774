"""Hash maps, sets and multimaps of numbers, filled and searched by whole arrays."""
