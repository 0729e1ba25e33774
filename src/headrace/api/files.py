"""Re-exports the functions that write tables to files."""

from headrace.export.arrow.arrow import ArrowBatch, stream_of_batches
from headrace.export.files import check_target, suffixes, write_table
from headrace.export.target.atomic_file import final_path, moved_when_whole
from headrace.export.text.write_csv import write_csv
from headrace.sources.kinds.file import checked_path

__all__ = [
    "ArrowBatch",
    "check_target",
    "checked_path",
    "final_path",
    "moved_when_whole",
    "stream_of_batches",
    "suffixes",
    "write_csv",
    "write_table",
]
