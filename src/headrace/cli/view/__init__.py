"""Shows a table in the terminal, page by page: `headrace view`."""
