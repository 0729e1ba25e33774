"""`read_csv`: one text, or many files, to one table."""
