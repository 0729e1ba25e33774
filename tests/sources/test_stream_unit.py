"""Streams of text: how far they reach, which bytes of a text in order can be read, windows, and line counts."""

from __future__ import annotations

import ctypes
import gzip
import os

import pytest

from headrace.sources.open import SourceOptions, open_source
from headrace.sources.registry import source_of
from headrace.sources.stream import LineCount, TextStream
from headrace.sources.text_chunks import TextChunks

TEXT = b"".join(b"line %d\n" % i for i in range(400_000))


def in_order(source: object) -> TextStream:
    return TextStream(TextChunks(source_of(source), SourceOptions()), threads=2)


def part_of(text: TextStream, begin: int, end: int) -> bytes:
    made = ctypes.create_string_buffer(end - begin)
    text.read_into(begin, end - begin, ctypes.addressof(made), 2)
    return made.raw


def test_a_text_with_byte_ranges_is_available_at_once() -> None:
    with open_source(TEXT) as source:
        text = TextStream(source, end=1000)
        assert text.reach(10) == (10, False)
        assert text.reach(1000) == (1000, True)
        assert text.reach(5000) == (1000, True)
        assert part_of(text, 7, 90) == TEXT[7:90]
        assert text.count_lines(500) == (0, 0)
        text.note_lines(LineCount(lines=3, byte=21))
        assert text.count_lines(500) == (3, 21)


def test_a_text_in_order_is_made_as_far_as_is_asked() -> None:
    text = in_order(gzip.compress(TEXT, 1))
    assert text.reach(100) == (100, False)
    assert text.reach(len(TEXT) - 1) == (len(TEXT) - 1, False)
    assert text.reach(len(TEXT)) == (len(TEXT), True)
    assert text.reach(len(TEXT) + 10) == (len(TEXT), True)
    assert part_of(text, 1_000_000, 3_000_000) == TEXT[1_000_000:3_000_000]
    assert text.source(3_000_000).native.read(2_999_990, 100) == TEXT[2_999_990:3_000_000]
    text.close()


def test_released_bytes_cannot_be_read_except_the_beginning() -> None:
    text = in_order(gzip.compress(TEXT, 1))
    text.reach(3_500_000)
    cut = TEXT.index(b"\n", 3_000_000) + 1
    text.release(cut)
    assert text.count_lines(cut) == (TEXT[:cut].count(b"\n"), cut)
    assert part_of(text, cut, cut + 1000) == TEXT[cut : cut + 1000]
    assert part_of(text, 0, 16 << 10) == TEXT[: 16 << 10]
    with pytest.raises(ValueError, match="are there"):
        part_of(text, 20_000, 20_100)
    further = TEXT.index(b"\n", 3_400_000) + 1
    assert text.count_lines(further) == (TEXT[:further].count(b"\n"), further)
    text.close()


def test_skip() -> None:
    text = in_order(TEXT)
    begin = TEXT.index(b"\n", 2_500_000) + 1
    text.skip(begin)
    assert text.count_lines(begin) == (TEXT[:begin].count(b"\n"), begin)
    end, _ = text.reach(begin + 100)
    assert part_of(text, begin, end) == TEXT[begin:end]
    text.close()


def test_the_encoding_and_the_byte_order_mark() -> None:
    data = "\ufeffa,b\n1,\u00e9\n".encode("utf-16-le")
    text = in_order(gzip.compress(data))
    end, is_all = text.reach(1 << 20)
    assert is_all
    source = text.source(end)
    assert (source.codec, source.begin) == ("utf-16-le", 2)
    assert text.count_lines(end)[0] == 2
    text.close()


def test_an_empty_text() -> None:
    text = in_order(b"")
    assert text.reach(0) == (0, True)
    assert text.reach(100) == (0, True)
    text.close()


def test_a_pipe() -> None:
    out, into = os.pipe()
    os.write(into, b"a\n1\n")
    os.close(into)
    with os.fdopen(out, "rb") as pipe:
        text = in_order(pipe)
        assert text.reach(100) == (4, True)
        assert part_of(text, 0, 4) == b"a\n1\n"
        text.close()


def test_windows_of_a_text_in_order() -> None:
    text = in_order(gzip.compress(TEXT, 1))
    at = 0
    while at < len(TEXT):
        window = text.window(at, at + 1_500_000)
        content = window.source.native.read(0, window.source.size)
        assert content == TEXT[window.base : window.base + len(content)]
        assert window.base <= at and window.base + len(content) >= min(at + 1_500_000, len(TEXT))
        assert window.base > at - 128 or at == 0
        assert window.count.lines == TEXT[: window.base + window.count.byte].count(b"\n")
        at += 1_500_000
    assert window.is_last
    text.close()


def test_a_window_after_a_skip() -> None:
    text = in_order(TEXT)
    begin = TEXT.index(b"\n", 2_500_000) + 1
    text.skip(begin)
    window = text.window(begin, begin + 1000)
    assert window.source.native.read(begin - window.base, 1000) == TEXT[begin : begin + 1000]
    assert window.count == (TEXT[:begin].count(b"\n"), begin - window.base)
    text.close()
