"""Tests loading on a GPU of texts in other encodings and containers: values, and places in the source. Under the fiber harness,
against `read_csv` on the CPU.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import random

import numpy as np
import pytest

from headrace import _native
from headrace.gpu.kernels.launcher import BufferSlice
from headrace.sources.encoding.decode_gpu import DecodeShape, Encoded, decode_on_gpu
from headrace.sources.encoding.encoding import code_page
from headrace.testing.fibers.launcher import FiberLauncher
from tests.columns.convert.convert_kernels_cases import table
from tests.columns.faults.load_gpu_faults_cases import spoiled
from tests.columns.load.load_gpu_forms_cases import check

pytestmark = pytest.mark.fibers

CODECS = ["utf-16-le", "utf-16-be", "iso8859-1", "cp1252", "cp437", "koi8-r"]


def sources(codec: str, rng: random.Random, size: int) -> bytes:
    """Return bytes that the codec treats specially, including undecodable ones, and long runs of ASCII in half of them."""
    if rng.random() < 0.5 and size > 1024:
        begin = rng.randrange(2, size - 512) // 2 * 2
        plain = "plain ASCII,".encode(codec if codec.startswith("utf-16") else "ascii") * 200
        return sources(codec, rng, begin) + plain[: size - begin] + sources(codec, rng, size - begin - len(plain[: size - begin]))
    if not codec.startswith("utf-16"):
        return bytes(rng.choices([*range(256), *b"abc\n,"], k=size))
    units = [0x61, 0x2C, 0x0A, 0xE9, 0x20AC, 0xD83D, 0xDE00, 0xD83D, 0xDE00, 0xFFFD, 0x07FF, 0x0800]
    order = "little" if codec.endswith("le") else "big"
    return b"".join(rng.choice(units).to_bytes(2, order) for _ in range(size // 2)) + b"\xd8"[: size % 2]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("codec", [*CODECS, "cp037", "cp874"])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 31, 2046, 2047, 2048, 2049, 2051, 4100, 9001])
@pytest.mark.parametrize("skew", [0, 1, 4, 15])
def test_decoded_as_on_the_host(codec, size, skew):
    rng = random.Random(f"{codec}{size}")
    launcher = FiberLauncher("random", size)
    data = sources(codec, rng, size)
    native = _native.Source.from_bytes(data)
    buffer = BufferSlice(launcher.put(np.frombuffer(bytes(skew) + data, np.uint8)), skew, size)
    decoded = decode_on_gpu(launcher, Encoded(buffer, native, codec), 1000, DecodeShape(64))
    text = launcher.fetch(decoded.text).tobytes()
    assert text.startswith(decoded.head)
    decoded.read = _native.Source.from_bytes(text).read
    if codec.startswith("utf-16"):
        whole, starts = b"", []
        at = 0
        while at < size:
            taken = next((n for n in (2, 4) if at + n <= size and is_character(data[at : at + n], codec)), 0)
            piece = data[at : at + taken].decode(codec).encode() if taken else b"\xff"
            starts += [at] * len(piece)
            whole += piece
            is_first = size - at == 3 and data[at + 1 if codec.endswith("le") else at] & 0xFC == 0xD8
            at += taken or (3 if is_first else min(2, size - at))
    else:
        characters = code_page(codec)
        assert characters is not None
        whole = b"".join(characters[byte] for byte in data)
        starts = [at for at, byte in enumerate(data) for _ in characters[byte]]
    assert text == whole
    first = [place for place in range(len(starts)) if place == 0 or starts[place] != starts[place - 1]]
    assert decoded.origins(np.array([*first, len(text)], np.uint64)).tolist() == [*(starts[place] for place in first), size]
    for origin in rng.choices(range(size + 1), k=40):
        behind = [place for place in first if starts[place] >= origin]
        assert decoded.place_of(origin) == (behind[0] if behind else len(text))


def is_character(data: bytes, codec: str) -> bool:
    try:
        return len(data.decode(codec)) == 1
    except UnicodeDecodeError:
        return False


def text_of(rng: random.Random, codec: str, rows: int, seed: int) -> bytes:
    types = rng.choices(["string", "int64", "float64", "date32", "string"], k=rng.choice([1, 3, 4]))
    text = table(rng, types, rows, junk=0.02 * (seed % 2), quoted=0.2).decode("utf-8", "replace").replace("�", "ß")
    letters = "äß€я😀Ж" if codec.startswith("utf-16") else "".join(c for c in "äß€яÄ×" if c.encode(codec, "ignore"))
    made = "".join(rng.choice(letters) if c.isalpha() and rng.random() < 0.1 else c for c in text)
    return made.encode(codec, "ignore")


@pytest.mark.long_except("*-0", "utf-16-le-3")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("codec", CODECS)
def test_encodings(codec, seed):
    rng = random.Random(f"{seed}{codec}")
    data = text_of(rng, codec, rng.choice([3, 40, 90]), seed)
    if seed % 2:
        broken = {"utf-16-le": b"\x00\xd8", "utf-16-be": b"\xd8\x00", "cp1252": b"\x81"}.get(codec, b"")
        at = rng.randrange(len(data) // 2) * 2
        data = data[:at] + broken + data[at:]
        data = data[: rng.choice([len(data), len(data) - 1])]
    if codec.startswith("utf-16") and rng.random() < 0.4:
        data = "\ufeff".encode(codec) + data
    options = {"encoding": codec, "header": False, "on_error": rng.choice(["null", "reject"])}
    options |= {"encoding_errors": "replace", "shrink": True, "row_index_name": "n"} if seed >= 2 else {}
    check(data, seed, **options)
    check(data, seed + 1, **{**options, "on_error": "raise"})
    check(data, seed, skip_rows=1, n_rows=2, **options)
    check(data, seed, lenient_quotes=True, **options)


@pytest.mark.covering(default=0)
@pytest.mark.parametrize("codec", ["utf-16-le", "cp1252"])
def test_faults_in_other_encodings(codec):
    rng = random.Random(codec)
    for seed in range(6):
        data = spoiled(rng, text_of(rng, "iso8859-1", 40, 1), 4).decode("latin-1").replace("\x81", "é").encode(codec, "ignore")
        for on_error in ("null", "reject", "raise"):
            check(data, seed, encoding=codec, on_error=on_error, header=False)


@pytest.mark.parametrize("mark", ["utf-8-sig", "utf-16", "utf-32", "shift_jis", "utf-7"])
def test_marks_and_other_codecs(mark):
    data = "name,größe\nö,1\nx,zwei\n\nд,3".encode(mark, "ignore")
    encoding = None if mark in ("utf-8-sig", "utf-16") else mark
    for seed in range(2):
        check(data, seed, encoding=encoding)
        check(data, seed, encoding=encoding, dtypes={1: "int8"}, on_error="null")


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bz2", "xz"])
def test_compressed(packed):
    data = b"a,b\n" + b"".join(b"%d,text %d\n" % (row, row) for row in range(60)) + b"x\n"
    check(packed(data), 2, on_error="reject")
    check(packed(data.decode().encode("utf-16")), 4, on_error="null")
