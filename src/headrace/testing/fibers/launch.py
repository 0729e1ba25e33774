"""Launches one kernel: packs its arguments, sets limits, and reports the result."""

from __future__ import annotations

import ctypes
import operator
import re
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.core.errors import OptionError
from headrace.testing.fibers.findings import (
    FindingStruct,
    Image,
    Index,
    KernelError,
    RangeStruct,
    SharedVariable,
    ThreadStruct,
    explain,
)

ORDERS = ("forward", "reverse", "random")
_MAX_THREADS, _MAX_RESIDENT, _MAX_SHARED = 1024, 32, 227 * 1024
_MIN_STACK = 16 << 10
_KINDS = ("pointer", "unsigned", "signed", "floating", "bytes")


@dataclass(frozen=True, kw_only=True)
class Checks:
    """Optional checks of a launch, and its limits."""

    races: bool = True
    """Two threads access the same shared memory or array, one of them writes, and no barrier or fence is between. Only the
    ``"checked"`` build checks this and the next fault.
    """
    uninitialised: bool = True  # shared memory is read before it is written
    spins: bool = True  # threads poll memory that no other thread will change
    starts: str = "any"
    """``"any"``: blocks start in an arbitrary order, since CUDA promises none. ``"ascending"``: as hardware starts them."""
    poison: int = 0xCB
    """Initial value of each byte of shared memory. A result that depends on it depends on uninitialised memory."""
    reachable: tuple[Any, ...] = ()  # arrays that are not arguments, but are reached through pointers in structures or arrays
    unwritten: tuple[Any, ...] = ()  # arguments without content: each byte must be written before it is read
    seconds: float = 60.0  # time limit
    stack_bytes: int = 64 << 10  # stack of each thread, for its local arrays


@dataclass(frozen=True)
class Counts:
    """Event counts of a launch."""

    blocks: int
    threads: int  # blocks and threads that ran
    interleavings: int  # accesses before which another thread could run: atomic and volatile ones, and fences
    switches: int
    block_switches: int  # switches to another thread; those to another block
    barriers: int
    collectives: int  # arrivals of threads at barriers, and of lanes at collectives
    atomics: int
    lost_swaps: int  # atomic operations; compare-and-swaps that failed


@dataclass(frozen=True, kw_only=True)
class HarnessLaunch:
    """Launch configuration, and the scheduling of its threads; see `headrace.testing.fibers.Program.launch`."""

    grid: int | Sequence[int]
    block: int | Sequence[int]
    shared: int
    order: str
    seed: int
    resident_blocks: int


class _EntryStruct(ctypes.Structure):
    _fields_ = (("call", ctypes.c_void_p), ("count", ctypes.c_uint32), ("kinds", ctypes.c_void_p), ("sizes", ctypes.c_void_p))


class _PagesStruct(ctypes.Structure):
    _fields_ = (("memory", ctypes.c_void_p), ("bytes", ctypes.c_uint64))


class _MemoryStruct(ctypes.Structure):
    _fields_ = (("blocks", _PagesStruct), ("cells", _PagesStruct), ("epochs", ctypes.c_uint64))


_idle_memory: list[_MemoryStruct] = []
"""Memory of fibers that no launch uses now, for the next launch of any program."""


class _LaunchStruct(ctypes.Structure):
    _fields_ = (
        ("grid", Index),
        ("block", Index),
        ("shared", ctypes.c_uint64),
        ("arguments", ctypes.c_void_p),
        ("ranges", ctypes.c_void_p),
        ("range_count", ctypes.c_uint64),
        ("owners", ctypes.c_void_p),
        ("seed", ctypes.c_uint64),
        ("stack_bytes", ctypes.c_uint64),
        ("seconds", ctypes.c_double),
        ("order", ctypes.c_uint32),
        ("resident", ctypes.c_uint32),
        ("ascending", ctypes.c_uint32),
        ("poison", ctypes.c_uint32),
        ("find_races", ctypes.c_uint32),
        ("find_uninitialised", ctypes.c_uint32),
        ("find_spins", ctypes.c_uint32),
        ("memory", ctypes.POINTER(_MemoryStruct)),
    )


class _CountsStruct(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in Counts.__dataclass_fields__)


class Library:
    """A loaded program and the layout of its shared variables."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.native = ctypes.CDLL(str(path))
        self.native.fibers_image.restype = ctypes.c_void_p
        self.native.fibers_statics.restype = ctypes.c_uint64
        self.variables = _shared_variables(path)
        # Which variable each byte of the shared section belongs to, from 1; 0 is between them.
        self.owners = (ctypes.c_uint16 * max(1, self.native.fibers_statics()))()
        for number, (_, offset, size) in enumerate(self.variables, 1):
            self.owners[offset : offset + size] = [number] * size


def _shared_variables(path: Path) -> list[SharedVariable]:
    # readelf takes 3 ms; nm takes 20 ms, mostly to load a plugin of the compiler.
    listed = subprocess.run(["readelf", "-sWC", str(path)], capture_output=True, text=True, check=True).stdout
    symbols = re.findall(r"^ *\d+: ([0-9a-f]+) +(\w+) (?:OBJECT|NOTYPE) +\w+ +\w+ +\w+ (.*)$", listed, re.MULTILINE)
    places = {name: int(address, 16) for address, _, name in symbols if name.endswith("_fibers_shared")}
    first, last = places.get("__start_fibers_shared", 0), places.get("__stop_fibers_shared", 0)
    found = []
    for address, size, name in symbols:
        if first <= int(address, 16) < last and int(size, 0):
            found.append(SharedVariable(name.rpartition("::")[2], int(address, 16) - first, int(size, 0)))
    return sorted(found, key=lambda variable: variable.offset)


def run(library: Library, entry: str, args: Sequence[object], config: HarnessLaunch, checks: Checks) -> Counts:
    """Launch a kernel and raise the fault that is found, if any."""
    described = _EntryStruct.in_dll(library.native, f"fibers_entry_{entry}")
    values, ranges = _marshal(entry, described, args)
    for array in checks.reachable:
        ranges.append(_range_of(array, len(args)))
    for range_ in ranges:
        range_.unwritten = range_.low in {array.ctypes.data for array in checks.unwritten}
    if config.order not in ORDERS:
        raise OptionError.unknown("order", config.order, ORDERS)
    if checks.starts not in {"any", "ascending"}:
        raise OptionError.unknown("starts", checks.starts, ("any", "ascending"))
    if not 1 <= config.resident_blocks <= _MAX_RESIDENT:
        raise OptionError(f"resident_blocks must be 1 to {_MAX_RESIDENT}, not {config.resident_blocks}")
    if not 0 <= config.shared <= _MAX_SHARED:
        raise OptionError(f"shared must be 0 to {_MAX_SHARED} bytes, not {config.shared}")
    if not 0 <= checks.poison <= 255:
        raise OptionError(f"poison must be a byte, not {checks.poison}")
    if checks.stack_bytes < _MIN_STACK:
        raise OptionError(f"stack_bytes must be {_MIN_STACK} or more, not {checks.stack_bytes}")
    grid, block = _extents("grid", config.grid), _extents("block", config.block)
    if block.x * block.y * block.z > _MAX_THREADS:
        raise OptionError(f"a block has at most {_MAX_THREADS} threads, not {block.x} x {block.y} x {block.z}")
    pointers = (ctypes.c_void_p * max(1, len(values)))(*(ctypes.addressof(value) for value in values))
    reached = (RangeStruct * max(1, len(ranges)))(*ranges)
    try:
        memory = _idle_memory.pop()
    except IndexError:
        memory = _MemoryStruct()
    launch = _LaunchStruct(
        grid,
        block,
        config.shared,
        ctypes.addressof(pointers),
        ctypes.addressof(reached),
        len(ranges),
        ctypes.addressof(library.owners),
        config.seed % 2**64,
        checks.stack_bytes // 4096 * 4096,
        checks.seconds,
        ORDERS.index(config.order),
        config.resident_blocks,
        checks.starts == "ascending",
        checks.poison,
        checks.races,
        checks.uninitialised,
        checks.spins,
        ctypes.pointer(memory),
    )
    counts, finding = _CountsStruct(), FindingStruct()
    code = library.native.fibers_launch(
        ctypes.byref(described), ctypes.byref(launch), ctypes.byref(counts), ctypes.byref(finding)
    )
    _idle_memory.append(memory)
    if code == 2:
        raise MemoryError("there is no address space for the fibers' stacks")
    if code:
        raise _fault(library, finding, len(args))
    return Counts(*(getattr(counts, name) for name in Counts.__dataclass_fields__))


def _fault(library: Library, finding: FindingStruct, argument_count: int) -> KernelError:
    threads = ctypes.POINTER(ThreadStruct)()
    count = library.native.fibers_threads(ctypes.byref(threads))
    return explain(
        finding, threads[:count], Image(library.path, library.native.fibers_image(), library.variables), argument_count
    )


def _extents(what: str, given: int | Sequence[int]) -> Index:
    sizes = [given] if isinstance(given, int) else list(given)
    if not 1 <= len(sizes) <= 3 or any(size < 1 for size in sizes):
        raise OptionError(f"{what} must be one to three positive numbers, not {given!r}")
    return Index(*(int(size) for size in (*sizes, 1, 1)[:3]))


def _marshal(entry: str, described: _EntryStruct, args: Sequence[object]) -> tuple[list[Any], list[RangeStruct]]:
    """Copy each argument to its own memory; return them and the arrays' address ranges."""
    if len(args) != described.count:
        raise OptionError(f"{entry} takes {described.count} arguments, not {len(args)}")
    kinds = ctypes.cast(described.kinds, ctypes.POINTER(ctypes.c_uint8))
    sizes = ctypes.cast(described.sizes, ctypes.POINTER(ctypes.c_uint32))
    values, ranges = [], []
    for number, arg in enumerate(args):
        kind, size = _KINDS[kinds[number]], sizes[number]
        if kind == "pointer" and arg is not None:
            ranges.append(_range_of(arg, number))
            word = struct.pack("<Q", ranges[-1].low)
        else:
            word = _word(f"argument {number} of {entry}", kind, size, arg)
        values.append(ctypes.create_string_buffer(word, max(1, len(word))))
    return values, ranges


def _range_of(array: Any, number: int) -> RangeStruct:
    view = getattr(array, "__array_interface__", None)
    if view is None:
        raise OptionError(f"argument {number} must be a NumPy array, not {type(array).__name__}")
    if view.get("strides") is not None:
        raise OptionError(f"argument {number} must be contiguous")
    address, read_only = view["data"]
    return RangeStruct(address, array.nbytes, number, not read_only)


def _word(what: str, kind: str, size: int, arg: Any) -> bytes:
    try:
        if kind == "pointer":
            return bytes(8)
        if kind == "floating":
            return struct.pack("<f" if size == 4 else "<d", arg)
        if kind == "bytes":
            word = arg.tobytes() if hasattr(arg, "tobytes") else bytes(arg)
            if len(word) != size:
                raise OptionError(f"{what} must have {size} bytes, not {len(word)}")
            return word
        return operator.index(arg).to_bytes(size, "little", signed=kind == "signed")
    except (OverflowError, TypeError, struct.error) as error:
        raise OptionError(f"{what} must be {kind} of {size} bytes, not {arg!r}") from error
