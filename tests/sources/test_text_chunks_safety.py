"""Reads a source that can be read only once, however fast its bytes arrive."""

from __future__ import annotations

import os

import pytest

from headrace import SourceError
from headrace.sources.open import SourceOptions
from headrace.sources.registry import source_of
from headrace.sources.text_chunks import TextChunks

TEXT = b"n,s\n1,a\n"


def test_a_pipe_is_read_again_only_while_it_is_kept() -> None:
    reading, writing = os.pipe()
    os.write(writing, TEXT)
    os.close(writing)
    chunks = TextChunks(source_of(f"/dev/fd/{reading}"), SourceOptions())
    for keep in (True, True, False):  # the last begins with all of it kept, and is the last all the same
        assert b"".join(chunks.make(keep=keep)) == TEXT
    with pytest.raises(SourceError, match="only once"):
        list(chunks.make())
    chunks.close()
    os.close(reading)
