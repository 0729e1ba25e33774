"""The search for structure on a GPU: shapes of its kernels, every entry checked, medians of device events.

Needs nvcc, PyTorch and a GPU; the package need not be installed. Texts of `bench.data` are repeated to 2 GiB. Each line: text,
form, shape, bytes of text a second, and what share of a read of the same memory that is.

    python -m bench.gpu_find [--sweep] [--cubins FOLDER]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

from bench.data import ensure
from bench.gpu_primitives import Kernel, compile_all, limits, median_ms, name_of, say

ENTRY = np.dtype(
    [
        ("record", "u8"),
        ("record_begin", "u8"),
        ("field_begin", "u8"),
        ("column", "u4"),
        ("state", "u1"),
        ("open", "u1"),
        ("x", "u2"),
    ]
)
PIECE, TARGET = 8 << 20, 2 << 30
CSV = bytes([44, 10, 34, 1 | 2 | 4 | 8, 1, 1, 1, 1])
CSV_BARE = bytes([44, 10, 34, 1 | 2 | 4 | 16, 34, 34, 34, 1])
SWEEP = [
    (t, r, u, b)
    for t, r in ((128, 8), (128, 16), (256, 4), (256, 8), (512, 4))
    for u in (1, 2, 4)
    for b in (1, 1024 // t, 1536 // t)
]


@dataclass
class Text:
    """A piece that is repeated, and what is known at each of its bytes."""

    name: str
    device: torch.Tensor
    piece: int
    records: np.ndarray
    record_begin: np.ndarray
    field_begin: np.ndarray
    column: np.ndarray
    inside: np.ndarray

    def expected(self, at: np.ndarray) -> np.ndarray:
        turn, place = at // self.piece, at % self.piece
        entries = np.zeros(len(at), ENTRY)
        idle = self.record_begin[place] == place
        entries["record"] = turn * self.records[-1] + self.records[place]
        entries["record_begin"] = turn * self.piece + self.record_begin[place]
        entries["field_begin"] = turn * self.piece + self.field_begin[place]
        entries["column"], entries["state"], entries["open"] = self.column[place], self.inside[place], ~idle
        return entries


def text_of(name: str) -> Text:
    """Lines end in LF, and none is blank."""
    data = ensure(name, PIECE).read_bytes()
    data = np.frombuffer(data[: data.rindex(b"\n" if name != "quoted" else b'"\n') + 1], "u1")
    inside = np.concatenate([[0], np.cumsum(data == 34) % 2]).astype("u1")
    outside = inside[1:] == 0
    ends, separators = (data == 10) & outside, (data == 44) & outside
    assert not inside[-1] and not (ends[1:] & ends[:-1]).any() and not (data == 13).any()
    count = len(data)
    behind = np.arange(1, count + 1)
    record_begin = np.concatenate([[0], np.maximum.accumulate(np.where(ends, behind, 0))])
    field_begin = np.concatenate([[0], np.maximum.accumulate(np.where(ends | separators, behind, 0))])
    before = np.concatenate([[0], np.cumsum(separators)])
    column = before - before[record_begin]
    records = np.concatenate([[0], np.cumsum(ends)])
    device = torch.from_numpy(data.copy()).cuda().repeat(TARGET // count)
    return Text(name, device, count, records, record_begin, field_begin, column, inside)


def measure(text: Text, kernel: Kernel, quoted: bool, tile: int, threads: int, read: float, what: str) -> None:
    size = text.device.numel()
    tiles = -(-size // tile)
    entries = torch.empty((tiles + 1) * 4, dtype=torch.int64, device="cuda")
    totals = torch.zeros(6, dtype=torch.int64, device="cuda")
    memory = torch.zeros((tiles + 1) * 9, dtype=torch.int64, device="cuda")
    word = partial(int.to_bytes, length=8, byteorder="little")
    args = [text.device, word(size), CSV if quoted else CSV_BARE, entries, totals, word(0), memory]

    def once() -> None:
        memory.zero_()
        totals.zero_()
        kernel((tiles, 1), threads, args)

    ms = median_ms(once)
    at = np.minimum(np.arange(tiles + 1, dtype=np.int64) * tile, size)
    got, wanted = entries.cpu().numpy().view(ENTRY), text.expected(at)
    flags = int(totals[5])
    if not quoted and flags & 1:
        say(f"{text.name:9} {what}: {size / ms / 1e6:6.0f} GB/s until it says that there are quotes")
        return
    right = bool((got == wanted).all()) and int(totals[0]) == int(text.records[-1]) * (size // text.piece)
    say(f"{text.name:9} {what}: {size / ms / 1e6:6.0f} GB/s {size / ms * 1e3 / read:6.1%} flags {flags} right {right}")


def main() -> None:
    _, read = limits()
    texts = [text_of(name) for name in ("taxi", "int_444", "wide", "quoted")]
    shapes = SWEEP if "--sweep" in sys.argv else [(256, 8, 2, 4)]
    cases = [(q, t, r, u, b) for q in (0, 1) for t, r, u, b in shapes]
    made = [
        ("structure/find_plain.cu", {"HR_QUOTED": q, "HR_THREADS": t, "HR_ROWS": r, "HR_UNROLL": u, "HR_BLOCKS": b})
        for q, t, r, u, b in cases
    ]
    if "--cubins" in sys.argv:
        folder = Path(sys.argv[sys.argv.index("--cubins") + 1])
        cubins = {name_of(*one): (folder / (name_of(*one).replace("/", "_") + ".cubin")).read_bytes() for one in made}
    else:
        cubins = compile_all(made)
    for (q, t, r, u, b), (file, defines) in zip(cases, made, strict=True):
        kernel = Kernel(cubins[name_of(file, defines)], "find_plain")
        for text in texts:
            if q or text.name != "quoted":
                measure(
                    text,
                    kernel,
                    bool(q),
                    t * r * 16,
                    t,
                    read,
                    f"{'quotes' if q else 'bare':6} {t:4} x {r:2} unroll {u} blocks {b:2}",
                )


if __name__ == "__main__":
    main()
