"""Re-exports the functions that write tables to files."""

from headrace.export.files import check_target, suffixes, write_table
from headrace.sources.kinds.file import checked_path

__all__ = ["check_target", "checked_path", "suffixes", "write_table"]
