"""Measures sorting of columns with nulls and of bools on a GPU, beside columns without nulls and PyTorch on the non-null rows.

Needs the package, PyTorch and a GPU. Answers are first checked against PyTorch's. A figure is the median of device events around
a call. It excludes the host's launches, but includes PyTorch's wait for the number of rows that its mask selects.

    python -m bench.sort.gpu_columns [--rows 134217728] [--types int32 bool]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import torch

import headrace
from bench.gpu_timing import median_ms
from headrace.columns.column import Column
from headrace.columns.types import parse_type
from headrace.core.buffer import copy_of

NULLS = 0.1
TYPES = {"int32": "i4", "int64": "i8", "bool": "?"}


def column_of(name: str, values: Any, there: Any) -> Column:
    """Return a column on the host. `there`: mask of the rows that are not null, or None."""
    parts = [
        np.packbits(part, bitorder="little") if part is not None and part.dtype == bool else part for part in (values, there)
    ]
    held, validity = (None if part is None else copy_of(part.view(np.uint8).data) for part in parts)
    assert held is not None
    nulls = 0 if there is None else int(np.count_nonzero(~there))
    return Column(parse_type(name), len(values), nulls, held, validity)


def check(column: Column, values: Any, there: Any) -> None:
    """Check argsort and sort: a stable sort of the rows that are not null, then the nulls in their order."""
    rows = torch.nonzero(there)[:, 0]
    own = rows[torch.sort(values[there].to(torch.uint8) if values.dtype == torch.bool else values[there], stable=True)[1]]
    expected = torch.cat([own, torch.nonzero(~there)[:, 0]])
    places = headrace.argsort(column)
    assert torch.equal(torch.from_dlpack(places), expected)
    found = headrace.sort(column)
    assert headrace.is_sorted(found)
    assert found.null_count == len(expected) - len(own)
    few = found[len(own) - 1000 : len(own) + 1000].to("cpu").to_pylist()
    assert few == [*values[own[-1000:]].tolist(), *[None] * 1000]


def row(name: str, rows: int) -> str:
    """Return a row of the table."""
    random = np.random.default_rng(1)
    values = random.integers(0, 256, rows * np.dtype(TYPES[name]).itemsize, np.uint8).view(
        "u1" if name == "bool" else TYPES[name]
    )
    values = values > 127 if name == "bool" else values
    there = random.random(rows) >= NULLS
    with_nulls, without = column_of(name, values, there).to("cuda"), column_of(name, values, None).to("cuda")
    on_gpu, mask = torch.from_numpy(values).cuda(), torch.from_numpy(there).cuda()
    check(with_nulls, on_gpu, mask)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.ExternalStream(with_nulls.values.stream)):  # the stream of the columns' work
        times = [
            median_ms(lambda: headrace.sort(without)),
            median_ms(lambda: headrace.sort(with_nulls)),
            median_ms(lambda: torch.sort(on_gpu[mask])),
            median_ms(lambda: headrace.argsort(without)),
            median_ms(lambda: headrace.argsort(with_nulls)),
            median_ms(lambda: torch.sort(on_gpu[mask], stable=True)),
        ]
    return f"| {name} | {rows:_} | " + " | ".join(f"{ms:.3f}" for ms in times) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 1_000_000, 1 << 27])
    parser.add_argument("--types", choices=TYPES, nargs="+", default=list(TYPES))
    arguments = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; milliseconds, {NULLS:.0%} of rows null")
    print("| | rows | sort, no nulls | sort | PyTorch | argsort, no nulls | argsort | PyTorch |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for rows in arguments.rows:
        for name in arguments.types:
            print(row(name, rows), flush=True)


if __name__ == "__main__":
    main()
