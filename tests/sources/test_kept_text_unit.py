"""Texts as a GPU's scan sends them: how far they go, what can be read of those that come in order, lines."""

from __future__ import annotations

import ctypes
import gzip
import os

import pytest

from headrace.sources.kept_text import KeptText, StoredText
from headrace.sources.open import SourceOptions, open_source
from headrace.sources.pieces import Pieces

TEXT = b"".join(b"line %d\n" % i for i in range(400_000))


def kept(data: bytes) -> KeptText:
    return KeptText(Pieces(data, SourceOptions()), "", 2)


def part_of(text: StoredText | KeptText, begin: int, end: int) -> bytes:
    made = ctypes.create_string_buffer(end - begin)
    text.read_into(begin, end - begin, ctypes.addressof(made), 2)
    return made.raw


def test_a_stored_text_is_there_at_once() -> None:
    with open_source(TEXT) as source:
        text = StoredText(source, 1000)
        assert text.reach(10) == (10, False)
        assert text.reach(1000) == (1000, True)
        assert text.reach(5000) == (1000, True)
        assert part_of(text, 7, 90) == TEXT[7:90]
        assert text.lines(500) == (0, 0)
        text.know_line(3, 21)
        assert text.lines(500) == (3, 21)


def test_a_kept_text_goes_as_far_as_is_asked() -> None:
    text = kept(gzip.compress(TEXT, 1))
    assert text.reach(100) == (100, False)
    assert text.reach(len(TEXT) - 1) == (len(TEXT) - 1, False)
    assert text.reach(len(TEXT)) == (len(TEXT), True)
    assert text.reach(len(TEXT) + 10) == (len(TEXT), True)
    assert part_of(text, 1_000_000, 3_000_000) == TEXT[1_000_000:3_000_000]
    assert text.source(3_000_000).native.read(2_999_990, 100) == TEXT[2_999_990:3_000_000]
    text.close()


def test_what_is_let_go_of_is_gone_but_for_the_beginning() -> None:
    text = kept(gzip.compress(TEXT, 1))
    text.reach(3_500_000)
    cut = TEXT.index(b"\n", 3_000_000) + 1
    text.let_go(cut)
    assert text.lines(cut) == (TEXT[:cut].count(b"\n"), cut)
    assert part_of(text, cut, cut + 1000) == TEXT[cut : cut + 1000]
    assert part_of(text, 0, 16 << 10) == TEXT[: 16 << 10]
    with pytest.raises(ValueError, match="are there"):
        part_of(text, 20_000, 20_100)
    further = TEXT.index(b"\n", 3_400_000) + 1
    assert text.lines(further) == (TEXT[:further].count(b"\n"), further)
    text.close()


def test_a_beginning_that_is_skipped() -> None:
    text = kept(TEXT)
    begin = TEXT.index(b"\n", 2_500_000) + 1
    text.skip(begin)
    assert text.lines(begin) == (TEXT[:begin].count(b"\n"), begin)
    end, _ = text.reach(begin + 100)
    assert part_of(text, begin, end) == TEXT[begin:end]
    text.close()


def test_the_encoding_and_the_byte_order_mark() -> None:
    data = "\ufeffa,b\n1,\u00e9\n".encode("utf-16-le")
    text = kept(gzip.compress(data))
    end, is_all = text.reach(1 << 20)
    assert is_all
    source = text.source(end)
    assert (source.codec, source.begin) == ("utf-16-le", 2)
    assert text.lines(end)[0] == 2
    text.close()


def test_an_empty_text() -> None:
    text = kept(b"")
    assert text.reach(0) == (0, True)
    assert text.reach(100) == (0, True)
    text.close()


def test_a_pipe() -> None:
    out, into = os.pipe()
    os.write(into, b"a\n1\n")
    os.close(into)
    with os.fdopen(out, "rb") as pipe:
        text = KeptText(Pieces(pipe, SourceOptions()), "", 1)
        assert text.reach(100) == (4, True)
        assert part_of(text, 0, 4) == b"a\n1\n"
        text.close()
