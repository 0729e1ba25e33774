"""Re-exports `table_picture`."""

from headrace.columns.picture import table_picture

__all__ = ["table_picture"]
