"""One file for each kind of source: readers of byte ranges, and streams."""
