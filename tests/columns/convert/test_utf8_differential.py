"""Tests the validation of UTF-8 by bit planes against Python's decoder.

Tables of text outside ASCII are converted under the fiber harness and compared with `read_csv` on the CPU.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from headrace.testing.fibers import program
from tests.columns.load.load_gpu_cases import check

pytestmark = pytest.mark.fibers

KERNEL = """
#include "columns/convert/gpu/utf8.cuh"
using namespace headrace;
// Validates one text per thread: `chunks` of 32 bytes, after a vector of zeros.
extern "C" __global__ void validate(const uint4* texts, u32 chunks, u8* valid, u32 count) {
    const u32 number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= count) return;
    const uint4* const text = texts + number * (2 * chunks + 1) + 1;
    valid[number] = is_valid_utf8(0, chunks, 1, [&](i32 at) { return text[at]; });
}
"""
CHARACTERS = [
    "a",
    ",",
    "~",
    "\x7f",
    "\x80",
    "é",
    "\u07ff",
    "\u0800",
    "\ud7ff",
    "\ue000",
    "€",
    "\uffff",
    "\U00010000",
    "😀",
    "\U0010ffff",
]
INVALID = [
    b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xc3", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xe2\x82", b"\xed\xa0\x80",
    b"\xed\xbf\xbf", b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf0\x9f\x98", b"\xf0\x9f", b"\xf4\x90\x80\x80",
    b"\xf5\x80\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xfe", b"\xff", b"\xe9",
]  # fmt: skip


def is_valid(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def validated(texts: list[bytes], chunks: int) -> list[bool]:
    """Validate texts of at most ``32 * chunks - 1`` bytes."""
    padded = b"".join(bytes(16) + text.ljust(32 * chunks, b"\0") for text in texts)
    valid = np.zeros(len(texts), np.uint8)
    threads = 64
    args = [np.frombuffer(padded, np.uint32).copy(), chunks, valid, len(texts)]
    program(text=KERNEL, build="fast").launch("validate", -(-len(texts) // threads), threads, args)
    return valid.astype(bool).tolist()


def test_each_sequence_at_each_position():
    pieces = [*(character.encode() for character in CHARACTERS), *INVALID]
    for after in (b"", b"\x80", "é".encode()):
        texts = [b"a" * at + piece + after for piece in pieces for at in range(70 - len(piece))]
        assert validated(texts, 3) == [is_valid(text) for text in texts]


def test_random_sequences():
    rng = random.Random(1)
    leads = [bytes([byte]) for byte in range(0x7E, 0x100)]
    pieces = [*(character.encode() for character in CHARACTERS), *rng.choices(INVALID, k=2), *rng.choices(leads, k=2)]
    weights = [*[10] * len(CHARACTERS), 1, 1, 1, 1]
    texts = [b"".join(rng.choices(pieces, weights, k=rng.randrange(1, 23)))[:95] for _ in range(4000)]
    expected = [is_valid(text) for text in texts]
    assert 0.1 < sum(expected) / len(texts) < 0.9
    assert validated(texts, 3) == expected


def letters(rng: random.Random, size: int, invalid: float) -> bytes:
    text = b"".join(rng.choice(CHARACTERS).encode() for _ in range(size)).replace(b",", b"")
    return text + rng.choice(INVALID) if rng.random() < invalid else text


@pytest.mark.covering(default=1)
@pytest.mark.long_except("*-0.02", "True-*-0.5")
@pytest.mark.parametrize("invalid", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("quoted", [False, True])
def test_tables(invalid, line_end, quoted):
    rng = random.Random(f"{invalid}{line_end!r}{quoted}")
    mark = b'"' if quoted else b""
    for seed in range(3):
        sizes = [0, 1, 5, 40, 200] if seed else [1, 3]
        rows = [(mark + letters(rng, rng.choice(sizes), invalid) + mark, seed + i, letters(rng, 6, invalid)) for i in range(90)]
        data = line_end.join(b"%b,%d,%b" % row for row in rows) + line_end * (seed % 2)
        options = {"header": False, "schema": ["string", "int64", "large_string"], "skew": rng.randrange(16), "seed": seed}
        for on_error in ("null", "reject"):
            check(data, on_error=on_error, **options)
        check(data, encoding_errors="replace", **options)
        check(data, **{**options, "schema": ["binary", "int64", "string"]}, on_error="null")


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_character_that_the_end_of_the_text_cuts(cut):
    for size in (*range(1016, 1032), 3):
        data = b"a,b\n" + b"1,x\n" * 3
        data += b"2," + b"y" * (size - len(data) - 2) + "😀".encode()[:cut]
        check(data, schema=["int64", "string"], on_error="null")


@pytest.mark.parametrize("sep", ["é", b"\xa9", b"\xc3"])
def test_separators_that_may_be_part_of_a_character(sep):
    data = "".join(f"{i}é{i % 7}ß\n" for i in range(200)).encode()
    check(data, header=False, sep=sep, on_error="null", schema=["string"] * 2, long_records="truncate", short_records="null")
