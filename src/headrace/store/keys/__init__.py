"""Takes keys of rows, and finds rows by them."""
