"""Loading on a GPU, its kernels under the fiber harness, against `read_csv` on the CPU: the same columns, counts and evidence."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import headrace
from headrace import _native
from headrace.api.load.reading import load_plan, make_report, prepare, table_columns
from headrace.api.options.csv_options import parse_options
from headrace.api.read.read_csv import read_csv
from headrace.columns.convert.gpu.fast.arguments import RowShape
from headrace.columns.faults.header_faults import with_header_faults
from headrace.columns.infer import infer_gpu
from headrace.columns.load.gpu.decoded import decoded_place
from headrace.columns.load.gpu.load import GpuShape, Place, load_on_gpu
from headrace.gpu.kernels.launcher import Part
from headrace.sources.decode_gpu import DecodeShape
from headrace.sources.open import open_source
from headrace.structure.gpu.launches import FindShape
from headrace.testing.fibers.launcher import FiberLauncher, HostRoom
from tests.columns.test_convert_kernels_differential import TEXTS, table

pytestmark = pytest.mark.fibers


def shape_of(find: FindShape, *, threads: int, window: int, row_threads: int = 32) -> GpuShape:
    """Small tiles."""
    rows = {"threads": row_threads, "tile": find.tile, "head": 256, "blocks": 1}
    shapes = {"rows": RowShape(**rows), "numbers_rows": RowShape(records=2, **rows), "quoted_rows": RowShape(quotes=True, **rows)}
    return GpuShape(find=find, threads=threads, window=window, **shapes)


SHAPE = shape_of(FindShape(threads=32, rows=2, blocks=1, scan_threads=32), threads=32, window=64)


def read_on_fibers(
    data: bytes, *, skew: int = 0, seed: int = 0, far: bool = False, shape: GpuShape = SHAPE, resident: int = 4, **options: Any
) -> tuple[headrace.Table | None, int]:
    """The table that the kernels make, None where they leave the text to the CPU; and how often the host waited.

    `far`: as if the text were where the kernels run alone, though the host can read it.
    """
    parsed = parse_options({**(read_csv.__kwdefaults__ or {}), **options})
    launcher = FiberLauncher("random", seed, resident)
    with open_source(data, parsed.source) as source:
        prepared = prepare(source, parsed)
        plan = load_plan(source, prepared, parsed)
        text = Part(launcher.put(np.frombuffer(bytes(skew) + source.native.read(0, source.size), np.uint8)), skew)
        placed, place = replace(source, on_gpu=text) if far else source, Place(launcher, text, shape)
        if source.codec != "utf-8":
            place, placed, plan = decoded_place(place, placed, plan, view_of, DecodeShape(64))
        loaded = load_on_gpu(place, placed, parsed.dialect, plan)
        if loaded is None:
            return None, launcher.waits
        loaded = replace(loaded, rejects=with_header_faults(loaded.rejects, prepared.beginning, parsed.context))
        report = make_report(source, prepared, loaded, parsed, {})
        rejects = headrace.Table(loaded.rejects)
        return headrace.Table(table_columns(prepared, loaded, parsed), rejects=rejects, report=report), launcher.waits


def view_of(room: HostRoom) -> _native.Source:
    """What the native readers take of a room."""
    return _native.Source.from_bytes(room.array)


def check(data: bytes, **options: Any) -> int:
    """Read on both; how often the host waited."""
    found, waits = read_on_fibers(data, **options)
    options = {name: value for name, value in options.items() if name not in ("skew", "seed", "shape", "resident")}
    expected = headrace.read_csv(data, **options)
    assert found is not None
    same_table(found, expected)
    return waits


def same_table(found: headrace.Table, expected: headrace.Table) -> None:
    found.report.check()
    for name, column in expected.columns.items():
        made = found[name]
        assert (made.type, made.null_count) == (column.type, column.null_count), name
        assert repr(made.to_pylist()) == repr(column.to_pylist()), name
    for name in ("records", "rows", "rejected", "skipped", "columns", "bytes", "filled"):
        assert getattr(found.report, name) == getattr(expected.report, name), name


def test_one_wait_for_counts_and_the_result():
    assert check(b"a,b\n1,x\n2,yy\n", dtypes={"a": "int32", "b": "string"}) == 1
    assert check(b"a,b\n1,x\n2,yy\n") == 1


@pytest.mark.parametrize("later", [b"x", b"2.5", b"-1", b"", b'"x"', b"2020-01-01"])
def test_a_column_that_begins_with_integers_beyond_64_bits(later, monkeypatch):
    monkeypatch.setattr(infer_gpu, "_SHORT_SAMPLE", 64)  # what comes later is behind it
    long = [b"99999999999999999999,x", b"2,y"] * 4
    for first in (long, [b"1,x"] * 2 + long, [b"1,x"] * 40 + long, [b",x"] * 3 + long):
        check(b"a,b\n" + b"\n".join([*first, later + b",z", b"3,x"] * 3))


def test_one_wait_more_where_nothing_is_expected():
    known = replace(SHAPE, ahead=False)
    assert check(b"a,b\n1,x\n2,yy\n", dtypes={"a": "int32", "b": "string"}, shape=known) == 2
    assert check(b"a,b\n1,x\n2,yy", skip_rows=1, header=False) == 1
    assert check(b"1,x", header=False) == 2


@pytest.mark.parametrize("skew", [0, 1, 15])
@pytest.mark.parametrize("quoted", [0.0, 0.3])
def test_given_types(skew, quoted):
    rng = random.Random(skew)
    for _ in range(6):
        types = rng.sample(sorted(set(TEXTS) - {"null", "timestamp[s, Europe/Berlin]"}), 5)
        data = table(rng, types, rng.randrange(1, 60), junk=0, quoted=quoted)
        check(data, header=False, schema=types, skew=skew, seed=rng.randrange(1000))


@pytest.mark.parametrize("seed", range(8))
def test_inferred_types(seed):
    rng = random.Random(seed)
    types = rng.sample(["int64", "float64", "date32", "timestamp[us]", "bool", "string", "uint64", "time64[us]"], 4)
    names = ",".join(f"c{i}" for i in range(4)).encode()
    data = names + b"\n\n" + table(rng, types, 40, junk=0.02 * (seed % 2), quoted=0.1 * (seed % 3))
    check(data, seed=seed)


@pytest.mark.parametrize("seed", range(4))
def test_faults_of_fields_are_rows_of_rejects(seed):
    rng = random.Random(seed)
    types = rng.sample(["int64", "float64", "date32", "timestamp[us]", "bool", "string", "uint8"], 4)
    data = table(rng, types, 40, junk=0.1, quoted=0.1)
    options = {"header": False, "schema": types, "on_error": "null"}
    check(data, seed=seed, **options)
    found, _ = read_on_fibers(data, seed=seed, **options)
    expected = headrace.read_csv(data, **options)
    assert found is not None and len(expected.rejects) > 0
    assert found.rejects.to_pydict() == expected.rejects.to_pydict()


def test_a_type_that_changes_behind_the_sample():
    lines = [b"1,2,2020-01-01"] * 20_000 + [b"2.5,99999999999999999999,text"]
    data = b"a,b,c\n" + b"\n".join(lines)
    found, _ = read_on_fibers(data)
    expected = headrace.read_csv(data)
    assert found is not None and found.schema == expected.schema
    assert_same = [(found[name].to_pylist()[-2:], found[name].null_count) for name in "abc"]
    assert assert_same == [(expected[name].to_pylist()[-2:], expected[name].null_count) for name in "abc"]
    assert found.report.columns == expected.report.columns


@pytest.mark.parametrize(
    "options",
    [{"sep": ";"}, {"n_rows": 3}, {"skip_rows": 1}, {"columns": [1]}, {"null_values": ["NA", ""]}, {"quote_char": None}],
)
def test_options(options):
    sep = options.get("sep", ",").encode()
    lines = [b"x%sname" % sep, *[b"%d%s%s" % (i, sep, [b"NA", b"ann", b"", b"bo"][i % 4]) for i in range(20)]]
    check(b"\r\n".join(lines), **options)


@pytest.mark.parametrize("lengths", [(1, 40), (40, 1), (9, 9)])
def test_room_is_for_the_rows_there_are(lengths):
    """Also where the first ones, by which it is taken ahead, are shorter or longer than the others."""
    short, long = lengths
    lines = [f"{row},{'a' * short}" for row in range(2000)] + [f"{row},{'b' * long}" for row in range(6000)]
    data = "\n".join(lines).encode()
    found, waits = read_on_fibers(data, header=False, schema=["int32", "string"])
    assert found is not None
    assert waits == (1 if short == long else 2)
    same_table(found, headrace.read_csv(data, header=False, schema=["int32", "string"]))
    numbers, texts = found.columns.values()
    assert numbers.values.nbytes == 4 * len(lines)
    assert texts.values.nbytes == 2000 * short + 6000 * long
    assert texts.offsets is not None
    assert texts.offsets.nbytes == 4 * (len(lines) + 1)
