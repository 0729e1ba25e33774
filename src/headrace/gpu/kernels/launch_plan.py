"""Replays the launches of a call with other addresses, by one native call.

The sizes of the call are part of its key. From the second call on, the launching code runs on a recorder instead of the device,
twice, with other addresses for each buffer. A word that differs between the two records is an address, and the difference names
its buffer. So the launching code needs no second form: it may add to addresses, compare them and pack them into structures.

Calls of a class of sizes may share a key. Then grids and scratch buffers are sized for the largest number of items of the class,
and kernels get the number itself. It is one less in the second record, so another difference names it.

Scratch buffers of a recorded call become slices of one allocation, which a replay makes, clears and frees.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from headrace.gpu.device.device import Gpu, GpuError, check_status
from headrace.gpu.device.driver_calls import card_calls
from headrace.gpu.kernels.kernel import kernel
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, GpuLauncher, Launcher, Shape
from headrace.gpu.kernels.trace import Filled, Launched, Recording, SymbolicBuffer
from headrace.gpu.kernels.trace_expressions import Expressions, Packed, Symbol
from headrace.gpu.memory.pool import device_pool
from headrace.gpu.memory.scratch import COUNTERS, Scratch

_REGION_BITS = 42  # a recorded buffer has 4 TB of addresses to itself
_ALIGNMENT = 256
_WORD = 8
_MAX_PLANS = 256
_ADDED_BUFFERS = 3  # buffers besides those of the caller: counters, scratch buffers that are cleared, and other ones


@dataclass(frozen=True, slots=True)
class RecordedBuffer:
    """A recorded buffer: address and size in bytes."""

    address: int
    nbytes: int


class PlanRecorder:
    """A launcher (`headrace.gpu.kernels.launcher.Launcher`) that records calls instead of making them.

    `alignments`: remainder of the address of each of the caller's buffers, divided by `_ALIGNMENT`.
    `number`: 0 or 1: the first or the second record, which have different addresses.
    `counts`: numbers of items of calls, from 1 or more to 2 or more; none if the key has the number.
    """

    waits = 0

    def __init__(self, alignments: Sequence[int], number: int, counts: range = range(0)) -> None:
        self.count = max(0, counts.stop - 1 - number)  # number of items of the recorded call; 0 if the key has it
        starts = [2 * slot + number + 1 << _REGION_BITS for slot in range(len(alignments) + _ADDED_BUFFERS)]
        *given, self._counters, self._zeroed, self._others = starts
        self.addresses = [start + alignment for start, alignment in zip(given, alignments, strict=True)]
        """Addresses of the caller's buffers."""
        self.bytes = {True: 0, False: 0}  # bytes of scratch buffers: those that are cleared, and others
        self.uses_counters = False
        self.steps: list[tuple[Entry | int, Shape | None, list[Any]]] = []

    def counters(self) -> DeviceBuffer:
        """Return memory whose first bytes are zero before and after each launch."""
        self.uses_counters = True
        return RecordedBuffer(self._counters, COUNTERS)

    def current(self) -> AbstractContextManager[None]:
        return nullcontext()

    together = current

    def allocate(self, nbytes: int, *, fill: int | None = None) -> DeviceBuffer:
        is_zeroed = fill == 0
        first = self.bytes[is_zeroed]
        self.bytes[is_zeroed] += -(-nbytes // _ALIGNMENT) * _ALIGNMENT
        result = RecordedBuffer((self._zeroed if is_zeroed else self._others) + first, nbytes)
        if fill:
            self.fill(result, fill)
        return result

    def allocate_group(self, zeroed: Sequence[int], others: Sequence[int] = ()) -> list[DeviceBuffer]:
        return [*(self.allocate(nbytes, fill=0) for nbytes in zeroed), *map(self.allocate, others)]

    def fill(self, buffer: DeviceBuffer, byte: int) -> None:
        self.steps.append((byte, None, [buffer.address, buffer.nbytes]))

    def launch(self, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        self.steps.append((entry, shape, [_argument(arg) for arg in args]))


_Argument = int | bytes | None


def _argument(arg: Any) -> _Argument:
    return arg if arg is None or isinstance(arg, int | bytes) else int(arg.address)


class _Addresses:
    """Turns pairs of recorded numbers into symbols: an input address, or the scratch address, plus an offset."""

    def __init__(self, first: PlanRecorder, second: PlanRecorder) -> None:
        self.expressions = Expressions()
        given = len(first.addresses)
        self._slots = {slot: self.expressions.input() for slot in range(given)}
        self._counts = first.count, second.count
        self._count = self.expressions.input() if first.count else None
        if first.uses_counters:
            self._slots[given] = self.expressions.input()
        scratch = self.expressions.input()
        self._slots[given + 1] = scratch
        self._slots[given + 2] = scratch + first.bytes[True]
        self._alignments = [address % _ALIGNMENT for address in first.addresses] + [0] * _ADDED_BUFFERS
        self._symbols: dict[int, Symbol] = {}

    def of(self, first: int, second: int) -> Symbol | int:
        """Return the symbol of a number that was recorded twice; the number itself if it is no address."""
        if first == second:
            return first
        if self._count is not None and (first, second) == self._counts:
            return self._count
        region = first >> _REGION_BITS
        assert region % 2 and second - first == 1 << _REGION_BITS, "a recorded number depends on an input by more than addition"
        found = self._symbols.get(first)
        if found is None:
            slot = region // 2
            offset = (first & (1 << _REGION_BITS) - 1) - self._alignments[slot]
            found = self._symbols[first] = self._slots[slot] + offset
        return found

    def of_argument(self, first: _Argument, second: _Argument) -> Symbol | Packed | _Argument:
        """Return a kernel argument with symbols for its addresses."""
        if first == second:
            return first
        if isinstance(first, int) and isinstance(second, int):
            return self.of(first, second)
        assert isinstance(first, bytes) and isinstance(second, bytes)
        words = struct.Struct(f"<{len(first) // _WORD}Q")
        assert first[words.size :] == second[words.size :], "an input is in the last bytes of a structure"
        pairs = enumerate(zip(words.unpack_from(first), words.unpack_from(second), strict=True))
        differing = [(at * _WORD, self.of(one, other)) for at, (one, other) in pairs if one != other]
        return Packed(first, tuple([(at, _WORD, value) for at, value in differing if isinstance(value, Symbol)]))


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """The launches of a call, with symbols for addresses."""

    recording: Recording
    """The launches. Inputs of a run: addresses of the caller's buffers, the number of items, and the addresses of counters and of
    scratch memory. A fixed number of items, and counters that are not used, are left out.
    """
    uses_counters: bool  # True if a launch needs memory whose first bytes are zero before and after each launch
    zeros: int
    nbytes: int  # bytes of scratch memory that are cleared, and all of its bytes
    counts: range = range(0)  # numbers of items that the launches serve; none if the number is fixed


def recorded(code: Callable[[PlanRecorder], None], alignments: Sequence[int], counts: range = range(0)) -> RecordedCall:
    """Record the launches of `code`; parameters as for `PlanRecorder`. Equal calls launch the same, except for addresses."""
    first, second = records = [PlanRecorder(alignments, number, counts) for number in range(2)]
    for record in records:
        code(record)
    addresses = _Addresses(first, second)
    steps: list[Launched | Filled] = []
    for (what, shape, args), (_, _, others) in zip(first.steps, second.steps, strict=True):
        values = [addresses.of_argument(*pair) for pair in zip(args, others, strict=True)]
        if isinstance(what, Entry) and shape is not None:
            steps.append(Launched(what, shape, values))
        elif isinstance(what, int):
            steps.append(Filled(SymbolicBuffer(0, *values), what))
    recording = Recording([], [], steps, addresses.expressions)
    return RecordedCall(recording, first.uses_counters, first.bytes[True], sum(first.bytes.values()), counts)


class LaunchPlan:
    """A recorded call on a device."""

    def __init__(self, call: RecordedCall, card: Gpu) -> None:
        def kernel_of(entry: Entry, defines: Any) -> Any:
            return kernel(entry.file, entry.name, entry.signature, defines, card, mode=entry.mode)

        with card.current():
            self._native, self._names = call.recording.compiled(card.index, card_calls(), kernel_of)
        self._card, self._uses_counters = card, call.uses_counters
        self._zeros_and_bytes = call.zeros, call.nbytes
        self._counts = call.counts or range(1)
        self._pool = device_pool(card).handle
        self._context = int(card.context)

    def replay(self, addresses: list[int], stream: int, count: int = 0) -> bool:
        """Launch all kernels. Return False, having launched none, if the driver refuses or the plan does not serve `count` items.

        `count`: number of items; 0 if it is fixed. Raise GpuError if the driver refuses a launch after others.
        """
        if count not in self._counts:
            return False
        if count:
            addresses = [*addresses, count]
        place = self._context, stream, self._pool
        if self._uses_counters:
            with Scratch(self._card, COUNTERS, stream, 0) as (counters, _):
                launched, status = self._native.replay_with_scratch([*addresses, counters.address], place, self._zeros_and_bytes)
        else:
            launched, status = self._native.replay_with_scratch(addresses, place, self._zeros_and_bytes)
        if status and launched:
            try:
                check_status(status)
            except GpuError as error:
                raise type(error)(f"kernel {self._names[launched]}: {error}") from None
        return not status


known_plans: dict[Hashable, LaunchPlan | None] = {}  # plans by key, that of the last call last; None for a key that was seen once


def replayed(
    key: Hashable,
    code: Callable[[PlanRecorder], None],
    addresses: list[int],
    card: Gpu,
    stream: int | None,
    *,
    count: int = 0,
    counts: range = range(0),
) -> LaunchPlan | None:
    """Replay a call like an earlier one, and return its plan. Return None, having launched nothing, if the caller must launch.

    `key`: everything that the launches depend on besides `card` and `addresses`.
    `code`: launches the kernels on a recorder. It must not wait for the device. Its scratch buffers are charged to no budget.
    `addresses`: addresses of the caller's buffers.
    `count`, `counts`: number of items of this call, and those of all calls with this key; 0 and none if the key has the number.
    """
    alignments = [address % _ALIGNMENT for address in addresses]
    name = (key, card.index, *alignments)
    is_known = name in known_plans
    plan = known_plans[name] = known_plans.pop(name, None)
    if not is_known:
        for oldest in list(known_plans)[:-_MAX_PLANS]:
            known_plans.pop(oldest, None)
        return None
    if plan is None:
        plan = known_plans[name] = LaunchPlan(recorded(code, alignments, counts), card)
    return plan if plan.replay(addresses, card.stream if stream is None else stream, count) else None


def repeated(
    launcher: Launcher, key: Hashable, code: Callable[[Launcher, Sequence[DeviceBuffer]], None], buffers: Sequence[DeviceBuffer]
) -> None:
    """Run code that launches kernels on buffers, or replay its launches of an earlier call with the same key.

    Launches are replayed on a device whose memory has no limit.

    `launcher`, `key`, `code`: the launcher; and the key and the code, as for `replayed`.
    `buffers`: buffers whose addresses may be others in each call.
    """
    card = launcher.unlimited if isinstance(launcher, GpuLauncher) else None
    if isinstance(launcher, GpuLauncher) and card is not None:

        def record(recorder: PlanRecorder) -> None:
            sizes = (buffer.nbytes for buffer in buffers)
            code(recorder, list(map(RecordedBuffer, recorder.addresses, sizes)))  # type: ignore[arg-type]  # it copies nothing

        if replayed(key, record, [buffer.address for buffer in buffers], card, launcher.stream) is not None:
            return
    code(launcher, buffers)
