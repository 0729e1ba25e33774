"""Blocks of a pipe, cut anywhere by its writer, are the lines of its text."""

from __future__ import annotations

import gzip
import io
import os
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pytest

from headrace.core.errors import SourceError
from headrace.query.lines.lines import blocks_of

pytestmark = pytest.mark.pure


@contextmanager
def _pipe(text: bytes, sizes: Iterator[int]) -> Iterator[BinaryIO]:
    """Give the reading end of a pipe, into which a thread writes parts of these sizes."""
    reader, writer = os.pipe()

    def write() -> None:
        at = 0
        while at < len(text):
            at += os.write(writer, text[at : at + next(sizes)])
        os.close(writer)

    thread = threading.Thread(target=write)
    thread.start()
    with open(reader, "rb") as stream:
        yield stream
    thread.join()


def _sizes(seed: int, most: int) -> Iterator[int]:
    source = random.Random(seed)
    while True:
        yield source.randint(1, most)


def _text(seed: int, most: int) -> bytes:
    """Return lines of up to `most` bytes; the last one may have no line end."""
    source = random.Random(seed)
    lines = [source.randbytes(source.randint(0, most)).replace(b"\n", b" ") for _ in range(60)]
    return b"a first line\n" + b"\n".join(lines)


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 4096])
@pytest.mark.parametrize("most", [1, 3, 100, 5000])
def test_blocks_are_whole_lines_for_any_cuts(block_bytes: int, most: int) -> None:
    for seed in range(4):
        text = _text(seed, 40 if seed % 2 else 300)
        with _pipe(text, _sizes(seed, most)) as stream:
            blocks = [bytes(block) for block in blocks_of(stream, block_bytes)]
        assert b"".join(blocks) == text
        assert all(block.endswith(b"\n") for block in blocks[:-1])


def test_a_line_longer_than_blocks_is_one_block() -> None:
    text = b"x" * 300_000 + b"\n" + b"y" * 10
    with _pipe(b"first line\n" + text, _sizes(1, 9000)) as stream:
        blocks = [bytes(block) for block in blocks_of(stream, 1000)]
    assert b"".join(blocks) == b"first line\n" + text
    assert max(map(len, blocks)) >= 300_001


def test_lines_appear_before_the_pipe_ends() -> None:
    reader, writer = os.pipe()
    with open(reader, "rb") as stream:
        blocks = blocks_of(stream)
        for line in (b"the first line\n", b"b\n"):
            os.write(writer, line + b"part")
            assert bytes(next(blocks)) == (b"part" if line == b"b\n" else b"") + line
        os.close(writer)
        assert [bytes(block) for block in blocks] == [b"part"]


@pytest.mark.parametrize("most", [1, 2, 1000])
def test_marked_texts_are_decoded(most: int) -> None:
    for text, given in (
        (b"zipped\nlines\n" * 20, gzip.compress(b"zipped\nlines\n" * 20)),
        ("wide é\nlines\n".encode(), "wide é\nlines\n".encode("utf-16")),
        (b"P", b"P"),
        (b"", b""),
    ):
        with _pipe(given, _sizes(2, most)) as stream:
            assert b"".join(map(bytes, blocks_of(stream, 8))) == text


def test_other_formats_are_errors() -> None:
    with _pipe(b"PAR1\x15 and so on", _sizes(3, 2)) as stream, pytest.raises(SourceError, match="Parquet"):
        list(blocks_of(stream))


def test_a_pipe_that_does_not_block_is_waited_for() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"the first line\nrest ")
    os.set_blocking(reader, False)
    with open(reader, "rb") as stream:
        blocks = blocks_of(stream)
        assert bytes(next(blocks)) == b"the first line\n"
        timer = threading.Timer(0.05, lambda: (os.write(writer, b"of it\n"), os.close(writer)))
        timer.start()
        assert b"".join(map(bytes, blocks)) == b"rest of it\n"
        timer.join()


def test_a_file_object_without_a_descriptor_is_read_as_any_other() -> None:
    class Raw(io.RawIOBase):
        def __init__(self, text: bytes) -> None:
            self._text = io.BytesIO(text)

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray) -> int:
            return self._text.readinto(buffer)

    text = _text(5, 100)
    assert b"".join(map(bytes, blocks_of(io.BufferedReader(Raw(text)), 64))) == text
