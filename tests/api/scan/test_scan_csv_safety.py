"""Scans of changing sources and misfits, with little memory, interrupted or closed: an error or a reject, and no remains."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import headrace
from headrace import HeadraceError, MemoryLimitError, OptionError, ParseError, Position, SourceError

ROWS = 20_000
TEXT = b"n,s\n" + b"".join(b"%d,text %d\n" % (i, i) for i in range(ROWS))
BATCH = 1 << 14


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "rows.csv"
    file.write_bytes(TEXT)
    return file


def threads_of_texts() -> int:
    return sum(thread.name == "headrace-text" for thread in threading.enumerate())


@pytest.mark.parametrize("change", ["cut", "longer", "written"])
def test_a_file_that_changes_is_an_error(path: Path, change: str) -> None:
    batches = headrace.scan_csv(path, batch_bytes=BATCH, dtypes={"n": int, "s": str}).batches()
    next(batches)
    if change == "cut":
        os.truncate(path, len(TEXT) // 2)
    else:
        with path.open("r+b" if change == "written" else "ab") as file:
            file.write(b"1,2\n")
        os.utime(path, ns=(1, 1))
    with pytest.raises(SourceError, match=r"changed|shrank"):
        list(batches)


def test_a_file_that_changes_between_the_passes_is_an_error(path: Path) -> None:
    scan = headrace.scan_csv(path, batch_bytes=BATCH)
    assert scan.schema["n"] == headrace.DataType("int64")
    os.truncate(path, len(TEXT) // 2)
    with pytest.raises(SourceError, match="changed"):
        next(scan.batches())


class Broken(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        if self.tell() > len(TEXT) // 2:
            raise OSError("the line is cut")
        return super().read(size)


def test_a_stream_that_breaks_is_an_error_and_leaves_no_thread() -> None:
    scan = headrace.scan_csv(Broken(TEXT * 30), batch_bytes=BATCH, dtypes={"n": int, "s": str}, on_error="null")
    with pytest.raises(OSError, match="the line is cut"):
        list(scan.batches())
    scan.close()
    assert threads_of_texts() == 0


@pytest.mark.parametrize("infer", ["all", "first"])
def test_a_pipe_is_read_once(infer: Any) -> None:
    reading, writing = os.pipe()
    writer = threading.Thread(target=lambda: os.fdopen(writing, "wb").write(TEXT + TEXT[4:] * 10), daemon=True)
    writer.start()
    with headrace.scan_csv(f"/dev/fd/{reading}", batch_bytes=BATCH, infer=infer) as scan:
        assert sum(batch.num_rows for batch in scan.batches()) == 11 * ROWS
        if infer == "first":
            with pytest.raises(SourceError, match="only once"):
                list(scan.batches())
        else:  # it was kept, for its types
            assert sum(batch.num_rows for batch in scan.batches()) == 11 * ROWS
    writer.join()
    os.close(reading)


def test_a_pipe_is_an_arrow_stream_of_the_first_types() -> None:
    pa = pytest.importorskip("pyarrow")
    reading, writing = os.pipe()
    writer = threading.Thread(target=lambda: os.fdopen(writing, "wb").write(TEXT + TEXT[4:] * 10), daemon=True)
    writer.start()
    with headrace.scan_csv(f"/dev/fd/{reading}", batch_bytes=BATCH, infer="first") as scan:
        assert pa.RecordBatchReader.from_stream(scan).read_all().num_rows == 11 * ROWS
    writer.join()
    os.close(reading)


MISFITS = b"n\n" + b"1\n" * 1000 + b"2.5\n" + b"3\n" * 1000


def test_misfits_of_the_first_batch_are_faults() -> None:
    scan = headrace.scan_csv(MISFITS, batch_bytes=64, infer="first", on_error="reject")
    batches = list(scan.batches())
    assert sum(batch.num_rows for batch in batches) == 2000
    rejected = [batch.rejects.to_pydict() for batch in batches if batch.rejects.num_rows]
    assert [(one["record"], one["line"], one["field"]) for one in rejected] == [([1001], [1002], ["2.5"])]
    assert {batch.report.inferred_from for batch in batches} == {scan.report.inferred_from} == {"first"}
    assert "types are those of the first batch" in str(scan.report)
    scan.report.check()
    assert (scan.report.rows, scan.report.rejected) == (2000, 1)
    with pytest.raises(ParseError, match="record 1001"):
        list(headrace.scan_csv(MISFITS, batch_bytes=64, infer="first").batches())
    assert headrace.scan_csv(MISFITS, batch_bytes=64).schema["n"] == headrace.DataType("float64")


def test_a_raised_fault_comes_at_its_batch() -> None:
    given: list[int] = []
    with pytest.raises(ParseError, match="record 1001"):
        given += (batch.num_rows for batch in headrace.scan_csv(MISFITS, batch_bytes=64, dtypes={"n": int}).batches())
    assert 900 < sum(given) <= 1000


def test_a_batch_that_does_not_fit_is_cut_smaller(path: Path) -> None:
    path.write_bytes(TEXT + TEXT[4:] * 19)
    scan = headrace.scan_csv(path, batch_bytes=8 << 20, memory_limit=3 << 20, on_error="reject", threads=1)
    batches = [batch.num_rows for batch in scan.batches()]
    assert sum(batches) == 20 * ROWS
    assert len(batches) > len(TEXT) * 20 / (8 << 20)
    with pytest.raises(MemoryLimitError):
        list(headrace.scan_csv(b"n\n" + b"1," * 200_000, memory_limit=1000, on_error="reject", dtypes=str, names=["n"]).batches())


PEAK = """
import sys, headrace
from pathlib import Path
Path("/proc/self/clear_refs").write_text("5")
with headrace.scan_csv(sys.argv[1], batch_bytes=1 << 20) as scan:
    assert sum(batch.num_rows for batch in scan.batches()) == int(sys.argv[2])
print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")))
"""


@pytest.mark.parametrize("packed", [False, True])
def test_memory_is_flat(tmp_path: Path, packed: bool) -> None:
    """Runs in processes of their own, because the memory of other tests in this process varies."""
    import gzip

    file = tmp_path / "long.csv"
    body = TEXT[4:] * 4
    sizes = []
    for times in (20, 80):
        with gzip.open(file, "wb", compresslevel=1) if packed else file.open("wb") as out:
            out.write(b"n,s\n")
            for _ in range(times):
                out.write(body)
        command = [sys.executable, "-c", PEAK, str(file), str(times * 4 * ROWS)]
        sizes.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    assert sizes[1] < sizes[0] + 24_000


def test_progress_goes_up_to_the_size(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.api.scan.scan_cpu.PROGRESS_SECONDS", 0.0)
    told: list[tuple[int, int]] = []
    scan = headrace.scan_csv(path, batch_bytes=BATCH, dtypes={"n": int, "s": str}, progress=lambda *now: told.append(now))
    assert sum(batch.num_rows for batch in scan.batches()) == ROWS
    assert [done for done, _ in told] == [*range(BATCH, len(TEXT), BATCH), len(TEXT)]
    assert {total for _, total in told} == {len(TEXT)}


def test_what_progress_raises_ends_the_scan(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tell(done: int, _: int) -> None:
        if done > 3 * BATCH:
            raise KeyboardInterrupt

    monkeypatch.setattr("headrace.api.scan.scan_cpu.PROGRESS_SECONDS", 0.0)
    batches = headrace.scan_csv(path, batch_bytes=BATCH, dtypes={"n": int, "s": str}, progress=tell).batches()
    assert len([next(batches) for _ in range(3)]) == 3
    with pytest.raises(KeyboardInterrupt):
        next(batches)
    with pytest.raises(StopIteration):
        next(batches)


def test_interrupt(path: Path) -> None:
    """Ctrl-C ends a scan, whatever the scan is doing, and the next scan works."""
    code = """
import os, signal, sys, threading, time, headrace
def strike():
    time.sleep(0.4)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=strike, daemon=True).start()
try:
    while True:
        for batch in headrace.scan_csv(sys.argv[1], batch_bytes=1 << 16).batches():
            pass
except KeyboardInterrupt:
    print(sum(batch.num_rows for batch in headrace.scan_csv(sys.argv[1], batch_bytes=1 << 16).batches()))
"""
    ended = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.split() == [str(ROWS)]


def test_a_batch_left_early_leaves_nothing() -> None:
    with headrace.scan_csv(io.BytesIO(TEXT * 40), batch_bytes=BATCH, on_error="null") as scan:
        batches = scan.batches()
        assert next(batches)["n"][0] == "0"
        batches.close()  # type: ignore[attr-defined]
    assert threads_of_texts() == 0
    with pytest.raises(HeadraceError, match="closed"):
        next(scan.batches())
    with pytest.raises(HeadraceError, match="all its batches"):
        _ = scan.report


@pytest.mark.parametrize(
    "make", [bytes, gzip.compress, io.BytesIO, lambda text: [b"n\n0\n", text]], ids=["bytes", "gz", "file", "two"]
)
@pytest.mark.parametrize("infer", ["all", "first"])
def test_resumed_at_the_end_and_beyond(make: Any, infer: Any) -> None:
    """At the end there are no rows. A text that ends earlier is another one, or was cut."""
    text = b"n\n1\n22\n"
    at_end = headrace.scan_csv(make(text), infer=infer).read().report
    file = 1 if isinstance(make(text), list) else 0
    end = headrace.scan_csv(make(text), infer=infer, resume=Position(len(text), 2, file))
    assert (end.read().num_rows, at_end.rows) == (0, 2 + file)
    with pytest.raises(OptionError, match="resume is byte 9, but the text ends at byte 7"):
        headrace.scan_csv(make(text), infer=infer, resume=Position(9, 2, file)).read()
    with pytest.raises(OptionError, match=f"resume is in file {file + 1}, counted from 0, but there are {file + 1} files"):
        headrace.scan_csv(make(text), infer=infer, resume=Position(7, 2, file + 1)).read()


def test_misuse() -> None:
    with pytest.raises(OptionError, match="infer"):
        headrace.scan_csv(TEXT, infer="some")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="shrink"):
        headrace.scan_csv(TEXT, shrink=True)
    with pytest.raises(OptionError, match="batch_bytes"):
        headrace.scan_csv(TEXT, batch_bytes=0)
    with pytest.raises(OptionError, match="resume"):
        headrace.scan_csv(TEXT, resume="end")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="records must be an integer from 0 on, not -1"):
        headrace.scan_csv(TEXT).limit(-1)
    with pytest.raises(OptionError, match="delimiter"):
        headrace.scan_csv(TEXT, delimeter=";")
    with pytest.raises(FileNotFoundError):
        next(headrace.scan_csv("/nowhere/at all.csv").batches())


class Endless(io.RawIOBase):
    """A text without an end, and its number of bytes that were read."""

    def __init__(self, start: bytes, item: bytes) -> None:
        self.rest, self.item, self.nbytes = start, item, 0

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        while len(self.rest) < len(into):
            self.rest += self.item * 1000
        into[:] = self.rest[: len(into)]
        self.rest = self.rest[len(into) :]
        self.nbytes += len(into)
        if self.nbytes > 1 << 30:
            raise OSError("1 GiB was read")
        return len(into)


@pytest.mark.parametrize(
    ("start", "item", "options"),
    [(b"", b"x", {}), (b"a,b\n1,", b"x", {"dtypes": str}), (b"a\n", b"1\n", {"skip_footer": 1})],
    ids=["header", "record", "footer"],
)
def test_a_memory_limit_bounds_the_text_that_is_held(start: bytes, item: bytes, options: dict[str, Any]) -> None:
    """A record, or a text of which the end must be known, is held whole. Without an end it would take all memory."""
    text = Endless(start, item)
    with pytest.raises(MemoryLimitError, match="memory_limit = 4000000 bytes"):
        list(headrace.scan_csv(text, memory_limit=4_000_000, threads=1, **options).batches())
    assert text.nbytes < 1 << 26


def test_a_memory_limit_bounds_the_text_of_a_stream_that_is_read() -> None:
    text = Endless(b"a\n", b"1\n")
    with pytest.raises(MemoryLimitError, match="the text of <file object> is longer than memory_limit = 4000000 bytes"):
        headrace.read_csv(text, n_rows=1, context=headrace.Context(memory_limit=4_000_000))
    assert text.nbytes < 1 << 23
