"""Compares scans on a GPU, with kernels in the fiber harness, with `read_csv` on the CPU, for other texts.

The texts come in order, have other encodings, or give other forms of strings; some batches do not fit in memory.
"""

from __future__ import annotations

import gzip
import io
import random
import threading
from pathlib import Path
from typing import Any

import pytest

import headrace
from headrace.columns.records.split_points import lenient_split_points, split_points
from headrace.core.errors import MemoryLimitError
from headrace.gpu.kernels.launcher import DeviceBuffer
from headrace.sources.open import open_source
from headrace.structure.dialect import CSV, Dialect
from headrace.testing.fibers.launcher import FiberLauncher, HostBuffer
from tests.api.outcomes import outcome
from tests.api.scan.scan_gpu_cases import FiberBuffers, check, on_fibers, run_on_fibers

__all__ = ["on_fibers"]
pytestmark = [pytest.mark.fibers, pytest.mark.usefixtures("on_fibers")]

LINES = [b"n,s,day"] + [b'%d,"x %d\n""y""",2020-01-%02d' % (i * 37 % 91, i, i % 28 + 1) for i in range(40)]
TEXT = b"\r\n".join(LINES) + b"\r\n"
FAULTY = TEXT.replace(b"2020-01-17", b"no day").replace(b"\r\n74,", b"\r\n7x4,")


class Unseekable(io.RawIOBase):
    """A file object like that of a socket: read once, a few bytes at a time."""

    def __init__(self, data: bytes) -> None:
        self._left = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._left.read(min(size, 97) if size >= 0 else 97)


@pytest.mark.long_except("200")
@pytest.mark.parametrize("batch_bytes", [40, 200, 1000, 5000])
def test_compressed_texts(batch_bytes: int) -> None:
    check(gzip.compress(TEXT), batch_bytes)
    check(gzip.compress(FAULTY), batch_bytes, dtypes={"n": "int64", "day": "date32"}, on_error="reject")


@pytest.mark.covering(default=0)
@pytest.mark.parametrize("options", [{}, {"on_error": "null", "dtypes": {"n": "int32"}}, {"dtypes": {"n": "int32"}}])
def test_file_objects(options: dict[str, Any]) -> None:
    expected = outcome(lambda: headrace.read_csv(FAULTY, **options))
    for made in (io.BytesIO, Unseekable):
        assert outcome(lambda made=made: headrace.scan_csv(made(FAULTY), batch_bytes=150, **options).read()) == expected


@pytest.mark.parametrize("limit", [1, 7, 39, 40, 99])
def test_a_limit_where_nobody_has_counted_the_records(limit: int) -> None:
    for header in (True, False):
        check(gzip.compress(TEXT), 300, n_rows=limit, header=header)
    check(gzip.compress(TEXT), 300, n_rows=limit, skip_rows_after_header=2)
    assert headrace.scan_csv(gzip.compress(TEXT), batch_bytes=300).limit(0).read().to_pydict() == {"n": [], "s": [], "day": []}


def test_types_that_later_text_changes_and_a_break_in_it() -> None:
    data = b"a\n" + b"1\n" * 300 + b"x\n"
    check(gzip.compress(data), 64)
    broken = gzip.compress(TEXT * 30, 0)[:-2000]
    with pytest.raises(headrace.SourceError):
        headrace.scan_csv(broken, batch_bytes=500, dtypes={"n": "int64"}).read()
    assert not [thread for thread in threading.enumerate() if thread.name in ("headrace-sender", "headrace-text")]


def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "text.csv"
    path.write_bytes(b"n\n" + b"12\n" * 4000)
    batches = headrace.scan_csv(path, batch_bytes=500, dtypes={"n": "int64"}).batches()
    next(batches)
    with path.open("r+b") as file:
        file.truncate(6000)
    with pytest.raises(headrace.SourceError, match=r"changed|shrank"):
        list(batches)
    assert not [thread for thread in threading.enumerate() if thread.name == "headrace-sender"]


@pytest.mark.parametrize("records", [0, 3])
def test_resumption_of_a_text_that_comes_in_order(records: int) -> None:
    packed = gzip.compress(FAULTY)
    given: dict[str, Any] = {"batch_bytes": 120, "dtypes": {"n": "int64", "day": "date32"}, "on_error": "reject"}
    given |= {"n_rows": 33} if records else {}
    batches = list(headrace.scan_csv(packed, **given).batches())
    whole = headrace.scan_csv(packed, **given).read()
    rest = headrace.scan_csv(packed, resume=batches[2].report.end, **given).read()
    rows = sum(batch.num_rows for batch in batches[:3])
    assert rest.to_pydict() == {name: column.to_pylist()[rows:] for name, column in whole.columns.items()}
    lines = whole.rejects["line"].to_pylist()
    assert rest.rejects["line"].to_pylist() == lines[len(lines) - rest.rejects.num_rows :]


@pytest.mark.covering(default=0, long=0)
@pytest.mark.long_except("True-utf-16-le", "False-cp1252")
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-16", "cp1252", "iso8859-15", "cp037"])
@pytest.mark.parametrize("packed", [False, True])
def test_encodings(codec: str, packed: bool) -> None:
    texts = "é,ß€" if codec in ("cp1252", "iso8859-15") else "é, ß" if codec == "cp037" else "é,𝄞,漢"
    text = "a,b\n" + "".join(f'{i},"{texts}{i}\n{texts[: i % 3]}"\n' for i in range(25)) + "z7,x\n8,y\n"
    data = text.encode(codec)
    data = gzip.compress(data) if packed else data
    for batch_bytes in (60, 250, 4000):
        check(data, batch_bytes, encoding=codec)
        check(data, batch_bytes, encoding=codec, dtypes={"a": "int16"}, on_error="reject")


def test_cuts_of_encoded_texts_are_where_records_begin() -> None:
    from headrace.api.options.csv_options import parse_options
    from headrace.api.read.read_csv import read_csv
    from headrace.structure.find import find_structure

    text = 'a,b\n1,"x\ny 𝄞"\n2,z\n3,"w"\n4,v\n'.encode("utf-16-le")
    options = parse_options({**(read_csv.__kwdefaults__ or {}), "encoding": "utf-16-le"})
    with open_source(text, options.source) as source:
        starts = find_structure(source, CSV).record_starts
        for end in range(starts[1] + 4, len(text), 2):
            assert split_points(source, CSV, 0, end)[0] == max(start for start in starts if start < end)


@pytest.mark.covering(default=0)
@pytest.mark.parametrize(
    "options",
    [
        {"row_index_name": "i", "row_index_offset": 5, "on_error": "reject"},
        {"encoding_errors": "replace", "dtypes": {"n": "string"}},
        {"columns": [], "row_index_name": "i"},
        {"skip_rows": 2, "header": False, "row_index_name": "i"},
    ],
)
@pytest.mark.parametrize("batch_bytes", [(70, 400), pytest.param((400, 70), marks=pytest.mark.long)])
def test_row_index_and_mended_texts(batch_bytes: tuple[int, int], options: dict[str, Any]) -> None:
    """Test batches of two sizes, for plain and compressed text."""
    data = FAULTY.replace(b"x 11", b"x \xff\xfe11").replace(b"x 30", b"\xe2\x82") if "encoding_errors" in options else FAULTY
    types = {} if "dtypes" in options or options.get("columns") == [] or not options.get("header", True) else {"n": "int64"}
    for source, size in zip((data, gzip.compress(data)), batch_bytes, strict=True):
        check(source, size, **{"dtypes": types, **options})


@pytest.mark.parametrize("strings", ["view", "dictionary"])
def test_texts_in_other_forms(strings: str) -> None:
    whole = headrace.read_csv(TEXT, strings=strings)
    batches = list(headrace.scan_csv(TEXT, batch_bytes=300, strings=strings).batches())
    assert len(batches) > 3
    assert {str(batch["s"].type) for batch in batches} == {str(whole["s"].type)}
    assert [text for batch in batches for text in batch["s"].to_pylist()] == whole["s"].to_pylist()
    chosen = headrace.scan_csv(TEXT, batch_bytes=300, strings=strings).where(headrace.col("s").is_not_null())
    batches = list(chosen.batches())
    assert {str(batch["s"].type) for batch in batches} == {str(whole["s"].type)}
    assert [text for batch in batches for text in batch["s"].to_pylist()] == [x for x in whole["s"].to_pylist() if x is not None]


LENIENT = (
    b"x",
    b'"y, z"',
    b'"two\nlines"',
    b'5" wide',
    b'"a" b',
    b'"',
    b'"never closed',
    b'closed"',
    b'""',
    b'"q""q"',
    b'a""',
    b'"""',
    b"",
)


@pytest.mark.long_except("150-1", "0-2")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("batch_bytes", [0, 150, 350])
def test_lenient_quotes(batch_bytes: int, seed: int) -> None:
    """Test batches of the given size; 0 stands for one that is drawn and holds a few records."""
    rng = random.Random(seed)
    few = LENIENT[:3] if seed % 4 == 0 else LENIENT
    end = b"\r\n" if seed % 2 else b"\n"
    lines = [b"n,s,t"] + [b"%d,%s,%s" % (i, rng.choice(few), rng.choice(few)) for i in range(22)]
    data = end.join(lines) + end
    batch_bytes = batch_bytes or rng.randrange(20, 60)
    for source in (data, gzip.compress(data)):
        check(source, batch_bytes, lenient_quotes=True, on_error="reject", dtypes={"n": "string"})
    check(data, batch_bytes, lenient_quotes=True, on_error="null", long_records="truncate", short_records="null")


@pytest.mark.long_except("150-1")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("batch_bytes", [0, 150, 350])
def test_quotes_that_are_text(batch_bytes: int, seed: int) -> None:
    """Parts that the masks misread are read again by the automaton, and so are later parts, wherever they are cut.

    A batch size of 0 stands for one that is drawn and holds a few records.
    """
    rng = random.Random(seed)
    texts = (b"x", b'"y, z"', b'"two\nlines"', b'5" wide', b'p"q"', b'a""', b"", b'x"", y', b'"q""q"')
    few = texts[:3] + texts[4:5] if seed % 2 else texts
    lines = [b"n,s,t,u"] + [b"%d,%s,%s,v" % (i, rng.choice(few if i > 9 else texts[:3]), rng.choice(few)) for i in range(22)]
    data = b"\n".join(lines) + b"\n"
    batch_bytes = batch_bytes or rng.randrange(20, 60)
    check(data, batch_bytes, on_error="reject", long_records="truncate", dtypes={"n": "string"})
    check(gzip.compress(data), batch_bytes, on_error="null", strict_quotes=True, long_records="truncate")
    check(data, batch_bytes, lenient_quotes=True, double_quote=False, on_error="null", long_records="truncate")


def test_lenient_texts_are_cut_where_nothing_behind_has_a_say() -> None:
    data = b'a,b\n1,"x\ny"\n2,z\n3,"w",4\n5,"open\n6,7\n'
    found = {}
    with open_source(data) as source:
        for end in range(5, len(data) + 1):
            found[end] = lenient_split_points(source, Dialect(lenient_quotes=True), 0, end)
    assert set(map(tuple, found.values())) == {(4,), (12,), (16,), (24,)}
    assert found[len(data)] == [24]
    with open_source(data) as source:
        assert lenient_split_points(source, Dialect(lenient_quotes=True), 24, len(data)) == []


class ResidentLauncher(FiberLauncher):
    """A launcher whose columns stay in the memory that kernels read."""

    def result(self, buffer: Any) -> Any:
        buffer.device = "cuda"
        return buffer


class ResidentBuffers(FiberBuffers):
    """Buffers of such a launcher."""

    launchers: list[ResidentLauncher] = []  # noqa: RUF012

    def __init__(self, source: Any = None) -> None:
        super().__init__()
        self._launcher = ResidentLauncher()
        self.launchers.append(self._launcher)


def test_batches_are_joined_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    run_on_fibers(monkeypatch, ResidentBuffers)
    monkeypatch.setattr(headrace.Table, "to", lambda table, device, context=None: table)
    monkeypatch.setattr("headrace.api.scan.scan.copied_ahead", lambda batches, *_: batches)
    given: dict[str, Any] = {"dtypes": {"n": "int64", "s": "string", "day": "date32"}, "on_error": "reject"}
    found = headrace.scan_csv(FAULTY, batch_bytes=200, **given).read()
    expected = headrace.read_csv(FAULTY, **given)
    launcher = ResidentBuffers.launchers[-1]
    assert found.rejects.to_pydict() == expected.rejects.to_pydict()
    for title, column in expected.columns.items():
        mine = found[title]
        assert (mine.type, len(mine), mine.null_count) == (column.type, len(column), column.null_count)
        for name in ("values", "offsets"):
            buffer: Any = getattr(mine, name)
            assert buffer is None or launcher.fetch(buffer).tobytes() == bytes(memoryview(getattr(column, name)))


class LimitedLauncher(FiberLauncher):
    """Run with a limit on the columns of one batch, in bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._left = limit

    def allocate(self, nbytes: int, *, fill: int | None = None) -> HostBuffer:
        self._left -= nbytes
        if self._left < 0:
            raise MemoryLimitError(f"{nbytes} bytes do not fit")
        return super().allocate(nbytes, fill=fill)


class LimitedBuffers(FiberBuffers):
    """Buffers with a limit in bytes, and the bytes left for columns."""

    max_text, max_columns, sizes = 1 << 40, 1 << 40, []  # type: ignore[var-annotated]

    def send(self, text: Any, part: range) -> DeviceBuffer:
        if len(part) > self.max_text:
            raise MemoryLimitError(f"{len(part)} bytes do not fit")
        self.sizes.append(len(part))
        return super().send(text, part)

    def hold(self, buffer: DeviceBuffer) -> FiberLauncher:
        super().hold(buffer)
        launcher = LimitedLauncher(self.max_columns)
        launcher._buffers = self._launcher._buffers
        return launcher


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("made", [bytes, gzip.compress])
@pytest.mark.parametrize("limits", [{"max_text": 90_000}, {"max_columns": 540_000}])
def test_a_part_that_does_not_fit_comes_in_halves(monkeypatch: pytest.MonkeyPatch, made: Any, limits: dict[str, int]) -> None:
    run_on_fibers(monkeypatch, LimitedBuffers)
    for name, limit in limits.items():
        monkeypatch.setattr(LimitedBuffers, name, limit)
    monkeypatch.setattr(LimitedBuffers, "sizes", [])
    data = b"n,s\n" + b"".join(b'%d,"text %d"\n' % (i, i) for i in range(22_000))
    expected = headrace.read_csv(data, dtypes={"n": "int64", "s": "string"})
    scan = headrace.scan_csv(made(data), batch_bytes=1 << 18, dtypes={"n": "int64", "s": "string"})
    batches = list(scan.batches())
    assert ("shrink", 0) in FiberBuffers.notes
    assert len(batches) > 2
    assert max(LimitedBuffers.sizes[-2:]) <= 1 << 17
    for name in ("n", "s"):
        assert [value for batch in batches for value in batch[name].to_pylist()] == expected[name].to_pylist()
    assert scan.report.rows == expected.num_rows


def test_no_part_is_small_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    run_on_fibers(monkeypatch, LimitedBuffers)
    monkeypatch.setattr(LimitedBuffers, "max_columns", 1000)
    scan = headrace.scan_csv(b"n\n" + b"1\n" * 100_000, dtypes={"n": "int64"})
    with pytest.raises(MemoryLimitError, match="do not fit"):
        list(scan.batches())
    with pytest.raises(headrace.HeadraceError, match="when all its batches have been read"):
        _ = scan.report
    assert not [thread for thread in threading.enumerate() if thread.name == "headrace-sender"]


def test_types_of_a_single_batch_that_comes_in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return a text whose first half contains only integers."""
    run_on_fibers(monkeypatch, LimitedBuffers)
    monkeypatch.setattr(LimitedBuffers, "max_text", 90_000)
    monkeypatch.setattr(LimitedBuffers, "sizes", [])
    data = b"n\n" + b"".join(b"%d\n" % i for i in range(22_000)) + b"x\n"
    batches = list(headrace.scan_csv(data, batch_bytes=1 << 18).batches())
    assert len(batches) > 1 and {str(batch["n"].type) for batch in batches} == {"string"}
    assert [value for batch in batches for value in batch["n"].to_pylist()] == [*map(str, range(22_000)), "x"]
