"""Tables on a GPU: concatenated there, and rows by row numbers on the same GPU, against the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import headrace
from headrace import concat
from headrace.arrange.gather.concat_gpu import concat_column_with
from headrace.columns.column import Column
from headrace.core.errors import OptionError, OutOfRangeError
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.columns_cases import fetched, on_fibers, table_of


class BufferLauncher(FiberLauncher):
    """Whose columns stay where the kernels find them."""

    def result(self, buffer: Any) -> Any:
        return buffer


def joined_on_fibers(tables: list[headrace.Table]) -> dict[str, Column]:
    launcher = BufferLauncher("random", 3)
    names = tables[0].column_names
    parts = {name: [on_fibers(launcher, table[name]) for table in tables] for name in names}
    return {name: fetched(concat_column_with(launcher, parts[name], tables[-1][name].type, threads=64)) for name in names}


def gpu_cases() -> list[list[headrace.Table]]:
    """Slices of any first row, no rows, and views whose parts have several buffers of long texts."""
    several: list[list[headrace.Table]] = []
    for form in ("plain", "view"):
        table = table_of(form, 300)
        several += [[table, table[:0], table[64:]], [table[5:6], table[13:200], table[:70], table, table]]
    view = table_of("view", 300)
    nulls = headrace.Table.from_arrow(pa.table({name: pa.nulls(40) for name in view.column_names}))
    return [*several, [nulls, view[3:], nulls, view], [nulls, nulls]]


@pytest.mark.fibers
@pytest.mark.parametrize("number", range(len(gpu_cases())))
def test_tables_on_a_gpu(number: int) -> None:
    tables = gpu_cases()[number]
    expected = concat(tables)
    for name, found in joined_on_fibers(tables).items():
        assert (found.type, len(found), found.null_count) == (expected[name].type, len(expected), expected[name].null_count)
        assert found.to_pylist() == expected[name].to_pylist()


@pytest.mark.gpu
def test_tables_and_batches_stay_on_their_gpu() -> None:
    for tables in gpu_cases():
        found = concat([table.to("cuda") for table in tables])
        assert found.device.kind == "cuda"
        assert found.to("cpu").equals(concat(tables)) or found.to("cpu").to_pydict() == concat(tables).to_pydict()
    text = b"a,b\n" + b"".join(b"%d,a text of row %d\n" % (row, row) for row in range(3000))
    read = headrace.scan_csv(text, strings="view", device="cuda", batch_bytes=4096).read()
    assert read.device.kind == "cuda"
    assert read.to("cpu").to_pydict() == headrace.read_csv(text).to_pydict()
    first, codes = (headrace.read_csv(text, strings=form) for form in ("plain", "dictionary"))
    for others, message in (
        ([first.to("cuda"), first], r"tables\[1\] is on cpu, and tables\[0\] on cuda"),
        ([codes.to("cuda"), codes.to("cuda")], r"column 'b' of tables\[0\] is of type dictionary.*pass table.to\('cpu'\)"),
        (
            [first.to("cuda"), headrace.read_csv(text, dtypes={"a": "int8"}, on_error="null").to("cuda")],
            "is not converted to int64",
        ),
    ):
        with pytest.raises(OptionError, match=message):
            concat(others)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64", "uint64"])
def test_numbers_of_libraries_on_a_gpu(dtype: str) -> None:
    cupy, torch = pytest.importorskip("cupy", reason="a peer"), pytest.importorskip("torch", reason="a peer")
    table = table_of("plain")
    placed, rows = table.to("cuda"), np.random.default_rng(3).integers(0, 200, 5000).astype(dtype)
    expected = table.take(rows).to_pydict()
    others: list[Any] = [torch.from_numpy(rows).cuda()] if dtype in {"int32", "int64", "uint8"} else []
    own = headrace.DeviceArray.from_host(rows)
    if rows.itemsize >= 4:
        others.append(own)
    else:
        with pytest.raises(OptionError, match=f"rows has items of type {dtype}; convert them to int64 first"):
            placed.take(own)
    for at in (cupy.asarray(rows), *others):
        assert placed.take(at).to("cpu").to_pydict() == expected
    with pytest.raises(OutOfRangeError, match=r"rows\[1\] is"):
        placed.take(cupy.array([0, 1 << 20]))
    with pytest.raises(OptionError, match="rows lie on cuda, and the table on cpu"):
        table.take(cupy.asarray(rows))
