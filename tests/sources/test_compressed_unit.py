"""Tests compressed sources: recognised by their first bytes, members concatenated, positions in the text."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import lz4.frame
import pytest
import zstandard

import headrace
from headrace import ParseError
from headrace.sources.compression.formats import recognised

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "lz4": lz4.frame.compress,
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
    text = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * 7919 % 1000003) for i in range(300_000))
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
