"""Tests compressed sources that are truncated, corrupt, followed by other bytes, or too large."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import lz4.frame
import pytest
import zstandard

import headrace
from headrace import Context, MemoryLimitError, MissingDependencyError, OptionError, SourceError
from headrace.sources.compression import adapters

TEXT = b"a,b\n" + b"".join(b"%d,value %d\n" % (i, i * i) for i in range(50))


def zipped(text: bytes) -> bytes:
    """Return an archive of one file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", text)
    return file.getvalue()


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "lz4": lambda text: lz4.frame.compress(text, content_checksum=True, block_checksum=True),
    "zip": zipped,
}
ALL = pytest.mark.parametrize("form", COMPRESS)


@pytest.fixture(params=["isal", "zlib"])
def each_gzip(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run with isal and with the standard library's zlib."""
    if request.param == "zlib":
        monkeypatch.setattr(adapters, "gzip_module", lambda: zlib)
    else:
        assert adapters.gzip_module().__name__ == "isal.isal_zlib"


@ALL
@pytest.mark.usefixtures("each_gzip")
def test_cut_off_at_every_byte(form: str) -> None:
    whole = COMPRESS[form](TEXT)
    for size in range(len(whole)):
        with pytest.raises(SourceError, match=f"<bytes> cannot be decompressed as {form}: .*byte 0"):
            headrace.read_csv(whole[:size], compression=form)  # type: ignore[arg-type]


@ALL
def test_cut_off_in_the_second_member(form: str) -> None:
    first = COMPRESS[form](TEXT)
    for size in range(len(first) + 1, 2 * len(first)):
        with pytest.raises(SourceError, match=rf"cannot be decompressed as {form}: .*byte ({len(first)}|0)\b"):
            headrace.read_csv((first * 2)[:size])


@ALL
@pytest.mark.usefixtures("each_gzip")
@pytest.mark.parametrize("begin", [0, *(pytest.param(begin, marks=pytest.mark.long) for begin in range(1, 5))])
def test_every_flipped_bit_is_found_or_harmless(begin: int, form: str) -> None:
    """Some bits of a header do not affect the text (those of a time, for example); no bit gives another text.

    A test flips each fifth bit, so that by default all places of a byte have their turn.
    """
    whole = COMPRESS[form](TEXT)
    expected = headrace.read_csv(TEXT).to_pydict()
    harmless = 0
    for bit in range(begin, 8 * len(whole), 5):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            table = headrace.read_csv(flipped, compression=form)  # type: ignore[arg-type]
        except (SourceError, MemoryLimitError):
            continue
        assert table.to_pydict() == expected
        harmless += 1
    assert harmless < (140 if form == "zip" else 20)  # a zip archive has two headers, with names, times and versions


@ALL
def test_something_else_behind_the_end(form: str) -> None:
    whole = COMPRESS[form](TEXT)
    for behind in (b"a", b"a,b\n1,2\n", b"\0\0\0a"):
        with pytest.raises(SourceError, match=f"after its end, which is not {form}"):
            headrace.read_csv(whole + behind)


@pytest.mark.long_except("gzip", "zstd", "lz4")
@ALL
def test_a_bomb_is_bounded_by_the_memory_limit(form: str) -> None:
    bomb = COMPRESS[form](b"a\n" + bytes(200_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(MemoryLimitError, match="memory_limit = 1000000"):
            headrace.read_csv(bomb, context=Context(memory_limit=1_000_000))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@ALL
def test_text_and_table_share_the_memory_limit(form: str) -> None:
    text = b"a\n" + b"12345678\n" * 100_000
    packed = COMPRESS[form](text)
    assert headrace.read_csv(packed, context=Context(memory_limit=2_000_000)).num_rows == 100_000
    with pytest.raises(MemoryLimitError):
        headrace.read_csv(packed, context=Context(memory_limit=1_000_000))


@ALL
def test_not_asked_for(form: str) -> None:
    with pytest.raises(SourceError, match=f"<bytes> is {form}; pass compression='infer'"):
        headrace.read_csv(COMPRESS[form](TEXT), compression=None)


@ALL
def test_asked_for_and_not_there(form: str) -> None:
    with pytest.raises(SourceError, match=f"cannot be decompressed as {form}"):
        headrace.read_csv(TEXT, compression=form)  # type: ignore[arg-type]


def test_unknown_compression() -> None:
    with pytest.raises(OptionError, match="did you mean 'gzip'"):
        headrace.read_csv(TEXT, compression="gzipp")  # type: ignore[arg-type]


def test_zip_of_several_files_is_refused(tmp_path: Path) -> None:
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(tmp_path / "a.zip", "w", method) as archive:
            archive.writestr("a.csv", TEXT)
            archive.writestr("b.csv", TEXT)
        with pytest.raises(SourceError, match="has several files; pass one of them: zipfile"):
            headrace.read_csv(tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    with pytest.raises(SourceError, match="is a zip archive without a file"):
        headrace.read_csv(tmp_path / "empty.zip")


def test_zip_that_is_encrypted_or_uses_another_method() -> None:
    whole = bytearray(COMPRESS["zip"](TEXT))
    for place, value, message in ((6, 1, "is encrypted"), (8, 12, "uses method 12"), (14 + 4, 0xFF, None)):
        changed = whole.copy()
        changed[place] = value
        if message is None:
            assert headrace.read_csv(bytes(changed)).to_pydict() == headrace.read_csv(TEXT).to_pydict()
            continue
        with pytest.raises(SourceError, match=message):
            headrace.read_csv(bytes(changed))


@pytest.mark.parametrize(("form", "package"), [("zstd", "zstandard"), ("lz4", "lz4")])
def test_missing_package(form: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("zstandard", "compression.zstd", "lz4.frame"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match=rf"needs {package}; .*headrace\[compression\]"):
        headrace.read_csv(COMPRESS[form](TEXT))


def test_importing_needs_none_of_the_packages() -> None:
    code = "import sys, headrace; assert not {'zstandard', 'lz4', 'isal', 'lzma', 'bz2'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_file_object_of_compressed_bytes_and_one_of_text() -> None:
    packed = gzip.compress(TEXT)
    expected = headrace.read_csv(TEXT).to_pydict()
    assert headrace.read_csv(io.BytesIO(packed)).to_pydict() == expected
    with gzip.open(io.BytesIO(packed), "rt") as text:
        assert headrace.read_csv(text).to_pydict() == expected
