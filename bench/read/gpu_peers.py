"""Reads text in a GPU's memory by cuDF (pylibcudf), if it is installed."""

from __future__ import annotations

import statistics
import time
from typing import Any

import torch

from bench.read.cases import Case

_TYPES = {
    "int8": "INT8", "int16": "INT16", "int32": "INT32", "int64": "INT64", "float32": "FLOAT32", "float64": "FLOAT64",
    "string": "STRING", "date32": "TIMESTAMP_DAYS", "timestamp[s]": "TIMESTAMP_SECONDS",
}  # fmt: skip
_RUNS = 5
_POOL_BYTES = 40 << 30


def pooled_library() -> Any:
    """Return pylibcudf with a memory pool.

    Raises
    ------
    ImportError
        It is not installed.
    """
    import pylibcudf
    import rmm

    pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=_POOL_BYTES)
    rmm.mr.set_current_device_resource(pool)
    return pylibcudf


class Cudf:
    """Reads by `pylibcudf.io.csv` with a memory pool. It gets the types, and whether the text has quotes."""

    def __init__(self) -> None:
        self._plc = pooled_library()

    def rate(self, case: Case, text: torch.Tensor, rows: int) -> float:
        """Return the GB/s of text, the median of several reads after a warm-up. The rows of each read are counted.

        Raises
        ------
        RuntimeError
            The number of rows is wrong.
        """
        times = []
        source = self._plc.gpumemoryview(text)
        for _ in range(_RUNS + 1):
            torch.cuda.synchronize()
            begun = time.perf_counter()
            found = self._read(case, source)
            torch.cuda.synchronize()
            times.append(time.perf_counter() - begun)
            if found != rows:
                raise RuntimeError(f"cuDF found {found} rows of {rows}")
        return float(text.numel() / statistics.median(times[1:]) / 1e9)

    def _read(self, case: Case, source: Any) -> int:
        plc = self._plc
        csv = plc.io.csv
        builder = csv.CsvReaderOptions.builder(plc.io.types.SourceInfo([source]))
        if not case.quotes:
            builder = builder.quoting(plc.io.types.QuoteStyle.NONE)
        options = builder.build()
        options.set_header(0 if case.header else -1)
        if case.types:
            options.set_dtypes([plc.DataType(getattr(plc.types.TypeId, _TYPES[name])) for name in case.types.values()])
        return int(csv.read_csv(options).tbl.num_rows())


def cudf() -> Cudf | None:
    """Return cuDF if it is installed."""
    try:
        return Cudf()
    except ImportError:
        return None
