"""Text encodings other than UTF-8, decoded on the host and on a GPU."""
