"""Files that are opened by a `with` block, as `fsspec.open` gives them: read, scanned, sniffed and written."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

import headrace

TEXT = b"a,b\n1,x\n2,y\n"
EXPECTED = {"a": [1, 2], "b": ["x", "y"]}


class OpenFile:
    """Twin of the result of `fsspec.open`, as far as its interface goes: nothing is open before the `with` block."""

    def __init__(self, path: Path, mode: str = "rb") -> None:
        self.path, self.mode = path, mode
        self.opened: list[io.IOBase] = []

    @property
    def full_name(self) -> str:
        return f"file://{self.path}"

    def __enter__(self) -> io.IOBase:
        self.opened.append(self.path.open(self.mode))  # type: ignore[arg-type]
        return self.opened[-1]

    def __exit__(self, *error: object) -> None:
        while self.opened:
            self.opened.pop().close()

    def open(self) -> io.IOBase:
        return self.__enter__()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "a.csv"
    made.write_bytes(TEXT)
    return made


@pytest.mark.parametrize("mode", ["rb", "r"])
def test_read_and_scanned(path: Path, mode: str) -> None:
    file = OpenFile(path, mode)
    assert headrace.read_csv(file).to_pydict() == EXPECTED
    assert headrace.read_csv(file, dialect="auto").to_pydict() == EXPECTED
    assert headrace.scan_csv(file).read().to_pydict() == EXPECTED
    assert headrace.scan_csv(file, batch_bytes=4).read().to_pydict() == EXPECTED
    assert headrace.scan_csv(file, skip_footer=1).read().num_rows == 1
    assert headrace.sniff_csv(OpenFile(path)).sep == ","
    assert not file.opened


def test_several(path: Path, tmp_path: Path) -> None:
    packed = tmp_path / "b.csv.gz"
    packed.write_bytes(gzip.compress(TEXT))
    files = [OpenFile(path), OpenFile(packed)]
    twice = {"a": [1, 2, 1, 2], "b": ["x", "y", "x", "y"]}
    assert headrace.read_csv(files).to_pydict() == twice
    assert headrace.scan_csv(files).read().to_pydict() == twice


def test_messages_name_the_file(path: Path) -> None:
    path.write_bytes(gzip.compress(TEXT)[:-12])
    for call in (headrace.read_csv, headrace.scan_csv):
        with pytest.raises(headrace.SourceError, match=r"file://.*a\.csv"):
            list(call(OpenFile(path)))
    with pytest.raises(FileNotFoundError):
        headrace.read_csv(OpenFile(path.with_name("missing")))


def test_written(path: Path) -> None:
    target = OpenFile(path.with_name("out.csv"), "wb")
    assert headrace.write_csv(headrace.read_csv(path), target) is None
    assert target.path.read_bytes() == TEXT
    with pytest.raises(headrace.OptionError, match="open it in binary mode"):
        headrace.write_csv(headrace.read_csv(path), OpenFile(path.with_name("out.csv"), "w"))
