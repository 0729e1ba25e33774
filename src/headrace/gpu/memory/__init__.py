"""Memory of a GPU and pinned host memory."""
