"""Offers what `import headrace` shows: Table, Report, readers and writers."""
