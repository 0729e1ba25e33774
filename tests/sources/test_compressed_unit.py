"""Tests compressed sources: recognised by their first bytes, members concatenated, positions in the text."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import lz4.frame
import pytest
import zstandard

import headrace
from headrace import ParseError
from headrace.sources.compression.formats import recognised


def zipped(text: bytes) -> bytes:
    """Return an archive of one file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", text)
    return file.getvalue()


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "bz2": bz2.compress,
    "xz": lambda text: lzma.compress(text, preset=0),
    "lz4": lz4.frame.compress,
    "zip": zipped,
}
ALL = pytest.mark.parametrize("form", COMPRESS)


@ALL
def test_recognised_whatever_the_name_is(form: str, tmp_path: Path) -> None:
    packed = COMPRESS[form](b"a,b\n1,x\n")
    (tmp_path / "plain.csv").write_bytes(packed)
    for source in (packed, tmp_path / "plain.csv", (tmp_path / "plain.csv").open("rb")):
        for compression in ("infer", form):
            table = headrace.read_csv(source, compression=compression)  # type: ignore[arg-type]
            assert table.to_pydict() == {"a": [1], "b": ["x"]}
            assert table.report.bytes == 8
            if hasattr(source, "seek"):
                source.seek(0)


@ALL
def test_members_one_behind_the_other(form: str) -> None:
    """A member may end anywhere, also within a record, and may be empty."""
    compress = COMPRESS[form]
    packed = compress(b"a,b\n1,") + compress(b"") + compress(b"x\n2") + compress(b",y\n")
    assert headrace.read_csv(packed).to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


@ALL
def test_larger_than_every_piece(form: str) -> None:
    text = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * 7919 % 1000003) for i in range(200_000))
    packed = COMPRESS[form](text[:1_500_000]) + COMPRESS[form](text[1_500_000:])
    assert headrace.read_csv(packed).to_pydict() == headrace.read_csv(text).to_pydict()


@pytest.mark.parametrize("form", ["gzip", "xz"])
@pytest.mark.parametrize("zeros", [1, 4, 512, 1_000_000])
def test_padding(form: str, zeros: int) -> None:
    """Zeros pad the end, as tapes and tools write them; between members too."""
    packed = COMPRESS[form](b"a\n1\n") + bytes(zeros) + COMPRESS[form](b"2\n") + bytes(zeros)
    assert headrace.read_csv(packed).to_pydict() == {"a": [1, 2]}


@ALL
def test_empty_text(form: str) -> None:
    assert headrace.read_csv(COMPRESS[form](b""), schema={"a": "int8"}).num_rows == 0


@ALL
def test_places_are_those_of_the_text(form: str) -> None:
    with pytest.raises(ParseError) as caught:
        headrace.read_csv(COMPRESS[form](b"a\n1\nx\n"), dtypes="int8")
    assert (caught.value.byte, caught.value.line) == (4, 3)


@ALL
def test_encoded_text_in_it(form: str) -> None:
    packed = COMPRESS[form]("a,b\n1,é\n".encode("utf-16"))
    assert headrace.read_csv(packed).to_pydict() == {"a": [1], "b": ["é"]}
    packed = COMPRESS[form]("a,b\n1,日\n".encode("shift_jis"))
    assert headrace.read_csv(packed, encoding="shift_jis").to_pydict() == {"a": [1], "b": ["日"]}


@pytest.mark.parametrize("text", [b"BZh,a\n1,2\n", b"BZh91AY,b\n", b"\x1f\x8b\n", b"\xfd7zXZ\n", b""])
def test_text_that_only_begins_like_it(text: bytes) -> None:
    assert recognised(text) is None


STORED = pytest.param(zipfile.ZIP_STORED, False, id="stored")
"""A stored file without a size before it has no end that a reader could find, so no tool writes it to a stream."""


@pytest.mark.covering(default=1)
@pytest.mark.parametrize(
    ("method", "is_stream"),
    [STORED, pytest.param(zipfile.ZIP_DEFLATED, False, id="file"), pytest.param(zipfile.ZIP_DEFLATED, True, id="stream")],
)
@pytest.mark.parametrize("force_zip64", [False, True], ids=["small", "zip64"])
def test_zip_as_tools_write_it(method: int, is_stream: bool, force_zip64: bool, tmp_path: Path) -> None:
    """A writer that cannot seek puts the sizes after the data; large files have sizes of 8 bytes."""
    text = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * 7919 % 1000003) for i in range(50_000))
    path = tmp_path / "a.zip"
    with path.open("wb") as file:
        target = SimpleNamespace(write=file.write, flush=file.flush) if is_stream else file
        with zipfile.ZipFile(target, "w", method) as archive:  # type: ignore[call-overload]
            archive.comment = b"PK\x03\x04 in a comment"
            with archive.open("a.csv", "w", force_zip64=force_zip64) as member:
                member.write(text)
    expected = headrace.read_csv(text).to_pydict()
    assert headrace.read_csv(path).to_pydict() == expected
    assert headrace.scan_csv(path, batch_bytes=100_000).read().to_pydict() == expected
    assert headrace.sniff_csv(path).sep == ","
