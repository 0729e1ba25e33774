"""Explains what the harness found: the fault, its source line, and the position of each thread."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from headrace.core.errors import HeadraceError

_HERE = str(Path(__file__).parent)

KINDS = (
    ("nothing", ""),
    ("divergent_barrier", "threads of a block are at different barriers, or some will never come"),
    ("divergent_collective", "lanes of a warp do different things together"),
    ("wrong_mask", "a warp's mask is wrong"),
    ("deadlock", "threads wait for others that never come"),
    ("spin", "threads look at memory that nobody changes"),
    ("endless", "a loop that touches no memory does not end"),
    ("time", "the time limit has passed"),
    ("out_of_bounds", "an access outside every array"),
    ("read_only", "a write to a read-only array"),
    ("others_locals", "an access to local variables of another thread"),
    ("uninitialised", "shared memory is read that no thread of the block has written"),
    ("race", "two threads use the same shared memory, one writes, and no barrier is between"),
    ("global_race", "a thread reads what another has written to an array, and no barrier or fence orders them"),
    ("unwritten", "an array that held nothing yet is read before it is written"),
    ("undefined", "what the language leaves undefined"),
    ("stack", "a thread's stack is too small; pass Checks(stack_bytes=...)"),
    ("trap", "the kernel stopped itself"),
)  # names and meanings of `Found` in state.hpp, in its order

_COLLECTIVES = (
    "__syncwarp",
    "ballot/any/all",
    "shfl",
    "match_any",
    "match_all",
    "reduce_add",
    "reduce_min",
    "reduce_max",
    "reduce_and",
    "reduce_or",
    "reduce_xor",
    "activemask",
)


class Index(ctypes.Structure):
    """Three coordinates of a block or thread."""

    _fields_ = (("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32))

    def as_tuple(self) -> tuple[int, int, int]:
        """Return the coordinates as a tuple."""
        return self.x, self.y, self.z


class RangeStruct(ctypes.Structure):
    """`Range` of state.hpp."""

    _fields_ = (
        ("low", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("argument", ctypes.c_uint32),
        ("writable", ctypes.c_uint16),
        ("unwritten", ctypes.c_uint16),
    )


class FindingStruct(ctypes.Structure):
    """`Finding` of state.hpp."""

    _fields_ = (
        ("found", ctypes.c_uint32),
        ("is_write", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("where", ctypes.c_void_p),
        ("other_where", ctypes.c_void_p),
        ("block", Index),
        ("thread", Index),
        ("other_thread", Index),
        ("other_block", ctypes.c_uint32),
        ("near", RangeStruct),
        ("offset", ctypes.c_longlong),
        ("waiting", ctypes.c_uint64),
        ("text", ctypes.c_char * 160),
    )


class ThreadStruct(ctypes.Structure):
    """Twin of the structure in runtime.hpp that describes a thread."""

    _fields_ = (
        ("block", Index),
        ("thread", Index),
        ("doing", ctypes.c_uint32),
        ("what", ctypes.c_uint32),
        ("where", ctypes.c_void_p),
    )


class KernelError(HeadraceError, RuntimeError):
    """A kernel has a fault.

    `kind`: ``"divergent_barrier"``, ``"race"``, ``"spin"``, ...: `KINDS` has all.
    `where`: file and line, innermost first, each with its function: ``("scan.cu:12 in block_scan", "scan.cu:40 in scan")``.
    `block`, `thread`: indices of the thread that it was noticed in.
    """

    def __init__(
        self, message: str, kind: str, where: tuple[str, ...], block: tuple[int, int, int], thread: tuple[int, int, int]
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.where = where
        self.block = block
        self.thread = thread


class SharedVariable(NamedTuple):
    """A `__shared__` variable: name, offset in the section of shared variables, and size in bytes."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True)
class Image:
    """A loaded program: its library, load address, and shared variables by ascending offset."""

    path: Path
    address: int
    variables: Sequence[SharedVariable]


def explain(finding: FindingStruct, threads: Sequence[ThreadStruct], image: Image, argument_count: int) -> KernelError:
    """Return the fault with its message. `image`: the program that was launched."""
    wanted = {thread.where for thread in threads} | {finding.where, finding.other_where}
    places = _places(image.path, image.address, sorted(place for place in wanted if place))
    kind, meaning = KINDS[finding.found]
    where = places.get(finding.where, ())
    block, thread = finding.block.as_tuple(), finding.thread.as_tuple()
    lines = [f"{kind}: {meaning}"]
    if detail := _detail(kind, finding, image.variables, argument_count):
        lines.append(f"  {detail}")
    lines.append(f"  in block {block}, thread {thread}, at {_shown(where)}")
    if finding.other_where:
        other = f"thread {finding.other_thread.as_tuple()}"
        if kind == "global_race":
            other = f"block number {finding.other_block}, {other}"
        lines.append(f"  the access before: {other}, at {_shown(places.get(finding.other_where, ()))}")
    if kind in {"divergent_barrier", "divergent_collective", "wrong_mask", "deadlock", "spin", "endless", "time"}:
        lines += _who_stands_where(threads, places)
        if finding.waiting:
            lines.append(f"  {finding.waiting} blocks have not started; only the resident ones are sure to run")
    return KernelError("\n".join(lines), kind, where, block, thread)


def _detail(kind: str, finding: FindingStruct, variables: Sequence[SharedVariable], argument_count: int) -> str:
    text = str(finding.text.decode())
    if text:
        return text
    done = f"{finding.size} bytes {'written' if finding.is_write else 'read'}"
    if kind in {"race", "uninitialised"}:
        return f"{done} of {_shared_place(finding.offset, variables)}"
    if kind in {"out_of_bounds", "read_only", "global_race", "unwritten"}:
        if finding.near.argument == 2**32 - 1:
            return f"{done} at byte {finding.offset} of dynamic shared memory, which has {finding.near.size}"
        if finding.near.argument == 2**32 - 2:
            return f"{done} at {_shared_place(finding.offset, variables)}"
        if not finding.near.low:
            return f"{done} at address {finding.address:#x}"
        number = finding.near.argument
        name = f"argument {number}" if number < argument_count else "a reachable array"
        return f"{done} at byte {finding.offset} of {name}, which has {finding.near.size}"
    return ""


def _shared_place(offset: int, variables: Sequence[SharedVariable]) -> str:
    """Return the variable at `offset` in the section of shared variables, which dynamic memory follows."""
    near = [variable for variable in variables if variable.offset <= offset]
    if not near and variables:
        return f"byte {offset - variables[0].offset} of {variables[0].name}"
    if near:
        name, first, size = near[-1]
        if offset < first + size or offset < first + size + 64:
            return f"byte {offset - first} of {name}, which has {size}"
    return f"byte {offset - (variables[-1].offset + variables[-1].size + 64 if variables else 0)} of dynamic shared memory"


def _who_stands_where(threads: Sequence[ThreadStruct], places: dict[int, tuple[str, ...]]) -> list[str]:
    groups: dict[tuple[tuple[int, int, int], str], list[tuple[int, int, int]]] = defaultdict(list)
    for thread in threads:
        what = ("can go on", "wait at a barrier", "wait in " + _COLLECTIVES[thread.what], "have returned")[thread.doing]
        if thread.doing != 3 and thread.where:
            what += f", {_shown(places.get(thread.where, ()))}"
        groups[thread.block.as_tuple(), what].append(thread.thread.as_tuple())
    return [f"  block {block}: threads {_ranges(those)} {what}" for (block, what), those in groups.items()]


def _ranges(threads: list[tuple[int, int, int]]) -> str:
    """Return a short list such as ``0-31, 64``, or ``(0, 0, 0) ... (7, 3, 0)`` for blocks with more dimensions."""
    if any(y or z for _, y, z in threads):
        return f"{threads[0]} ... {threads[-1]} ({len(threads)})"
    runs: list[list[int]] = []
    for x in sorted(x for x, _, _ in threads):
        if runs and x == runs[-1][1] + 1:
            runs[-1][1] = x
        else:
            runs.append([x, x])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _shown(where: tuple[str, ...]) -> str:
    return ", called from ".join(where) or "an unknown place"


def _places(path: Path, image: int, addresses: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Return the source lines of each return address, innermost first, without those of the harness."""
    if not addresses:
        return {}
    # A return address follows its call, which may end a line.
    asked = [hex(address - image - 1) for address in addresses]
    answers = subprocess.run(["addr2line", "-aifCe", str(path), *asked], capture_output=True, text=True, check=False).stdout
    found = {}
    for address, answer in zip(addresses, re.split(r"^0x[0-9a-f]+\n", answers, flags=re.MULTILINE)[1:], strict=False):
        pairs = answer.splitlines()
        frames = [(name, place.split(" ")[0]) for name, place in zip(pairs[::2], pairs[1::2], strict=False)]
        shown = [f"{Path(place).name} in {name.split('(')[0]}" for name, place in frames if not place.startswith(_HERE)]
        found[address] = tuple(shown)
    return found
