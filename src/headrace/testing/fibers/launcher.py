"""Implements the launcher of `headrace.gpu.kernels.launcher` with the fiber harness, so that host code runs without a GPU."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.core.buffer import Buffer, copy_of
from headrace.gpu.kernels.kernel import LaunchMode, NeededProgram
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Meanwhile, Shape
from headrace.gpu.kernels.source import whole_masks
from headrace.gpu.kernels.trace import Filled, Recording, Run
from headrace.gpu.kernels.trace_chain import ChainBegin, ChainEnd, TraceChain
from headrace.testing.fibers.build import program
from headrace.testing.fibers.launch import Checks


class HostBuffer:
    """Host memory that represents a device buffer under the harness."""

    def __init__(self, array: NDArray[np.uint8]) -> None:
        self.array = array

    @property
    def address(self) -> int:
        """Address of the first byte."""
        address: int = self.array.ctypes.data
        return address

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        size: int = self.array.nbytes
        return size


class HostBufferGroup(list[HostBuffer]):
    """A group of buffers."""

    @property
    def addresses(self) -> list[int]:
        """Addresses of the buffers."""
        return [buffer.address for buffer in self]

    def trim(self, sizes: Sequence[int]) -> None:
        for buffer, nbytes in zip(self, sizes, strict=True):
            buffer.array = buffer.array[:nbytes]

    def drop(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self[number] = HostBuffer(np.zeros(0, np.uint8))

    def join(self, others: HostBufferGroup) -> None:
        self.extend(others)


class FiberLauncher:
    """Runs each launch immediately, with one scheduling order and seed.

    `order`, `seed`, `resident_blocks`: as `headrace.testing.fibers.Program.launch` has them. All blocks of a cooperative launch
    are resident.
    """

    def __init__(self, order: str = "random", seed: int = 0, resident_blocks: int = 4) -> None:
        self.waits = 0
        self._how = order, seed, resident_blocks
        # Freed memory must not be accessed by kernels; on a GPU it may belong to another buffer by then.
        self._buffers: weakref.WeakSet[HostBuffer] = weakref.WeakSet()
        self._lock = threading.Lock()  # a stream's sender allocates on a thread of its own

    def current(self) -> AbstractContextManager[None]:
        """Same as `headrace.gpu.kernels.launcher.Launcher.current`, without a device to select."""
        return nullcontext()

    def lasting(self) -> FiberLauncher:
        """Return the launcher itself."""
        return self

    def allocate(self, nbytes: int, *, fill: int | None = None) -> HostBuffer:
        """Same as `headrace.gpu.kernels.launcher.Launcher.allocate`; uninitialised bytes are poison."""
        memory: NDArray[np.uint8] = np.full(nbytes + 256, 0xEE if fill is None else fill, np.uint8)
        begin = -memory.ctypes.data % 256
        buffer = HostBuffer(memory[begin : begin + nbytes])
        if nbytes:
            with self._lock:
                self._buffers.add(buffer)
        return buffer

    def allocate_group(self, zeroed: Sequence[int], others: Sequence[int] = (), *, ones: int = 0) -> HostBufferGroup:
        """Same as `gpu.kernels.launcher.Launcher.allocate_group`; the buffers are not adjacent, so that overruns are found."""
        filled = [self.allocate(nbytes, fill=0xFF if number < ones else 0) for number, nbytes in enumerate(zeroed)]
        return HostBufferGroup([*filled, *(self.allocate(nbytes) for nbytes in others)])

    def fill(self, buffer: DeviceBuffer, byte: int) -> None:
        _array(buffer)[:] = byte

    def put(self, values: NDArray[Any] | bytes, buffer: DeviceBuffer | None = None) -> DeviceBuffer:
        array = np.frombuffer(values, np.uint8) if isinstance(values, bytes) else values
        plain = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        result = self.allocate(plain.nbytes) if buffer is None else buffer
        _array(result)[:] = plain
        return result

    def together(self) -> AbstractContextManager[object]:
        return nullcontext()

    def prepare(self, programs: Iterable[NeededProgram]) -> None:
        """Same as `headrace.gpu.kernels.launcher.Launcher.prepare`; programs are built at their launch."""

    def load(self, entries: Sequence[Entry], defines: Mapping[str, int]) -> None:
        """Same as `headrace.gpu.kernels.launcher.Launcher.load`; programs are built at their launch."""

    def launch(self, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        """Same as `headrace.gpu.kernels.launcher.Launcher.launch`.

        Raises
        ------
        KernelError
            The harness found a fault.
        """
        given = [_given(arg) for arg in args]
        passed = {arg.ctypes.data for arg in given if isinstance(arg, np.ndarray)}
        with self._lock:
            arrays = [buffer.array for buffer in self._buffers]
        checks = Checks(reachable=tuple(array for array in arrays if array.ctypes.data not in passed))
        order, seed, resident = self._how
        if entry.mode is LaunchMode.COOPERATIVE:
            resident = max(resident, prod(shape.blocks) if isinstance(shape.blocks, tuple) else shape.blocks)
        program(entry.file, whole_masks(entry.file, shape.defines)).launch(  # one program for all masks
            entry.name,
            shape.blocks,
            shape.threads,
            given,
            shared=shape.shared,
            order=order,
            seed=seed,
            resident_blocks=resident,
            checks=checks,
        )

    def replay(
        self, recording: Recording, numbers: Sequence[int], buffers: Sequence[DeviceBuffer | None]
    ) -> HostBufferGroup | None:
        """Same as `headrace.gpu.kernels.launcher.Launcher.replay`, step by step."""
        result = self._allocated(recording, numbers, buffers)
        self._run(recording, numbers, buffers, result)
        return result if recording.allocates else None

    def _allocated(self, recording: Recording, numbers: Sequence[int], buffers: Sequence[DeviceBuffer | None]) -> HostBufferGroup:
        """Allocate the buffers of a run."""
        sizes = Run(recording, numbers, buffers, [])
        zeroed, others = [[sizes.number(size) for size in some] for some in (recording.zeroed, recording.others)]
        return self.allocate_group(zeroed, others)

    def _run(
        self, recording: Recording, numbers: Sequence[int], buffers: Sequence[DeviceBuffer | None], result: HostBufferGroup
    ) -> None:
        """Make the steps of a run with the buffers that it allocates."""
        run = Run(recording, numbers, buffers, result)
        for step in recording.steps:
            if isinstance(step, Filled):
                buffer = run.buffer(step.buffer)
                assert buffer is not None
                self.fill(buffer, step.byte)
            else:
                self.launch(step.entry, run.shape(step.shape), [run.argument(arg) for arg in step.args])

    def run_chain(
        self, chain: TraceChain, begin: ChainBegin, end: ChainEnd, meanwhile: Meanwhile
    ) -> tuple[HostBufferGroup, bytes] | None:
        """Same as `headrace.gpu.kernels.launcher.Launcher.run_chain`, step by step; there are no slabs."""
        head = b"" if begin.head is None else _array(begin.head).tobytes()
        buffers = self._allocated(chain.first, begin.first, [begin.text])
        later = self.allocate_group(end.later.zeroed, end.later.others, ones=end.later.ones)
        table, results = buffers[chain.table], buffers[chain.results]
        offset, distance = end.strided
        strided = (results.address + offset, distance) if distance else (0, 0)
        words = chain.words.at(table.address, later.addresses, strided, end.suffix)
        self.put(words, BufferSlice(table, 0, len(words)))
        self._run(chain.first, begin.first, [begin.text], buffers)
        linked = [None if link is None else buffers[link] for link in chain.links]
        scratch = self.replay(chain.second, begin.second, [begin.text, *linked])
        if not meanwhile(head, buffers if end.keeps else None):
            return None
        fetched = self.fetch(BufferSlice(results, 0, end.fetched)).tobytes()
        del scratch  # kernels may reach its buffers up to here
        has_ones = end.ones and fetched.endswith(b"\xff" * end.ones)
        return later, fetched[: -end.ones] if has_ones else fetched

    def fetch(self, buffer: DeviceBuffer) -> NDArray[np.uint8]:
        self.waits += 1
        return _array(buffer).copy()

    def answer(self, entry: Entry, shape: Shape, args: Sequence[Any], count: int) -> list[int]:
        buffer = self.allocate(8 * count)
        self.launch(entry, shape, (*args, buffer))
        return memoryview(self.fetch(buffer)).cast("Q").tolist()

    def result(self, buffer: DeviceBuffer) -> Buffer:
        """Return a copy as a host buffer."""
        return copy_of(_array(buffer).data)


def _array(buffer: DeviceBuffer) -> NDArray[np.uint8]:
    if isinstance(buffer, BufferSlice):
        return _array(buffer.buffer)[buffer.begin : buffer.begin + buffer.nbytes]
    assert isinstance(buffer, HostBuffer)
    return buffer.array


def _given(arg: Any) -> Any:
    if isinstance(arg, HostBuffer | BufferSlice):
        array = _array(arg)
        return array if array.size else None
    return arg
