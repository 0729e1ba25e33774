"""Tables to files."""

from headrace.export.files import check_target, suffixes, write_table

__all__ = ["check_target", "suffixes", "write_table"]
