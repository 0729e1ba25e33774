"""Tests sources of every kind, and those that misbehave: that change while they are read, give nothing, or are no source."""

from __future__ import annotations

import array
import contextlib
import io
import mmap
import os
import threading
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import headrace
from headrace import OptionError, ParseError, SourceError, Table, read_csv

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
    with pytest.raises((ValueError, SourceError), match="holds a character that no path can hold"):
        read("a\0b")


def test_descriptors_are_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    before = len(os.listdir("/proc/self/fd"))
    for content in (SMALL, b"", b"a\n\xff\n", b"\xff\xfea\0"):
        path.write_bytes(content)
        with contextlib.suppress(headrace.HeadraceError):
            read(path)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.fixture(scope="module")
def sparse_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """200 MB of records: text in front, then NUL bytes as one long field, which cost no disk."""
    path = tmp_path_factory.mktemp("sparse") / "sparse.csv"
    path.touch()
    yield path
    path.unlink()


def restore(path: Path) -> None:
    """Records of 64 KB, mostly holes, up to 200 MB."""
    record = 1 << 16
    with path.open("r+b") as file:
        file.write(b"a,b\n" + b"1,x\n" * 1_000_000)
        file.truncate()
        for at in range(4_000_004, BIG, record):
            file.seek(at)
            file.write(b"1,")
            file.seek(at + record - 1)
            file.write(b"\n")


@pytest.mark.covering(default=1)
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
        message = str(error)
        told = str(sparse_file) in message and ("shrank" in message or "changed" in message)
        assert told, message
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


@pytest.mark.parametrize("form", [str, Path, lambda path: [path], lambda path: f"{path[:-1]}[{path[-1]}]"])
def test_files_that_seem_to_be_empty(form: Callable[[str], Any]) -> None:
    """By stat, a file of the proc file system has 0 bytes."""
    path = "/proc/self/mounts"
    text = Path(path).read_bytes()
    assert (os.stat(path).st_size, text.count(b"\n") > 0) == (0, True)
    expected = read(text, sep=" ", header=False)
    assert read(form(path), sep=" ", header=False).to_pydict() == expected.to_pydict()
    scanned = headrace.scan_csv(form(path), sep=" ", header=False, batch_bytes=100).read()
    assert (scanned.to_pydict(), scanned.report.bytes) == (expected.to_pydict(), len(text))
    assert headrace.sniff_csv(form(path)).sep == headrace.sniff_csv(text).sep
    with open(path, "rb") as file:
        assert read(file, sep=" ", header=False).to_pydict() == expected.to_pydict()


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


def test_answer_of_a_web_server() -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(SMALL)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.handle_request).start()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://127.0.0.1:{server.server_port}/a.csv", timeout=30) as answer:
            assert read(answer).to_pydict() == EXPECTED


@pytest.mark.parametrize("url", ["https://example.org/a.csv", "s3://bucket/*.csv"])
@pytest.mark.parametrize("glob", [False, True])
def test_a_url_says_what_to_pass_instead(url: str, glob: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for source in (url, [url]):
        with pytest.raises(
            FileNotFoundError, match=r"is a URL, and only local files are opened by name; pass fsspec\.open\(url\)"
        ):
            read(source, glob=glob)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / url
    path.parent.mkdir(parents=True)
    path.write_bytes(SMALL)
    assert read(url, glob=glob).to_pydict() == EXPECTED


def test_a_url_of_a_local_file_says_its_path(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=rf"is a URL of a local file; pass its path: '{tmp_path}/a\.csv'"):
        read(f"file://{tmp_path}/a.csv")


def test_file_objects_that_cannot_be_read(tmp_path: Path) -> None:
    file = io.BytesIO(SMALL)
    file.close()
    with pytest.raises(ValueError, match="source is a file object that is closed"):
        read(file)
    for mode in ("w", "wb", "ab"):
        with (
            (tmp_path / "written").open(mode) as written,
            pytest.raises(OptionError, match="open for writing only; open it with"),
        ):
            read(written)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", SMALL)
        with pytest.raises(OptionError, match=r"an archive; pass one of its files: archive\.open\(name\)"):
            read(archive)
        assert read(archive.open("a.csv")).to_pydict() == EXPECTED


def test_file_object_that_does_not_say_whether_it_is_readable() -> None:
    class Stream(io.RawIOBase):
        def __init__(self) -> None:
            self.rest = io.BytesIO(SMALL)

        def readinto(self, buffer: Any) -> int:
            return self.rest.readinto(buffer)

    assert read(Stream()).to_pydict() == EXPECTED


@pytest.mark.parametrize("given", [None, 5, 2.5, {"a": 1}, object()], ids=lambda given: type(given).__name__)
@pytest.mark.parametrize("listed", [False, True])
def test_unsupported_source(given: object, listed: bool) -> None:
    with pytest.raises(OptionError, match=f"source must be a path, bytes or a file object, not {type(given).__name__}"):
        read([given] if listed else given)


class ReadsTo:
    def __init__(self, content: object) -> None:
        self.content = content

    def read(self) -> object:
        return self.content


@pytest.mark.parametrize("content", [None, 5, ["a"], object()], ids=lambda given: type(given).__name__)
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


PAGE = Path("/sys/devices/system/cpu/online")


@pytest.mark.skipif(not PAGE.exists(), reason="there is no /sys")
@pytest.mark.parametrize("form", [str, Path, lambda path: [path, path]])
def test_a_file_that_is_shorter_than_its_size_is_read_to_its_end(form: Callable[[str], Any]) -> None:
    """`stat` gives the size of a page for files of /sys."""
    assert PAGE.stat().st_size > len(PAGE.read_bytes())
    source = form(str(PAGE))
    table = read(source, header=False, dtypes="string", sep="\t")
    assert set(table["column_1"].to_pylist()) == {PAGE.read_text().rstrip("\n")}
    assert table.report.records == table.num_rows == (2 if isinstance(source, list) else 1)
    with open(PAGE, "rb") as file:
        assert read(file, header=False)["column_1"].to_pylist() == read(PAGE, header=False)["column_1"].to_pylist()


MOUNTS = Path("/proc/self/mounts")


@pytest.mark.skipif(not MOUNTS.exists(), reason="there is no /proc")
@pytest.mark.parametrize("read", ["read_csv", "read_files", "scan_csv", "sniff_csv", "file object"])
def test_a_file_without_a_size_is_read_to_its_end(read: str) -> None:
    """`stat` gives 0 for files of /proc."""
    options: dict[str, Any] = {"sep": " ", "header": False, "quote_char": None}
    expected = [line.split(" ")[1] for line in MOUNTS.read_text().splitlines()]
    assert MOUNTS.stat().st_size == 0 and expected
    if read == "sniff_csv":
        assert headrace.sniff_csv(MOUNTS) == headrace.sniff_csv(MOUNTS.read_bytes())
        return
    if read == "read_files":
        table = headrace.read_csv([MOUNTS, MOUNTS], **options)
        expected *= 2
    elif read == "scan_csv":
        table = headrace.scan_csv(MOUNTS, batch_bytes=100, **options).read()
    elif read == "file object":
        with MOUNTS.open("rb") as file:
            table = headrace.read_csv(file, **options)
    else:
        table = headrace.read_csv(MOUNTS, **options)
    assert table["column_2"].to_pylist() == expected


def test_a_file_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/Stra\xdfe.csv"
    with open(path, "wb") as file:
        file.write(b"a,b\n1,x\n")
    for given in (os.fsdecode(path), Path(os.fsdecode(path)), str(tmp_path / "*.csv")):
        assert read_csv(given).to_pydict() == {"a": [1], "b": ["x"]}
    with pytest.raises(ParseError, match="column 'a'"):
        read_csv(os.fsdecode(path), dtypes={"a": "bool"}, true_values=["yes"])
