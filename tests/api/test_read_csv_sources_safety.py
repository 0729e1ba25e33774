"""Sources that misbehave, memory that runs out, and a process that does other things at the same time."""

from __future__ import annotations

import array
import io
import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import headrace
from headrace import Context, MemoryLimitError, OptionError, ParseError, SourceError, Table, read_csv

BIG = 200 << 20
SMALL = b"a,b\n1,x\n2,y\n"
EXPECTED = {"a": [1, 2], "b": ["x", "y"]}


def read(source: object, **options: object) -> Table:
    table = read_csv(source, **options)  # type: ignore[arg-type]
    table.report.check()
    return table


def test_directory(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is a directory; name a file in it"):
        read(tmp_path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        read(tmp_path / "none.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(SMALL)
    (tmp_path / "a.csv").chmod(0)
    with pytest.raises(PermissionError, match=r"a\.csv"):
        read(tmp_path / "a.csv")


def test_path_with_nul() -> None:
    with pytest.raises((ValueError, SourceError), match="null byte"):
        read("a\0b")


def test_descriptors_are_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    before = len(os.listdir("/proc/self/fd"))
    for content in (SMALL, b"", b"a\n\xff\n", b"\xff\xfea\0"):
        path.write_bytes(content)
        try:
            read(path)
        except headrace.HeadraceError:
            pass
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.fixture(scope="module")
def sparse_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """200 MB of records: text in front, then NUL bytes as one long field, which cost no disk."""
    path = tmp_path_factory.mktemp("sparse") / "sparse.csv"
    with path.open("wb") as file:
        file.write(b"a,b\n" + b"1,x\n" * 1_000_000)
    yield path
    path.unlink()


def restore(path: Path) -> None:
    """Records of 64 KB, mostly holes, up to 200 MB."""
    record = 1 << 16
    with path.open("r+b") as file:
        file.truncate(4_000_004)
        for at in range(4_000_004, BIG, record):
            file.seek(at)
            file.write(b"1,")
            file.seek(at + record - 1)
            file.write(b"\n")


@pytest.mark.parametrize("to", [0, 1000, 3_999_999, 100 << 20])
@pytest.mark.parametrize("delay", [0.0, 0.005, 0.03])
def test_file_that_shrinks_while_it_is_read(sparse_file: Path, to: int, delay: float) -> None:
    """SourceError, or the whole right answer where the reader was faster."""
    restore(sparse_file)
    rows = 1_000_000 + len(range(4_000_004, BIG, 1 << 16))

    def shrink() -> None:
        time.sleep(delay)
        os.truncate(sparse_file, to)

    thread = threading.Thread(target=shrink)
    thread.start()
    try:
        table = read(sparse_file, threads=2)
    except SourceError as error:
        assert str(sparse_file) in str(error)
        assert "shrank" in str(error) or "changed" in str(error)
    except headrace.EmptyInputError:
        assert to == 0
    else:
        rows_if_truncated_before = (to - 4 + 3) // 4 if to < 4_000_004 else 1_000_000 + (to - 4_000_004) // (1 << 16) + 1
        assert table.num_rows in (rows, rows_if_truncated_before)
    finally:
        thread.join()


def test_file_that_grows_while_it_is_read(sparse_file: Path) -> None:
    restore(sparse_file)
    stop = threading.Event()

    def grow() -> None:
        with sparse_file.open("ab") as file:
            while not stop.is_set():
                file.write(b"1,z\n")
                file.flush()
                time.sleep(0.001)

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        with pytest.raises(SourceError, match=r"changed while it was read \(it had \d+ bytes, now \d+\); read it again"):
            read(sparse_file)
    finally:
        stop.set()
        thread.join()


def test_fifo(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(SMALL))
    writer.start()
    assert read(path).to_pydict() == EXPECTED
    writer.join()


def test_devices() -> None:
    with pytest.raises(headrace.EmptyInputError):
        read("/dev/null")


def test_file_objects(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"zz" + SMALL)
    with path.open("rb") as file:
        file.seek(2)
        assert read(file).to_pydict() == EXPECTED
    with path.open("rb", buffering=0) as raw:
        raw.seek(2)
        assert read(raw).to_pydict() == EXPECTED
    assert read(io.StringIO("a,b\n1,é\n")).to_pydict() == {"a": [1], "b": ["é"]}
    with path.open() as text:
        text.read(2)
        assert read(text).to_pydict() == EXPECTED


def test_closed_file_object() -> None:
    file = io.BytesIO(SMALL)
    file.close()
    with pytest.raises(ValueError, match="closed file"):
        read(file)


@pytest.mark.parametrize("given", [None, 5, 2.5, ["a"], {"a": 1}, object()], ids=repr)
def test_unsupported_source(given: object) -> None:
    with pytest.raises(OptionError, match=f"source must be a path, bytes or a file object, not {type(given).__name__}"):
        read(given)


class ReadsTo:
    def __init__(self, content: object) -> None:
        self.content = content

    def read(self) -> object:
        return self.content


@pytest.mark.parametrize("content", [None, 5, ["a"], object()], ids=repr)
def test_file_object_that_gives_no_bytes(content: object) -> None:
    """A non-blocking stream without data gives None."""
    with pytest.raises((OptionError, SourceError), match="read"):
        read(ReadsTo(content))


def test_file_object_that_raises() -> None:
    class Broken:
        def read(self) -> bytes:
            raise ConnectionResetError("gone")

    with pytest.raises(ConnectionResetError, match="gone"):
        read(Broken())


def test_buffers() -> None:
    assert read(bytearray(SMALL)).to_pydict() == EXPECTED
    assert read(memoryview(SMALL)).to_pydict() == EXPECTED
    assert read(memoryview(bytearray(SMALL)).toreadonly()).to_pydict() == EXPECTED
    assert read(array.array("B", SMALL)).to_pydict() == EXPECTED
    assert read(memoryview(b"00" + SMALL + b"99")[2:-2]).to_pydict() == EXPECTED
    with mmap.mmap(-1, len(SMALL)) as mapped:
        mapped[:] = SMALL
        assert read(mapped).to_pydict() == EXPECTED
    with pytest.raises(OptionError, match=r"contiguous; pass bytes\(source\)"):
        read(memoryview(SMALL)[::2])


def test_strings_do_not_point_into_the_source() -> None:
    source = bytearray(SMALL)
    table = read(source)
    source[:] = b"z" * len(source)
    source.clear()  # no export is left
    assert table.to_pydict() == EXPECTED


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


@pytest.mark.parametrize("values", [b"1,2\n", b"text of some length,more of that\n", b'"quo""ted",x\n'])
def test_memory_limit(values: bytes) -> None:
    data = b"a,b\n" + values * ((40 << 20) // len(values))
    headrace.release_unused_memory()
    before = resident_bytes()
    for _ in range(3):
        with pytest.raises(MemoryLimitError, match=r"limit|memory"):
            read(data, context=Context(memory_limit=8 << 20))
    headrace.release_unused_memory()
    assert resident_bytes() - before < 24 << 20
    assert read(data, context=Context(memory_limit=400 << 20)).num_rows == (40 << 20) // len(values)


def test_memory_limit_counts_rejects() -> None:
    data = b"a\n" + b"x\n" * 1_000_000
    with pytest.raises(MemoryLimitError):
        read(data, dtypes={"a": "int64"}, on_error="null", context=Context(memory_limit=32 << 20))


def test_address_space_runs_out() -> None:
    """No memory is an error, not a crash; in a process of its own."""
    code = """
import resource, headrace
data = b"a,b,c\\n" + b"1,text,2.5\\n" * 5_000_000
resource.setrlimit(resource.RLIMIT_AS, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + (120 << 20), -1))
try:
    print(headrace.read_csv(data, threads=2).num_rows)
except headrace.MemoryLimitError as error:
    print("MemoryLimitError", error)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(("MemoryLimitError", "5000000"))


INTERRUPTED = """
import sys, headrace
data = b"a,b,c\\n" + b"1.25,text,2020-01-01 00:00:00\\n" * 10_000_000
print("ready", flush=True)
try:
    while True:
        headrace.read_csv(data, threads=int(sys.argv[1]))
except KeyboardInterrupt:
    print("interrupted", flush=True)
    print(headrace.read_csv(b"a\\n1\\n").to_pydict(), flush=True)
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_interrupt(threads: int) -> None:
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED, str(threads)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - sent < 2
        assert process.stdout.readline() == "{'a': [1]}\n"
        assert process.wait(10) == 0


def test_reads_at_the_same_time() -> None:
    texts = [b"a,b\n" + b"%d,t%d\n" % (i, i) * 20_000 for i in range(4)]
    found: dict[int, list[Table]] = {i: [] for i in range(4)}

    def work(i: int) -> None:
        for _ in range(10):
            found[i].append(read(texts[i], threads=2, chunk_bytes=10_000))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, tables in found.items():
        assert len(tables) == 10
        for table in tables:
            assert table.to_pydict() == {"a": [i] * 20_000, "b": [f"t{i}"] * 20_000}


def test_other_threads_run_during_a_read() -> None:
    """The read lets Python's lock go."""
    data = b"a,b\n" + b"1.25,text\n" * 6_000_000
    begun = time.perf_counter()
    done = threading.Event()

    def work() -> None:
        read(data, threads=1)
        done.set()

    ticks = 0
    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        time.sleep(0.001)
        ticks += 1
    thread.join()
    assert ticks > 5, time.perf_counter() - begun


def test_fork_after_a_read() -> None:
    data = b"a,b\n" + b"1,x\n" * 100_000
    read(data, threads=2, chunk_bytes=10_000)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if read(data, threads=2, chunk_bytes=10_000).num_rows == 100_000 else 2
        finally:
            os._exit(code)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


def test_error_of_one_read_leaves_the_next_alone() -> None:
    bad = b"a\n" + b"1\n" * 50_000 + b"x\n" + b"1\n" * 50_000
    for _ in range(20):
        with pytest.raises(ParseError, match="record 50001 "):
            read(bad, dtypes={"a": "int64"}, threads=4, chunk_bytes=1000)
        assert read(SMALL).to_pydict() == EXPECTED
