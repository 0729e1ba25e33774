"""scan_csv: a text in batches, in bounded memory."""
