"""Lets one column at a time be on a GPU, since the copies of one may need most of its memory.

Columns are merged by several threads. While one of them has the GPU, the others read, encode texts, and pack codes.
"""

from headrace.core.process.process_lock import process_lock

ONE_COLUMN = process_lock()  # held while a column is on a GPU
