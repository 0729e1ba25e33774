"""Sources: opened by kind, decompressed, decoded, and read as ranges or streams."""
