"""What can be read only once is read once, however fast it comes."""

from __future__ import annotations

import os

import pytest

from headrace import SourceError
from headrace.sources.open import SourceOptions
from headrace.sources.pieces import Pieces

TEXT = b"n,s\n1,a\n"


def test_a_pipe_is_read_again_only_while_it_is_kept() -> None:
    reading, writing = os.pipe()
    os.write(writing, TEXT)
    os.close(writing)
    pieces = Pieces(f"/dev/fd/{reading}", SourceOptions())
    for keep in (True, True, False):  # the last begins with all of it kept, and is the last all the same
        assert b"".join(pieces.make(keep=keep)) == TEXT
    with pytest.raises(SourceError, match="only once"):
        list(pieces.make())
    pieces.close()
    os.close(reading)
