"""The second pass over a text on a GPU, columns/convert.cu, alone: entries of tiles are made on the host.

``pack`` needs the package, NVRTC and the benchmark files; it writes a folder that ``run`` needs, with NumPy, PyTorch and a GPU,
and nothing else. A block of some megabytes is repeated to the size of the text, and every value of the result is compared with
what `read_csv` makes of the block on the CPU before anything is timed.

    python -m bench.gpu_convert pack FOLDER [--shapes threads,tile,window,blocks ...]
    python bench/gpu_convert.py run FOLDER [--only NAME] [--profile]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TEXT_BYTES = 1_000_000_000
BLOCK_BYTES = 6_000_000
FLOATS = ["float32"] * 8
TYPES = {
    "int444": ["int16"] * 3,
    "taxi": ["int8", "timestamp[s]", "timestamp[s]", "int8", "float32", "int8", "string", "int16", "int16", "int8", *FLOATS],
    "lineitem": ["int64", "int64", "int64", "int32", *["float64"] * 4, "string", "string", *["date32"] * 3, *["string"] * 3],
    "quoted": ["string"] * 3 + ["float32"] + ["int32"] * 3 + ["string", "timestamp[s]"],
}


def pack(folder: Path, data: Path, shapes: list[str]) -> None:
    """Write blocks, tables and cubins."""
    from headrace import read_csv
    from headrace.columns.convert_gpu import ConvertShape
    from headrace.core.kernel_source import Variant, joined_source
    from headrace.core.kernels import compile_source

    folder.mkdir(parents=True, exist_ok=True)
    for name, types in TYPES.items():
        with (data / f"{name}.csv").open("rb") as file:
            text = file.read(BLOCK_BYTES)
        if not text[:1].isdigit():
            text = text[text.index(b"\n") + 1 :]
        text = whole_records(text)
        if name == "lineitem":
            text = without_quotes(text)
        table = read_csv(text, schema=types, header=False)
        parts: dict[str, np.ndarray] = {"text": np.frombuffer(text, np.uint8)}
        for number, column in enumerate(table.columns.values()):
            parts[f"values{number}"] = np.frombuffer(bytes(memoryview(column.values)), np.uint8)
            if column.offsets is not None:
                parts[f"offsets{number}"] = np.frombuffer(bytes(memoryview(column.offsets)), np.int32)
            if column.validity is not None:
                parts[f"validity{number}"] = np.frombuffer(bytes(memoryview(column.validity)), np.uint8)
        parts |= packed_tables(text, types)
        np.savez_compressed(folder / f"{name}.npz", **parts)
    wanted = {}
    for given in shapes:
        threads, tile, window, blocks = map(int, given.split(","))
        for quotes in (False, True):
            shape = ConvertShape(threads=threads, tile=tile, window=window, quotes=quotes, blocks=blocks)
            key = f"{given}{',quotes' if quotes else ''}"
            wanted[key] = {"threads": threads, "tile": tile, "shared": shape.shared_bytes}
            for writes in (False, True):
                variant = Variant("columns/convert.cu", tuple(sorted(shape.defines(writes=writes).items())))
                code = compile_source(joined_source(variant), "convert.cu", "sm_90").code
                (folder / f"{key}.{'convert' if writes else 'measure'}.cubin").write_bytes(code)
    (folder / "shapes.json").write_text(json.dumps(wanted))


def whole_records(text: bytes) -> bytes:
    """So many records from the front that their number is a multiple of 64."""
    bytes_ = np.frombuffer(text, np.uint8)
    inside = np.cumsum(bytes_ == ord('"')) & 1
    ends = np.flatnonzero((bytes_ == ord("\n")) & (inside == 0))
    return text[: ends[len(ends) // 64 * 64 - 1] + 1]


def without_quotes(text: bytes) -> bytes:
    """The text without quotes, and without the separators in them."""
    bytes_ = np.frombuffer(text, np.uint8)
    inside = np.cumsum(bytes_ == ord('"')) & 1
    return bytes_[(bytes_ != ord('"')) & ((inside == 0) | (bytes_ != ord(",")))].tobytes()


def packed_tables(text: bytes, types: list[str]) -> dict[str, np.ndarray]:
    """The table of columns and the task, with addresses of 0, and the rules with the places of their pointers."""
    from headrace import _native
    from headrace.api.csv_options import parse_options
    from headrace.api.read_csv import read_csv
    from headrace.api.reading import load_plan, prepare
    from headrace.columns.convert_gpu import ColumnRoom, FaultListing, pack_columns, pack_task
    from headrace.columns.types import parse_type
    from headrace.sources.open import open_source
    from headrace.testing.convert_fibers import pack_dialect

    options = parse_options({**(read_csv.__kwdefaults__ or {}), "schema": types, "header": False})
    with open_source(text, options.source) as source:
        plan = load_plan(source, prepare(source, options), options)
    low, high = (np.frombuffer(_native.pack_rules(plan, at), np.uint64) for at in (0, 1 << 40))
    rooms = [ColumnRoom(position=i, type=parse_type(type_)) for i, type_ in enumerate(types)]
    return {
        "rules": low,
        "pointers": np.flatnonzero(low != high),
        "columns": pack_columns(plan, rooms, 0, low.tobytes()),
        "task": pack_task(plan, rooms, (pack_dialect(options.dialect), b""), size=0, tiles=0, listing=FaultListing(room=1000)),
    }


class Card:
    """Cubins and launches by the driver."""

    def __init__(self) -> None:
        self.cuda = ctypes.CDLL("libcuda.so.1")

    def checked(self, code: int) -> None:
        if code:
            name = ctypes.c_char_p()
            self.cuda.cuGetErrorName(code, ctypes.byref(name))
            raise RuntimeError(name.value)

    def load(self, path: Path, entry: str, shared: int) -> ctypes.c_void_p:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.checked(self.cuda.cuModuleLoadData(ctypes.byref(module), path.read_bytes()))
        self.checked(self.cuda.cuModuleGetFunction(ctypes.byref(function), module, entry.encode()))
        self.checked(self.cuda.cuFuncSetAttribute(function, 8, shared))
        return function

    def launch(self, function: ctypes.c_void_p, grid: int, shape: dict[str, int], pointers: list[int], task: bytes) -> None:
        values: list[Any] = [ctypes.c_uint64(pointer) for pointer in pointers] + [ctypes.create_string_buffer(task, len(task))]
        array = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        threads, shared = shape["threads"], shape["shared"]
        self.checked(self.cuda.cuLaunchKernel(function, grid, 1, 1, threads, 1, 1, shared, None, array, None))


def tile_entries(text: np.ndarray, copies: int, tile: int, how: tuple[int, bool]) -> np.ndarray:
    """Entries of a block that is repeated; `how`: columns, and whether quotes mean something."""
    columns, quotes = how
    inside = np.cumsum(text == ord('"')) & 1 if quotes else np.zeros(len(text), np.int64)
    lines = np.flatnonzero((text == ord("\n")) & (inside == 0))
    ends = np.flatnonzero(((text == ord("\n")) | (text == ord(","))) & (inside == 0))
    size = len(text) * copies
    at = np.minimum(np.arange(-(-size // tile) + 1, dtype=np.int64) * tile, size)
    block, place = at // len(text), at % len(text)
    record, field = np.searchsorted(lines, place), np.searchsorted(ends, place)
    behind_lines, behind_ends = np.append(-1, lines), np.append(-1, ends)
    dtype = [
        ("record", "u8"),
        ("record_begin", "u8"),
        ("field_begin", "u8"),
        ("column", "u4"),
        ("state", "u1"),
        ("open", "u1"),
        ("x", "V2"),
    ]
    entries = np.zeros(len(at), dtype)
    entries["record"] = block * len(lines) + record
    entries["record_begin"] = block * len(text) + behind_lines[record] + 1
    entries["field_begin"] = block * len(text) + behind_ends[field] + 1
    entries["column"] = field - record * columns
    entries["open"] = entries["record_begin"] != at
    entries["state"] = np.where(place > 0, inside[place - 1], 0)
    return entries


class Case:
    """One text on the card, and one shape of the kernels."""

    def __init__(self, folder: Path, name: str, key: str, shape: dict[str, int]) -> None:
        import torch

        self.card, self.shape = Card(), shape
        self.parts = dict(np.load(folder / f"{name}.npz"))
        block, lone = self.parts["text"], self.parts["columns"]
        self.copies = TEXT_BYTES // len(block)
        self.size = self.copies * len(block)
        entries = tile_entries(block, self.copies, shape["tile"], (len(lone), key.endswith("quotes")))
        self.rows, self.tiles = int(entries["record"][-1]), len(entries) - 1
        self.text = torch.from_numpy(block.copy()).cuda().repeat(self.copies)
        self.entries = torch.from_numpy(entries.view(np.uint8)).cuda()
        self.rules = torch.from_numpy(self.parts["rules"].astype(np.int64)).cuda()
        self.rules[torch.from_numpy(self.parts["pointers"]).cuda()] += self.rules.data_ptr()
        self.table = torch.from_numpy(self._columns(lone).view(np.uint8)).cuda()
        task = self.parts["task"].copy()
        task["size"], task["tiles"] = self.size, self.tiles
        self.task, self.strings = task.tobytes(), int(task["strings"][0])
        self.faults = torch.zeros(48 * 1000, dtype=torch.uint8, device="cuda")
        self.totals = torch.zeros(3, dtype=torch.int64, device="cuda")
        self.sums = torch.zeros((self.tiles, max(self.strings, 1)), dtype=torch.int64, device="cuda")
        self.moved = self.sums
        self.measure_kernel = self.card.load(folder / f"{key}.measure.cubin", "measure_strings", shape["shared"])
        self.convert_kernel = self.card.load(folder / f"{key}.convert.cubin", "convert_tiles", shape["shared"])

    def _columns(self, lone: np.ndarray) -> np.ndarray:
        import torch

        self.made: dict[int, dict[str, Any]] = {}
        columns = lone.copy()
        columns["rules"] += np.uint64(self.rules.data_ptr())
        for column in columns:
            number = int(column["position"])
            room = len(self.parts[f"values{number}"]) * self.copies
            made = self.made[number] = {
                "validity": torch.zeros(self.rows // 32 + 1, dtype=torch.int32, device="cuda"),
                "values": torch.full((room,), 0xEE, dtype=torch.uint8, device="cuda"),
                "offsets": torch.zeros(self.rows + 1, dtype=torch.int32, device="cuda"),
            }
            for part, array in made.items():
                column[part] = array.data_ptr()
        return columns

    def _launch(self, kernel: ctypes.c_void_p, arrays: list[Any]) -> None:
        pointers = [array.data_ptr() for array in (self.text, self.entries, self.table, *arrays)]
        self.card.launch(kernel, self.tiles, self.shape, pointers, self.task)

    def measure(self) -> None:
        self._launch(self.measure_kernel, [self.sums])

    def convert(self) -> None:
        self._launch(self.convert_kernel, [self.moved, self.faults, self.totals])


def milliseconds(work: Callable[[], None]) -> float:
    """Time of a launch by events."""
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    work()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end))


def run(folder: Path, only: list[str], profile: bool) -> None:
    """Check and time every shape on every text."""
    import torch

    torch.zeros(1, device="cuda")
    for name in only or TYPES:
        for key, shape in json.loads((folder / "shapes.json").read_text()).items():
            if key.endswith("quotes") != (name == "quoted") and not (key.endswith("quotes") and name == "taxi"):
                continue
            case = Case(folder, name, key, shape)
            if case.strings:
                case.measure()
            begins = torch.cumsum(case.sums, 0) - case.sums if case.strings else case.sums
            case.moved = begins.clone()
            case.convert()
            torch.cuda.synchronize()
            wrong = check(case.parts, case.made, case.copies, (case.rows, int(case.totals[0])))
            if profile:
                return
            times = []
            for _ in range(12):
                case.moved.copy_(begins)
                times.append(milliseconds(case.convert))
            extra = f", measure {case.size / milliseconds(case.measure) / 1e6:.0f} GB/s" if case.strings else ""
            print(f"{name:9} {key:24} convert {case.size / statistics.median(times) / 1e6:7.0f} GB/s{extra}  {wrong}", flush=True)


def check(parts: dict[str, np.ndarray], made: dict[int, dict[str, Any]], copies: int, counts: tuple[int, int]) -> str:
    """Compare every copy of the block with what the CPU made of it."""
    import torch

    rows, faults = counts
    wrong = [f"{faults} faults"] if faults else []
    for number, parts_made in made.items():
        wanted = torch.from_numpy(parts[f"values{number}"].copy()).cuda()
        if not bool((parts_made["values"].view(copies, -1) == wanted).all()):
            wrong.append(f"values of column {number}")
        if f"offsets{number}" in parts:
            offsets = torch.from_numpy(parts[f"offsets{number}"].copy()).cuda()
            own = (
                parts_made["offsets"][1:].view(copies, -1)
                - torch.arange(copies, device="cuda", dtype=torch.int32)[:, None] * offsets[-1]
            )
            if not bool((own == offsets[1:]).all()) or int(parts_made["offsets"][0]):
                wrong.append(f"offsets of column {number}")
        bits = parts_made["validity"].view(torch.uint8)[: rows // 8].view(copies, -1)
        valid = parts.get(f"validity{number}")
        expected = torch.full((rows // 8 // copies,), 255, dtype=torch.uint8) if valid is None else torch.from_numpy(valid.copy())
        if not bool((bits == expected.cuda()).all()):
            wrong.append(f"validity of column {number}")
    return "WRONG: " + ", ".join(wrong) if wrong else "all right"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("pack", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=Path.home() / ".cache" / "headrace-bench")
    parser.add_argument("--shapes", nargs="+", default=["256,16384,4096,4"])
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    if given.command == "pack":
        pack(given.folder, given.data, given.shapes)
    else:
        run(given.folder, given.only, given.profile)


if __name__ == "__main__":
    main()
