"""Re-exports `write_csv`."""

from headrace.export.text.write_csv import write_csv

__all__ = ["write_csv"]
