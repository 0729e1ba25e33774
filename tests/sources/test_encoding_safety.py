"""Tests decoding at every boundary (pieces of files, tiles, chunks of lines), malformed units, and files that change."""

from __future__ import annotations

from pathlib import Path

import pytest

import headrace
from headrace import Context, OptionError, ParseError, SourceError, _native

UTF16 = pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])


@pytest.mark.covering(default=0)
@pytest.mark.long_except("avx2-utf-16-le", "scalar-utf-16-be")
@UTF16
@pytest.mark.parametrize("isa", _native.isas())
def test_pairs_at_the_borders_of_a_files_pieces(codec: str, isa: str, tmp_path: Path) -> None:
    """A file is decoded in pieces of 64 KiB: with each shift, another character of the rows is at the boundaries."""
    rows = ["é😀x", "😀😀", "ab,日"[:2], "\U00010000y"] * 20_000
    for shift in range(8):
        names = ["n" * (shift + 1)]
        path = tmp_path / f"{shift}.csv"
        path.write_bytes(("\n".join(names + rows) + "\n").encode(codec))
        for chunk in (None, 1 << 20, 65_536, 70_001):
            table = headrace.read_csv(path, encoding=codec, header=True, chunk_bytes=chunk, context=Context(isa=isa))
            assert table[names[0]].to_pylist() == rows


@UTF16
def test_lines_and_bytes_of_faults_in_a_long_text(codec: str, tmp_path: Path) -> None:
    """Lines are counted in chunks of 1 MiB: with some shift, a line end of two characters is at a boundary."""
    for shift in range(6):
        rows = ["1,é😀"] * 300_000
        places = range(17, len(rows), 4_999)
        for place in places:
            rows[place] = "x,y"
        text = "#" * shift + "a,b\r\n" + "".join(row + "\r\n" for row in rows)
        data = text.encode(codec)
        (tmp_path / "long.csv").write_bytes(data)
        dtypes = {"#" * shift + "a": "int8"}
        rejects = [
            headrace.read_csv(source, encoding=codec, header=True, dtypes=dtypes, on_error="null").rejects
            for source in (data, tmp_path / "long.csv")
        ]
        for table in rejects:
            assert table["line"].to_pylist() == [place + 2 for place in places]
            assert all(data[byte : byte + 6].decode(codec) == "x,y" for byte in table["byte"].to_pylist())


@pytest.mark.parametrize(
    ("data", "byte"),
    [
        ("ab\nc".encode("utf-16-le") + b"\0\xd8", 8),
        ("ab\nc".encode("utf-16-le") + b"\0\xdc\n\0", 8),
        ("ab\né😀".encode("utf-16-le") + b"x", 12),
        ("ab\né😀".encode("utf-16-le") + b"\0\xd8x", 12),
        ("ab\n😀".encode("utf-16-le") + b"\x3d\xd8\x3d\xd8\x00\xde\n\0", 10),
    ],
)
def test_the_first_bad_byte(data: bytes, byte: int) -> None:
    for chunk in (1, 2, 3, 4, None):
        with pytest.raises(ParseError) as caught:
            headrace.read_csv(data, encoding="utf-16-le", header=True, dtypes="string", chunk_bytes=chunk)
        assert (caught.value.kind, caught.value.byte, caught.value.line) == ("encoding", byte, 2)


def test_a_file_that_shrank(tmp_path: Path) -> None:
    path = tmp_path / "shrinks.csv"
    path.write_bytes("a\n".encode("utf-16") + "1\n".encode("utf-16-le") * 100_000)
    source = _native.Source.from_file((file := path.open("r+b")).fileno(), "shrinks.csv")
    file.truncate(100)
    source.decode_as("utf-16-le", [], "")
    with file, pytest.raises(_native.SourceFailure, match="shrank"):
        _native.line_numbers(source, [300_000], 1)


def test_compressed_file_object_that_gives_none() -> None:
    class Nothing:
        def read(self) -> None:
            return None

    with pytest.raises(SourceError, match="non-blocking"):
        headrace.read_csv(Nothing(), encoding="utf-16")  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["sep", "quote_char", "comment"])
def test_bytes_that_are_no_utf8_name_no_character_of_another_encoding(option: str) -> None:
    with pytest.raises(OptionError, match=f"{option} .*UTF-8"):
        headrace.read_csv(b"a\xa7b\n", encoding="latin-1", **{option: b"\xa7"})


def test_a_separator_beyond_ascii_is_found_in_any_encoding() -> None:
    for encoding in ("latin-1", "utf-16-le", "utf-8"):
        table = headrace.read_csv("a§b\n1§é\n".encode(encoding), sep="§", encoding=encoding, chunk_bytes=2)
        assert table.to_pydict() == {"a": [1], "b": ["é"]}
