"""Large transfers between host, files and GPU."""
