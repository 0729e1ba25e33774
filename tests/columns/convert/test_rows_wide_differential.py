"""Tables of many short columns by the fast conversion, whose blocks then have few threads, at the launch sizes of a GPU."""

from __future__ import annotations

import random

import pytest

from headrace.columns.convert.gpu.target import DEFAULT_TUNING
from headrace.testing.fibers.launcher import FiberLauncher
from tests.columns.load.load_gpu_cases import check

pytestmark = pytest.mark.fibers


def _table(rng: random.Random, columns: int, rows: int) -> bytes:
    """Return a text of numbers, of which half are absent."""
    fields = ["", "", "", "7", "12", "3.5", "-4", "123456789"]
    lines = [",".join([str(row), *rng.choices(fields, k=columns - 1)]) for row in range(rows)]
    return (",".join(f"c{i}" for i in range(columns)) + "\n" + "\n".join(lines) + "\n").encode()


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("columns", [63, 64, 70])
@pytest.mark.parametrize("skew", [0, 5])
def test_wide_tables(columns: int, skew: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of some 150 bytes: a tile has more rows than a warp has lanes, so the fast conversion takes it."""
    threads: list[int] = []
    launch = FiberLauncher.launch

    def recorded(self, entry, shape, args):
        if entry.name == "convert_rows":
            threads.append(shape.threads)
        launch(self, entry, shape, args)

    monkeypatch.setattr(FiberLauncher, "launch", recorded)
    data = _table(random.Random(columns), columns, 230)
    assert len(data) > 2 * DEFAULT_TUNING.find.tile - 8192
    check(data, skew=skew, shape=DEFAULT_TUNING)
    assert set(threads) == {64 if columns >= 64 else 128}


def _sparse(rng: random.Random, columns: int, rows: int, fields: list[str], present: float) -> bytes:
    """Return a text of which few fields are not empty."""
    return "".join(
        ",".join(rng.choice(fields) if rng.random() < present else "" for _ in range(columns)) + "\n" for _ in range(rows)
    ).encode()


@pytest.mark.covering(default=1, long=2)
@pytest.mark.parametrize("types", ["int64", "int8", "int32", "float32", "float64", "mixed"])
@pytest.mark.parametrize("odd", [0.0, 0.1])
@pytest.mark.parametrize("end", ["\n", "", "\r\n", ","])
def test_sparse_tables(types: str, odd: float, end: str) -> None:
    """Numbers most of which are absent. Some fields have other forms, and the last record may be too long."""
    rng = random.Random(f"{types}{odd}{end}")
    names = ["int8", "int16", "int32", "uint64", "float32", "float64"]
    schema = [rng.choice(names) if types == "mixed" else types for _ in range(180)]
    numbers = ["7", "12", "-4", "127", "0"] + ["3.5", "-0.25", "12345678"] * types.startswith("float")
    data = _sparse(rng, 180, 230, numbers, 0.04)
    if odd:
        data = data.replace(b",12,", b",x,").replace(b",7,", b",1234567890123,")
    data = data.replace(b"\n", b"\r\n") if end == "\r\n" else data[:-1] + end.encode()
    check(data, header=False, schema=schema, skew=rng.randrange(16), shape=DEFAULT_TUNING, on_error="null")


@pytest.mark.parametrize("empty_is_null", [True, False])
def test_sparse_tables_of_inferred_types(empty_is_null: bool) -> None:
    """Columns of which the first records have no value, and columns whose empty fields are no nulls."""
    rng = random.Random(empty_is_null)
    first = ",".join(str(number) for number in range(150)) + "\n"
    data = first.encode() + _sparse(rng, 150, 300, ["7", "12", "345", "-9"], 0.04)
    check(data, header=False, shape=DEFAULT_TUNING, null_values=[""] if empty_is_null else ["7"])


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("sparse_first", [True, False])
def test_texts_that_are_sparse_in_a_part(sparse_first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values begin as 0 if most fields of the first records are empty, also if later ones are not; and the reverse."""
    cleared: list[int] = []
    allocate_group = FiberLauncher.allocate_group

    def recorded(self, zeroed, others=(), **options):
        cleared.append(sum(zeroed))
        return allocate_group(self, zeroed, others, **options)

    monkeypatch.setattr(FiberLauncher, "allocate_group", recorded)
    rng = random.Random(sparse_first)
    parts = _sparse(rng, 150, 200, ["7", "-12", "345"], 0.04), _sparse(rng, 150, 50, ["7", "-12", "345"], 0.9)
    data = b"".join(parts if sparse_first else parts[::-1])
    check(data, header=False, schema=["int64"] * 150, shape=DEFAULT_TUNING)
    assert (max(cleared) >= 250 * 150 * 8) == sparse_first


@pytest.mark.covering(default=2)
@pytest.mark.parametrize("on_error", ["reject", "null"])
@pytest.mark.parametrize("short_records", ["reject", "null"])
@pytest.mark.parametrize("quotes", [False, True])
def test_sparse_tables_with_faults(on_error: str, short_records: str, quotes: bool) -> None:
    """Tiles with short and long records, words or quotes are declined after their values began as zeros."""
    rng = random.Random(f"{on_error}{short_records}{quotes}")
    lines = _sparse(rng, 150, 260, ["7", "-12", "345"], 0.04).decode().splitlines()
    changes = [lambda line: line + ",5", lambda line: line[:-3], lambda line: "x" + line]
    if quotes:
        changes += [lambda line: line.replace(",,", ',a"b,', 1), lambda line: line.replace(",,", ',"1",', 1)]
    for number in rng.sample(range(60, 260), 30):
        lines[number] = rng.choice(changes)(lines[number])
    data = ("\n".join(lines) + "\n").encode()
    options = {"on_error": on_error, "short_records": short_records}
    check(data, header=False, schema=["int64"] * 150, shape=DEFAULT_TUNING, **options)
