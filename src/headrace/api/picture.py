"""Re-exports the functions of texts on a terminal."""

from headrace.columns.picture import printable, table_picture, text_width

__all__ = ["printable", "table_picture", "text_width"]
