"""Records of a text: the range of its data, split points, rows of equal width, estimates."""
