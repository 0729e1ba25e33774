"""read_csv: options, planning, one text or many files."""
