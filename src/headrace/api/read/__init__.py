"""read_csv: plans and reads one text, or many files."""
