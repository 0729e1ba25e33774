"""`scan_csv`: a text read batch by batch, on the host's threads or through a GPU."""
