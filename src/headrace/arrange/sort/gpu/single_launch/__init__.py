"""Few keys in order, in one launch."""
