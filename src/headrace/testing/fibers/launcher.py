"""Implements the launcher of `headrace.gpu.kernels.launcher` with the fiber harness, so that host code runs without a GPU."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.core.buffer import Buffer, copy_of
from headrace.gpu.kernels.kernel import LaunchMode
from headrace.gpu.kernels.launcher import Entry, Part, Room, Shape
from headrace.gpu.kernels.trace import Filled, Recording, Run
from headrace.testing.fibers.build import program
from headrace.testing.fibers.launch import Checks


class HostRoom:
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


class HostRooms(list[HostRoom]):
    """A group of buffers."""

    @property
    def addresses(self) -> list[int]:
        """Addresses of the buffers."""
        return [room.address for room in self]

    def trim(self, sizes: Sequence[int]) -> None:
        """Same as `headrace.gpu.kernels.launcher.Rooms.trim`."""
        for room, nbytes in zip(self, sizes, strict=True):
            room.array = room.array[:nbytes]

    def drop(self, numbers: Sequence[int]) -> None:
        """Same as `headrace.gpu.kernels.launcher.Rooms.drop`."""
        for number in numbers:
            self[number] = HostRoom(np.zeros(0, np.uint8))

    def join(self, others: HostRooms) -> None:
        """Same as `headrace.gpu.kernels.launcher.Rooms.join`."""
        self.extend(others)


class FiberLauncher:
    """Runs each launch immediately, with one scheduling order and seed.

    Parameters
    ----------
    order, seed, resident_blocks
        As `headrace.testing.fibers.Program.launch` has them. All blocks of a cooperative launch are resident.
    """

    def __init__(self, order: str = "random", seed: int = 0, resident_blocks: int = 4) -> None:
        self.waits = 0
        self._how = order, seed, resident_blocks
        # Freed memory must not be accessed by kernels; on a GPU it may belong to another buffer by then.
        self._rooms: weakref.WeakSet[HostRoom] = weakref.WeakSet()
        self._lock = threading.Lock()  # a stream's sender makes rooms on a thread of its own

    def current(self) -> AbstractContextManager[None]:
        """Same as `headrace.gpu.kernels.launcher.Launcher.current`, without a device to select."""
        return nullcontext()

    def room(self, nbytes: int, *, fill: int | None = None) -> HostRoom:
        """Same as `headrace.gpu.kernels.launcher.Launcher.room`; uninitialised bytes are poison."""
        memory: NDArray[np.uint8] = np.full(nbytes + 256, 0xEE if fill is None else fill, np.uint8)
        begin = -memory.ctypes.data % 256
        room = HostRoom(memory[begin : begin + nbytes])
        if nbytes:
            with self._lock:
                self._rooms.add(room)
        return room

    def rooms(self, zeroed: Sequence[int], others: Sequence[int] = (), *, ones: int = 0) -> HostRooms:
        """Same as `gpu.kernels.launcher.Launcher.rooms`; the buffers are not adjacent, so that overruns are found."""
        filled = [self.room(nbytes, fill=0xFF if number < ones else 0) for number, nbytes in enumerate(zeroed)]
        return HostRooms([*filled, *(self.room(nbytes) for nbytes in others)])

    def fill(self, room: Room, byte: int) -> None:
        """Same as `headrace.gpu.kernels.launcher.Launcher.fill`."""
        _array(room)[:] = byte

    def put(self, values: NDArray[Any] | bytes, room: Room | None = None) -> Room:
        """Same as `headrace.gpu.kernels.launcher.Launcher.put`."""
        array = np.frombuffer(values, np.uint8) if isinstance(values, bytes) else values
        plain = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        made = self.room(plain.nbytes) if room is None else room
        _array(made)[:] = plain
        return made

    def together(self) -> AbstractContextManager[object]:
        """Same as `headrace.gpu.kernels.launcher.Launcher.together`."""
        return nullcontext()

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
            arrays = [room.array for room in self._rooms]
        checks = Checks(reachable=tuple(array for array in arrays if array.ctypes.data not in passed))
        order, seed, resident = self._how
        if entry.mode is LaunchMode.COOPERATIVE:
            resident = max(resident, prod(shape.blocks) if isinstance(shape.blocks, tuple) else shape.blocks)
        program(entry.file, shape.defines).launch(
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

    def replay(self, recording: Recording, numbers: Sequence[int], rooms: Sequence[Room | None]) -> HostRooms | None:
        """Same as `headrace.gpu.kernels.launcher.Launcher.replay`, step by step."""
        sizes = Run(recording, numbers, rooms, [])
        zeroed, others = [[sizes.number(size) for size in some] for some in (recording.zeroed, recording.others)]
        made = self.rooms(zeroed, others)
        run = Run(recording, numbers, rooms, made)
        for step in recording.steps:
            if isinstance(step, Filled):
                room = run.room(step.room)
                assert room is not None
                self.fill(room, step.byte)
            else:
                self.launch(step.entry, run.shape(step.shape), [run.argument(arg) for arg in step.args])
        return made if recording.makes_rooms else None

    def fetch(self, room: Room) -> NDArray[np.uint8]:
        """Same as `headrace.gpu.kernels.launcher.Launcher.fetch`."""
        self.waits += 1
        return _array(room).copy()

    def result(self, room: Room) -> Buffer:
        """Return a copy as a host buffer."""
        return copy_of(_array(room).data)


def _array(room: Room) -> NDArray[np.uint8]:
    if isinstance(room, Part):
        return _array(room.room)[room.begin : room.begin + room.nbytes]
    assert isinstance(room, HostRoom)
    return room.array


def _given(arg: Any) -> Any:
    if isinstance(arg, HostRoom | Part):
        array = _array(arg)
        return array if array.size else None
    return arg
