"""Tests the placement of columns and tables: the protocols of other libraries, and copies between host and GPU."""

from __future__ import annotations

import dataclasses
import datetime
import gc

import numpy as np
import pytest

import headrace
from headrace import Context, Device, OptionError
from headrace.arrays import arrow_device
from headrace.columns import placement
from headrace.core.transfers import Crossings
from tests.conftest import gpu_is_missing

pa = pytest.importorskip("pyarrow", reason="PyArrow reads what is handed over")

TEXT = (
    b"i,u,f,b,s,d,t,c,v,k\n"
    b"-1,1,0.5,true,ann,2024-02-29,2020-01-01T10:00:00,1.25,a text of more than twelve bytes,red\n"
    b"2,255,,false,,1969-12-31,,,short,green\n"
    b"3,0,2.5,,cy,,1960-05-05T00:00:01,-0.01,,red\n"
)
TYPES = {
    "i": "int64",
    "u": "uint8",
    "f": "float32",
    "b": "bool",
    "s": "large_string",
    "d": "date32",
    "t": "timestamp[us]",
    "c": "decimal128(9, 2)",
    "v": "string_view",
    "k": "dictionary",
}


@pytest.fixture
def table():
    return headrace.read_csv(TEXT, dtypes=TYPES)


class Shown:
    """Only the device interface of something."""

    def __init__(self, inner):
        self.inner = inner

    def __arrow_c_device_array__(self, requested_schema=None, **options):
        return self.inner.__arrow_c_device_array__(requested_schema, **options)


@pytest.mark.parametrize("rows", [slice(None), slice(1, 3), slice(2, 2)])
def test_the_device_interface_says_the_same_as_the_stream(table, rows):
    part, held = table[rows], set(arrow_device._in_capsules)
    batch = pa.record_batch(Shown(part))
    batch.validate(full=True)
    assert batch.to_pydict() == pa.table(part).to_pydict() == part.to_pydict()
    for name, column in part.columns.items():
        assert pa.array(Shown(column)).to_pylist() == column.to_pylist(), name
    kept = len(arrow_device._exported)
    del batch
    gc.collect()
    assert len(arrow_device._exported) < kept and set(arrow_device._in_capsules) <= held


def test_on_the_host_a_column_goes_nowhere(table):
    assert table.device == table["s"].device == Device()
    assert table["s"].to("cpu") is table["s"]
    assert not hasattr(table["i"], "__cuda_array_interface__")


@pytest.mark.parametrize(("name", "dtype"), [("i", "i8"), ("u", "u1")])
def test_dlpack_of_numbers_shares_memory(table, name, dtype):
    column = table[name]
    taken = np.from_dlpack(column)
    assert taken.dtype == dtype and taken.tolist() == column.to_pylist()
    assert taken.__array_interface__["data"][0] == column.values.address
    assert np.from_dlpack(column[1:]).tolist() == column.to_pylist()[1:]
    assert column.__dlpack_device__() == (1, 0)


def test_dlpack_of_timestamps_is_their_counts(table):
    column = table["t"][2:]
    assert np.from_dlpack(column).tolist() == [
        int(datetime.datetime(1960, 5, 5, 0, 0, 1, tzinfo=datetime.UTC).timestamp()) * 10**6
    ]


@pytest.mark.parametrize(("name", "said"), [("f", "it has nulls"), ("s", "no numbers"), ("b", "no numbers"), ("c", "no numbers")])
def test_dlpack_of_what_is_no_plain_array_says_why(table, name, said):
    with pytest.raises(BufferError, match=said):
        np.from_dlpack(table[name])


def test_no_device_of_that_name(table):
    with pytest.raises(OptionError, match="unknown device"):
        table.to("tpu")


@pytest.mark.skipif(not gpu_is_missing(), reason="there is a GPU")
def test_without_a_gpu_the_way_there_says_why(table):
    with pytest.raises(headrace.HeadraceError, match=r"GPU|NVIDIA"):
        table.to("cuda")


class ElsewhereBuffer:
    """A buffer that claims to be on a GPU."""

    address, nbytes, device = 256, 64, "cuda"


def elsewhere(column):
    inner = column.dictionary and elsewhere(column.dictionary)
    buffer = ElsewhereBuffer()
    return dataclasses.replace(column, values=buffer, validity=None, data=(buffer,) * len(column.data), dictionary=inner)


def test_a_schema_needs_no_memory_of_the_host(table):
    there = headrace.Table({name: elsewhere(column) for name, column in table.columns.items()})
    assert there.device == Device("cuda") and pa.schema(there) == pa.schema(table)


def test_columns_on_several_devices_are_no_batch_of_one(table):
    mixed = headrace.Table({"i": table["i"], "u": elsewhere(table["u"])})
    with pytest.raises(OptionError, match=r"'u' is on cuda and others are on cpu; move all to one with \.to\(\)"):
        mixed.__arrow_c_device_array__()


def test_views_come_to_the_host_before_they_become_plain(table, monkeypatch):
    there = headrace.Table({"v": elsewhere(table["v"])})
    monkeypatch.setattr(placement, "column_to", lambda column, target, crossings, budget: table["v"])
    assert there.to_arrow().equals(headrace.Table({"v": table["v"]}).to_arrow())


def test_a_limit_holds_for_all_columns_of_a_call(table, monkeypatch):
    budgets = []

    def noted(column, target, crossings, budget):
        budgets.append(budget)
        return column

    monkeypatch.setattr(placement, "column_to", noted)
    table.to("cuda", context=Context(memory_limit=100))
    assert len(budgets) == len(TYPES) and {id(budget) for budget in budgets} == {id(budgets[0])} and budgets[0].limit == 100


@pytest.mark.gpu
def test_two_columns_that_fit_one_by_one_may_not_fit_together(table):
    pair = headrace.Table({name: table[name] for name in "iu"})
    context = Context(memory_limit=24)
    assert pair["i"].to("cuda", context=context).device == Device("cuda", 0)
    with pytest.raises(headrace.MemoryLimitError):
        pair.to("cuda", context=context)


@pytest.mark.gpu
@pytest.mark.parametrize("rows", [slice(None), slice(1, 3), slice(2, 2)])
def test_there_and_back_is_the_same(table, rows):
    context = Context()
    there = table[rows].to("cuda", context=context)
    assert there.device == Device("cuda", 0) and there.to("cuda:0")["s"] is there["s"]
    back = there.to("cpu", context=context)
    assert back.to_pydict() == there.to_pydict() == table[rows].to_pydict()
    assert [column.null_count for column in back.columns.values()] == [c.null_count for c in table[rows].columns.values()]
    assert context.crossings.to_gpu == context.crossings.to_host or rows == slice(2, 2)
    assert pa.table(there).to_pydict() == there.to_arrow().to_pydict() == table[rows].to_pydict()
    assert pa.schema(there) == pa.schema(table)
    assert str(there) == str(table[rows])


@pytest.mark.gpu
def test_slices_on_the_gpu(table):
    there = table.to("cuda")
    assert there[1:].to_pydict() == table[1:].to_pydict()
    assert there["f"][1:].null_count == -1 and there["f"][1:].to("cpu").null_count == 1


@pytest.mark.gpu
def test_what_does_not_fit_the_limit_is_an_error(table):
    with pytest.raises(headrace.MemoryLimitError):
        table.to("cuda", context=Context(memory_limit=1))


@pytest.mark.gpu
def test_others_take_columns_of_the_gpu(table):
    torch = pytest.importorskip("torch", reason="PyTorch is optional")
    there = table.to("cuda")
    assert torch.from_dlpack(there["i"]).tolist() == [-1, 2, 3]
    assert there[1:].columns["i"].__dlpack_device__() == (2, 0)
    tensors = headrace.Table({name: there[name] for name in "iu"}).to_torch()
    assert tensors["u"].device.type == "cuda" and tensors["u"].tolist() == [1, 255, 0]
    cupy = pytest.importorskip("cupy", reason="CuPy is optional")
    assert cupy.asarray(there["i"][1:]).tolist() == [2, 3]
    with pytest.raises(AttributeError, match="nulls"):
        _ = there["f"].__cuda_array_interface__


@pytest.mark.gpu
def test_cudf_takes_a_table_where_it_lies(table):
    pytest.importorskip("cudf", reason="cuDF is optional")
    part = headrace.Table({name: table[name] for name in "iufbsdt"})
    assert part.to("cuda").to_cudf().to_arrow().to_pydict() == part.to_pydict()


def test_crossings_start_at_nothing():
    assert Context().crossings == Crossings()


def test_dlpack_of_dates_and_times_of_32_bits_is_their_counts():
    text = b"day,time\n1970-01-02,00:00:03\n1970-02-01,00:01:00\n1969-12-31,00:00:00\n"
    columns = headrace.read_csv(text, dtypes={"time": "time32[s]"})
    for column, counts in ((columns["day"], [1, 31, -1]), (columns["time"], [3, 60, 0])):
        assert np.from_dlpack(column).dtype == np.int32
        assert np.from_dlpack(column).tolist() == counts
        assert np.from_dlpack(column[1:]).tolist() == counts[1:]
