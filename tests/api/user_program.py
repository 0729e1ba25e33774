"""A user's program, which type checkers accept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import headrace


def rows(path: str) -> Iterator[tuple[object, ...]]:
    """Read a file of any size, and yield its rows."""
    scan = headrace.scan_csv(path, sep=";", header=True, batch_bytes=1 << 20, dtypes={"id": "int64"}, on_error="null")
    with scan:
        for batch in scan.select(["id"]).batches():
            yield from batch.iter_rows()


def main() -> None:
    """Call the public functions."""
    table = headrace.read_csv(b"a,b\n1,x\n", columns=["a"], null_values=["NA", -999], header=None, dialect="excel")
    column: headrace.Column = table["a"]
    part: headrace.Table = table[["a"]][:1]
    data: bytes = table.write_csv()
    table.write_csv("x.csv")
    text: bytes = headrace.write_csv(table, sep=";")
    name: str = table.column_names[0]
    total: int = table.num_rows + len(column)
    array: np.ndarray[Any, Any] = column.to_numpy()
    keys = headrace.sort(np.arange(3, dtype=np.uint32))
    frame = table.head().to_pandas(dtype_backend="pyarrow")
    sniffed = headrace.sniff_csv(text)
    again = headrace.read_csv(text, delimiter=sniffed.sep, low_memory=True)
    seen = part, data, name, total, array, keys, frame, again.report.notes, table.schema["a"] == "int64"
    assert len(seen) == 9


if __name__ == "__main__":
    main()
