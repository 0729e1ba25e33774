"""Opens bytes, files, streams, compressed and encoded text, and text on a GPU."""
