"""Measures the structure search on a GPU by launch configuration. Every result is checked; figures are medians of device events.

Needs nvcc, PyTorch and a GPU. Texts of `bench.read.data` are repeated to 2 GiB. Each line has the text, the form, the
configuration, the bytes of text a second, and their share of a read of the same memory. A configuration has threads, rows, rows
unrolled, and minimum blocks on a multiprocessor.

`--shapes` names a list of (file, macros) in JSON, and `--cubins` a folder of compiled programs. `--steps` names a file with the
tables of the default dialect's automaton; without it the package must be installed. `--profile` makes few launches, for ncu.

    python -m bench.read.gpu_find [--texts NAMES] [--shapes FILE] [--profile] [--cubins FOLDER] [--steps FILE]
"""

from __future__ import annotations

import json
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from bench.primitives.gpu import Kernel, compile_all, limits, median_ms, name_of, say, u32
from bench.read.data import ensure

TILE_START = np.dtype(
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
SCAN, PLAIN = "structure/gpu/scan_summaries.cu", "structure/gpu/summarize_plain.cu"
STEPS = "structure/gpu/summarize_dfa.cu"
TEXTS = ("taxi", "int_444", "wide", "quoted")
Shape = dict[str, int]


def shapes() -> list[tuple[str, Shape]]:
    """Return pairs of file and macros."""
    if "--shapes" in sys.argv:
        return [(file, shape) for file, shape in json.loads(Path(after("--shapes")).read_text())]
    found: list[tuple[str, Shape]] = [(SCAN, {"HR_THREADS": 256})]
    plain = {"HR_THREADS": 128, "HR_ROWS": 16, "HR_UNROLL": 2, "HR_BLOCKS": 6}
    found += [(PLAIN, {"HR_QUOTED": quoted, **plain}) for quoted in (0, 1)]
    found.append((STEPS, {"HR_STATES": 8, "HR_THREADS": 128, "HR_ROWS": 16, "HR_UNROLL": 1, "HR_BLOCKS": 1}))
    return found


@dataclass
class Text:
    """A piece that is repeated, and the expected state before each of its bytes and after the last."""

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
        entries = np.zeros(len(at), TILE_START)
        entries["record"] = turn * self.records[-1] + self.records[place]
        entries["record_begin"] = turn * self.piece + self.record_begin[place]
        entries["field_begin"] = turn * self.piece + self.field_begin[place]
        entries["column"], entries["state"] = self.column[place], self.inside[place]
        entries["open"] = self.record_begin[place] != place
        return entries


def text_of(name: str) -> Text:
    """Return a text whose lines end in LF and are not blank."""
    data = ensure(name, PIECE).read_bytes()
    data = data[data.index(b"\n") + 1 :] if name == "taxi" else data  # its header has quotes
    data = np.frombuffer(data[: data.rindex(b"\n") + 1 if name != "quoted" else data.rindex(b'"\n"r') + 2], "u1")
    quotes = data == 34
    inside = np.concatenate([[0], np.cumsum(quotes) % 2]).astype("u1")
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


def after(option: str) -> str:
    return sys.argv[sys.argv.index(option) + 1]


def word(number: int) -> bytes:
    return struct.pack("<Q", number)


@dataclass
class Program:
    """The kernels of a form, and of the scans."""

    file: str
    shape: Shape
    kernels: dict[str, Kernel]


def measure(text: Text, program: Program, steps: torch.Tensor, read: float) -> None:
    file, shape, kernels = program.file, program.shape, program.kernels
    threads, size = shape["HR_THREADS"], text.device.numel()
    tile = threads * shape["HR_ROWS"] * 16
    tiles = -(-size // tile)
    scan_blocks = tiles // 256 + 1

    def words(count: int) -> torch.Tensor:
        return torch.zeros(count, dtype=torch.int64, device="cuda")

    entries, tallies, totals, memory = words((tiles + 1) * 4), words(tiles * 10), words(6), words((scan_blocks + 1) * 10)
    before, maps, states = words(tiles * threads // 2), words(tiles), words(tiles // 8 + 1)
    roles = words(tiles * tile // 16 if file == STEPS else 0)
    quoted, with_dfa = shape.get("HR_QUOTED", 0), file == STEPS
    none, head = word(0), [text.device, word(size)]

    def tally() -> None:
        if not with_dfa:
            kernels["summarize_plain"](
                (tiles, 1), threads, [*head, CSV if quoted else CSV_BARE, tallies, totals, none, u32(tiles)]
            )
            return
        kernels["map_tiles"]((tiles, 1), threads, [*head, steps, none, before, maps, none])
        kernels["scan_maps"]((scan_blocks, 1), 256, [maps, u32(tiles), states, none, memory])
        memory.zero_()
        kernels["summarize_dfa"]((tiles, 1), threads, [*head, steps, none, before, states, roles, tallies, totals, none])

    def once() -> None:
        memory.zero_()
        totals.zero_()
        tally()
        sizes = [word(size), u32(tile), u32(0)]
        args = [tallies, u32(quoted), states if with_dfa else none, *sizes, entries, totals, none, memory]
        kernels["scan_tiles"]((scan_blocks, 1), 256, args)

    repeats = 1 if "--profile" in sys.argv else 9
    tally_ms, ms = median_ms(tally, repeats), median_ms(once, repeats)
    at = np.minimum(np.arange(tiles + 1, dtype=np.int64) * tile, size)
    got, expected = entries.cpu().numpy().view(TILE_START), text.expected(at)
    if with_dfa:
        got["state"] = got["state"] == 4  # QUOTED
    right = bool((got == expected).all()) and int(totals[0]) == int(text.records[-1]) * (size // text.piece)
    form = "dfa" if with_dfa else "quoted" if quoted else "unquoted"
    how = " ".join(str(value) for key, value in shape.items() if key != "HR_QUOTED")
    say(f"{text.name:8} {form:6} {how}: {size / ms / 1e6:6.0f} GB/s {size / ms * 1e3 / read:6.1%}, tallies alone "
        f"{size / tally_ms / 1e6:6.0f} GB/s, flags {int(totals[5])} right {right}")  # fmt: skip


def steps_of_csv() -> torch.Tensor:
    if "--steps" in sys.argv:
        return torch.from_numpy(np.fromfile(after("--steps"), "u1")).cuda()
    from headrace import Dialect
    from headrace.structure.gpu.dialect_tables import dfa_tables

    return torch.from_numpy(np.frombuffer(dfa_tables(Dialect()).tobytes(), "u1").copy()).cuda()


def main() -> None:
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    _, read = limits()
    made = shapes()
    if "--cubins" in sys.argv:
        folder = Path(after("--cubins"))
        paths = {name_of(*one): folder / (name_of(*one).replace("/", "_") + ".cubin") for one in made}
        cubins = {name: path.read_bytes() for name, path in paths.items() if path.exists()}
        made = [one for one in made if name_of(*one) in cubins]
    else:
        cubins = compile_all(made)
    steps = steps_of_csv()
    scan_name = name_of(SCAN, {"HR_THREADS": 256})
    scans = {name: Kernel(cubins[scan_name], name) for name in ("scan_tiles", "scan_maps")}
    names = after("--texts").split(",") if "--texts" in sys.argv else TEXTS
    for text in map(text_of, names):
        for file, shape in made:
            if file == SCAN or ("HR_QUOTED" in shape and text.name == "quoted" and not shape["HR_QUOTED"]):
                continue
            entries = ["summarize_plain"] if file == PLAIN else ["map_tiles", "summarize_dfa"]
            kernels = scans | {name: Kernel(cubins[name_of(file, shape)], name) for name in entries}
            measure(text, Program(file, shape, kernels), steps, read)


if __name__ == "__main__":
    main()
