"""What several kernels make together: rooms of memory, launches in the order of one stream, one way in which the host waits.

A stage's contract is written against `Launcher`; `GpuLauncher` is a card's, and `headrace.testing.fibers.launcher` runs the same
contract without one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np  # a dependency of cuda-core
from numpy.typing import NDArray

from headrace import _native
from headrace.core.budget import Budget
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import Gpu, GpuError, check_status, is_lasting
from headrace.gpu.device.driver_calls import card_calls
from headrace.gpu.device.event import Event
from headrace.gpu.kernels.kernel import Kernel, LaunchMode, Prepared, kernel, launch_all
from headrace.gpu.memory.pinned import give_ring, take_ring
from headrace.gpu.memory.pool import DeviceBuffer, device_pool
from headrace.gpu.memory.slabs import DeviceParts, take_together
from headrace.gpu.transfer.staging import Copier, staging

if TYPE_CHECKING:
    from headrace.gpu.kernels.trace import Recording


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry point: its file, its name there, its parameters, and how it is launched, as `headrace.gpu.kernels.kernel.Kernel`
    has them.
    """

    file: str
    name: str
    signature: str
    mode: LaunchMode = LaunchMode.ORDERED


@dataclass(slots=True, eq=False)
class Shape:
    """The program's macros, blocks of the grid, threads of a block, and its dynamic shared memory in bytes."""

    defines: Mapping[str, int]
    blocks: int | tuple[int, int, int]
    threads: int
    shared: int = 0


class Room(Protocol):
    """Memory where the kernels run; it is given back when nobody holds it."""

    @property
    def address(self) -> int:
        """Where it is."""

    @property
    def nbytes(self) -> int:
        """How many bytes it has."""


class Rooms(Protocol):
    """Several rooms, by number."""

    @property
    def addresses(self) -> list[int]:
        """Where each of them is."""

    def trim(self, sizes: Sequence[int], /) -> None:
        """So many bytes of each count from now on, no more than it has."""

    def drop(self, numbers: Sequence[int], /) -> None:
        """Nobody asks for these any more."""

    def join(self, others: Any, /) -> None:
        """Have rooms of the same launcher behind these."""

    def __len__(self) -> int: ...
    def __getitem__(self, number: int, /) -> Room: ...
    def __iter__(self) -> Iterator[Room]: ...


class Part:
    """Bytes of a room from `begin` on; all that are left, or `size` of them."""

    __slots__ = ("address", "begin", "nbytes", "room")

    def __init__(self, room: Room, begin: int, size: int | None = None) -> None:
        self.address = room.address + begin
        self.nbytes = room.nbytes - begin if size is None else size
        # A part's begin may lie in front of the memory: of a text of which only a part is there.
        self.room: Room
        self.begin: int
        if isinstance(room, Part):
            self.room, self.begin = room.room, room.begin + begin
        else:
            self.room, self.begin = room, begin


class Launcher(Protocol):
    """Where kernels run. Rooms and launches never wait; `fetch` does."""

    waits: int
    """How often the host has waited."""

    def current(self) -> AbstractContextManager[None]:
        """A block in which this thread may use the launcher. After it, the thread's current device is what it was before."""

    def room(self, nbytes: int, *, fill: int | None = None) -> Room:
        """Memory, each byte `fill` if that is given."""

    def rooms(self, zeroed: Sequence[int], others: Sequence[int] = (), *, ones: int = 0) -> Rooms:
        """Memory in several rooms of so many bytes, the first of them zero, but the very first `ones` with all bits set: cheaper
        than one by one.
        """

    def fill(self, room: Room, byte: int) -> None:
        """Make each byte the same."""

    def put(self, values: NDArray[Any] | bytes, room: Room | None = None) -> Room:
        """A copy of an array of the host, in a room that there is or a new one."""

    def together(self) -> AbstractContextManager[object]:
        """A block whose launches are made at its end, or when something else is asked for: cheaper than one by one."""

    def launch(self, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        """Start a kernel. Arguments are rooms, numbers, bytes of structures, or None for a null pointer."""

    def replay(self, recording: Recording, numbers: Sequence[int], rooms: Sequence[Room | None]) -> Rooms | None:
        """Launch what was recorded (`headrace.gpu.kernels.trace`), for these numbers and rooms; the rooms that it made."""

    def fetch(self, room: Room) -> NDArray[np.uint8]:
        """A copy of a room on the host, behind all that was launched."""

    def result(self, room: Room) -> Any:
        """The room as a buffer of a column."""


_LITTLE = 256 << 10


class GpuLauncher:
    """A card's, for one thread at a time, inside of a block of `current`.

    Parameters
    ----------
    card
        Which one.
    stream
        Handle of the stream that everything goes to; None for the card's own.
    beside
        Handle of another stream whose memory is used: work in a block of `current` runs after what that stream was given before,
        and before what it is given next. None for no such stream.
    budget
        What rooms are counted in.
    crossings
        Where copies are counted.
    copier
        What copies little, if that is not the copy engine (`headrace.primitives.copy.copier`).
    """

    def __init__(
        self,
        card: Gpu,
        *,
        stream: int | None,
        beside: int | None = None,
        budget: Budget,
        crossings: Crossings,
        copier: Copier | None = None,
    ) -> None:
        self.waits = 0
        self._card = card
        self._stream = card.stream if stream is None else stream
        self._beside = beside
        self._budget = budget
        self._crossings = crossings
        self._staging = staging(card)
        self._copier = copier
        self._waiting: list[Prepared] = []
        self._blocks = 0
        self._pool = device_pool(card)

    @property
    def stream(self) -> int:
        """Handle of the stream that everything goes to."""
        return self._stream

    def current(self) -> AbstractContextManager[None]:
        """As `Launcher.current`."""
        return self._card.current() if self._beside is None else self._current_beside(self._beside)

    @contextmanager
    def _current_beside(self, stream: int) -> Iterator[None]:
        with self._card.current():
            Event(self._card).record(stream).hold(self._stream)
            try:
                yield
            finally:
                Event(self._card).record(self._stream).hold(stream)

    @property
    def crossings(self) -> Crossings:
        """Where copies are counted."""
        return self._crossings

    def room(self, nbytes: int, *, fill: int | None = None) -> DeviceBuffer:
        """As `Launcher.room`.

        Raises
        ------
        MemoryLimitError
            It does not fit the budget, or the card.
        """
        self._tell()
        made = self._pool.take(nbytes, self._stream, self._budget)
        if fill is not None:
            self.fill(made, fill)
        return made

    def rooms(self, zeroed: Sequence[int], others: Sequence[int] = (), *, ones: int = 0) -> DeviceParts:
        """As `Launcher.rooms`.

        Raises
        ------
        MemoryLimitError
            They do not fit the budget, or the card.
        """
        self._tell()
        return take_together(self._pool, zeroed, others, self._stream, self._budget, ones=ones)

    def fill(self, room: Room, byte: int) -> None:
        """As `Launcher.fill`."""
        self._tell()
        if room.nbytes:
            check_status(card_calls().fill(room.address, byte, room.nbytes, self._stream))

    def put(self, values: NDArray[Any] | bytes, room: Room | None = None) -> Room:
        """As `Launcher.put`."""
        self._tell()
        plain = values if isinstance(values, bytes) else np.ascontiguousarray(values).view(np.uint8).reshape(-1)
        made = self.room(len(plain)) if room is None else room
        if 0 < len(plain) <= _LITTLE:
            self._staging.put(made.address, self._stream, plain, counted=self._crossings, by=self._copier)
        elif len(plain):
            self._staging.upload_to(made.address, self._stream, plain, counted=self._crossings)
        return made

    def read_in(self, source: _native.Source, nbytes: int, room: Room) -> None:
        """Fill a room with a source's first bytes."""
        self._tell()
        if nbytes <= _LITTLE:
            self.put(np.frombuffer(source.read(0, nbytes), np.uint8), room)
            return
        ring = take_ring(self._card)
        try:
            Event(self._card).record(self._stream).hold(ring.stream)  # the room is of this stream
            ring.send_source(source, range(nbytes), room.address, counted=self._crossings)
            Event(self._card).record(ring.stream).hold(self._stream)
        finally:
            give_ring(ring)

    def launch(self, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        """As `Launcher.launch`."""
        known = self._kernel(entry, shape.defines)
        if self._blocks:
            self._waiting.append(known.prepare(shape.blocks, shape.threads, args, shape.shared))
        else:
            known.launch(shape.blocks, shape.threads, args, shared=shape.shared, stream=self._stream, is_current=True)

    def _kernel(self, entry: Entry, defines: Mapping[str, int]) -> Kernel:
        program = id(entry), id(defines), self._card.index
        found = known_kernels.get(program)
        if found is None:
            known = kernel(entry.file, entry.name, entry.signature, defines, self._card, mode=entry.mode)
            if len(known_kernels) >= _MOST_KERNELS:
                known_kernels.clear()
            found = known_kernels[program] = known, entry, defines  # held, so that no other has their identity
        return found[0]

    def replay(self, recording: Recording, numbers: Sequence[int], rooms: Sequence[Room | None]) -> DeviceParts | None:
        """As `Launcher.replay`.

        Raises
        ------
        MemoryLimitError
            The rooms do not fit the budget, or the card.
        """
        self._tell()
        native, names = recording.compiled(self._card.index, card_calls(), self._kernel)
        inputs = [*numbers, *[0 if room is None else room.address for room in rooms]]
        made = None
        if recording.makes_rooms:
            sizes, zeroed = native.sizes(inputs), len(recording.zeroed)
            made = take_together(self._pool, sizes[:zeroed], sizes[zeroed:], self._stream, self._budget)
            inputs += made.addresses
        told, status = native.tell(inputs, self._stream, 0)
        if status:
            with self._card.current():  # another library may have changed it
                told, status = native.tell(inputs, self._stream, told)
            try:
                check_status(status)
            except GpuError as error:
                raise GpuError(f"kernel {names[told]}: {error}") from None
        return made

    def _tell(self) -> None:
        """Make the launches that wait: before anything else, so that all is in order."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            launch_all(waiting, self._stream)

    def together(self) -> GpuLauncher:
        """As `Launcher.together`."""
        return self

    def __enter__(self) -> Self:
        self._blocks += 1
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._blocks -= 1
        if error is not None:
            self._waiting.clear()
        elif not self._blocks:
            self._tell()

    def fetch(self, room: Room) -> NDArray[np.uint8]:
        """As `Launcher.fetch`."""
        self._tell()
        self.waits += 1
        if not room.nbytes:
            return np.empty(0, np.uint8)
        found = self._staging.fetch(room.address, self._stream, room.nbytes, counted=self._crossings, by=self._copier)
        return np.frombuffer(found, np.uint8)

    def result(self, room: Room) -> Room:
        """The room itself."""
        return room


def launcher_beside(stream: int | None, card: Gpu, budget: Budget, crossings: Crossings) -> GpuLauncher:
    """What reads memory that belongs to a caller's stream: in that stream if it lasts, otherwise in the card's own.

    Results belong to the stream that they are made in, so they may outlive every stream of the caller.
    """
    own, beside = (stream, None) if is_lasting(stream) else (None, stream)
    return GpuLauncher(card, stream=own, beside=beside, budget=budget, crossings=crossings)


_MOST_KERNELS = 256
known_kernels: dict[tuple[int, int, int], tuple[Kernel, Entry, Mapping[str, int]]] = {}
"""By the identities of an entry and of macros: who launches often has them as the same objects each time."""
