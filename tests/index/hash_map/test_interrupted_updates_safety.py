"""Interrupts updates of a slab hash, and refuses memory to load kernels, in the fiber harness."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from headrace import MapOperation, MemoryLimitError
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Shape
from headrace.index.hash_map.device_map import DeviceMap
from headrace.index.hash_map.gpu.block_batch.bulk_build import ListBuilder
from headrace.index.hash_map.gpu.multimap.multi_slab_hash import MultiSlabHash
from headrace.index.hash_map.gpu.slab_kernels import Rows
from headrace.index.hash_map.gpu.tuning import SlabTuning
from headrace.index.hash_map.pair_types import PairTypes
from headrace.testing.fibers.launcher import FiberLauncher, HostBuffer
from tests.index.hash_map.hash_map_cases import MapOracle, MultiMapOracle
from tests.index.hash_map.multi_map_cases import FiberMultiMap
from tests.index.hash_map.slab_hash_cases import UNLIMITED, FiberMap

pytestmark = pytest.mark.fibers


class InterruptedLauncher(FiberLauncher):
    """A launcher in which the user presses Ctrl-C while the host waits."""

    is_interrupted = False

    def fetch(self, buffer: DeviceBuffer) -> NDArray[np.uint8]:
        """Wait for the kernels, and perhaps raise the interrupt."""
        found = super().fetch(buffer)
        if self.is_interrupted:
            self.is_interrupted = False
            raise KeyboardInterrupt
        return found


class LateInterruptedLauncher(InterruptedLauncher):
    """A launcher in which the host waits `waits_before` times before the interrupt."""

    waits_before = 0

    def fetch(self, buffer: DeviceBuffer) -> NDArray[np.uint8]:
        """Wait for the kernels, and perhaps raise the interrupt."""
        self.is_interrupted = self.waits_before == 0
        self.waits_before -= 1
        return super().fetch(buffer)


class _Line(HostBuffer):
    """A caller's array in device memory."""

    stream = None

    @property
    def length(self) -> int:
        """Number of items of 4 bytes."""
        return self.nbytes // 4


def _line(keys: NDArray[Any]) -> Any:
    memory: NDArray[np.uint8] = np.zeros(keys.nbytes + 256, np.uint8)
    begin = -memory.ctypes.data % 256
    memory[begin : begin + keys.nbytes] = keys.view(np.uint8)
    return _Line(memory[begin : begin + keys.nbytes])


def _device_map(table: FiberMap) -> DeviceMap:
    """Return the map of a launcher as one on a GPU."""
    result: Any = object.__new__(DeviceMap)
    result._types = PairTypes.of("int32", "uint32")
    result._card = SimpleNamespace(stream=1, current=nullcontext)
    result._lock, result._stream, result._launchers = threading.RLock(), 1, {1: table.launcher}
    result._map, result._is_counted = table.map, True
    return cast(DeviceMap, result)


def _erase(device: DeviceMap, keys: NDArray[Any]) -> None:
    with device._launches() as launcher:
        device._map.erase(launcher, Rows(_line(keys), None, len(keys)), launcher.allocate(len(keys)))


_INSERTED = np.arange(30, 90, dtype="i4")


@pytest.mark.parametrize("tuning", [UNLIMITED, replace(UNLIMITED, block_rows=0)], ids=["one block", "general"])
@pytest.mark.parametrize("update", ["insert", "erase"])
def test_the_length_is_right_after_an_interrupt(update: str, tuning: SlabTuning) -> None:
    """The update is complete or undone, and the next call sees as many pairs as there are."""
    launcher = InterruptedLauncher(seed=3)
    table, oracle = FiberMap.of((4, 4), launcher, tuning), MapOracle()
    device, keys = _device_map(table), np.arange(60, dtype="i4")
    table.upsert(keys, keys.astype("u4"), "last")
    oracle.upsert(keys, keys.astype("u4"), "last")
    ways: dict[str, Callable[[], object]] = {
        "insert": lambda: device.upsert(_line(_INSERTED), _line(_INSERTED * 2), "last"),
        "erase": lambda: _erase(device, _INSERTED),
    }
    launcher.is_interrupted = True
    with pytest.raises(KeyboardInterrupt):
        ways[update]()
    if update == "erase":
        oracle.erase(_INSERTED)
    elif tuning.block_rows:
        oracle.upsert(_INSERTED, (_INSERTED * 2).astype("u4"), "last")
    assert len(device) == len(oracle.pairs)
    assert table.items() == oracle.items("uint32")
    assert device.upsert(_line(_INSERTED), _line(_INSERTED), "last") == oracle.upsert(_INSERTED, _INSERTED.astype("u4"), "last")
    assert table.items() == oracle.items("uint32")


def test_an_interrupted_build_leaves_an_empty_map() -> None:
    launcher = InterruptedLauncher(seed=3)
    table = FiberMap.of((4, 4), launcher)
    table.map._rebuild(launcher, 64)
    keys = np.arange(300, dtype="i4")
    launcher.is_interrupted = True
    with pytest.raises(KeyboardInterrupt):
        table.upsert(keys, keys.astype("u4"), "last")
    table.map.recount(launcher)
    assert (table.map.size, table.find(keys)[1]) == (0, [False] * 300)
    assert table.upsert(keys, keys.astype("u4"), "last") == 300


def test_an_interrupt_after_a_build_of_a_part_leaves_an_empty_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows that did not fit their lists are inserted after the build."""
    launcher = FiberLauncher(seed=3)
    table = FiberMap.of((4, 4), launcher)
    table.map._rebuild(launcher, 64)
    keys, fill = np.arange(300, dtype="i4"), ListBuilder.fill

    def filled(builder: ListBuilder, rows: Rows, reduction: int | None) -> Any:
        monkeypatch.setattr(table.map, "upsert", interrupted)
        result: Any = fill(builder, rows, reduction)
        return replace(result, left=rows)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr(ListBuilder, "fill", filled)
        with pytest.raises(KeyboardInterrupt):
            table.upsert(keys, keys.astype("u4"), "last")
    monkeypatch.undo()
    table.map.recount(launcher)
    assert (table.map.size, table.find(keys)[1]) == (0, [False] * 300)


_MIXED = np.array([1, 9, 1, 8, 0, 1], np.uint8)  # insert, erase_all, insert, count, find, insert


@pytest.mark.parametrize("waits", [0, 1])
def test_an_interrupted_batch_on_a_multimap_changes_nothing(waits: int) -> None:
    launcher = LateInterruptedLauncher(seed=3)
    table, keys = FiberMultiMap((4, 4), launcher, UNLIMITED), np.arange(60, dtype="i4") % 20
    launcher.waits_before = 1000
    table.insert(keys, keys.astype("u4"))
    before, operations = table.items(), np.tile(_MIXED, 10)
    launcher.waits_before = waits
    with pytest.raises(KeyboardInterrupt):
        table.apply(operations, keys + 5, keys.astype("u4"))
    launcher.waits_before = 1000
    table.map.recount(launcher)
    assert table.map.size == 60
    assert table.items() == before
    oracle = MultiMapOracle()
    oracle.insert(keys, keys.astype("u4"))
    expected = oracle.apply([MapOperation(number).name.lower() for number in operations], keys + 5, keys.astype("u4"))
    assert table.apply(operations, keys + 5, keys.astype("u4")) == expected
    assert table.items() == Counter(oracle.pairs("uint32"))


class LazyLauncher(FiberLauncher):
    """A launcher whose kernels are loaded by their first launches or before. One of these loads is refused for memory."""

    def __init__(self, seed: int) -> None:
        super().__init__("random", seed)
        self.loaded: set[str] = set()
        self.refused = -1

    def load(self, entries: Sequence[Entry], defines: Mapping[str, int]) -> None:
        """Load kernels."""
        for entry in entries:
            self._load(entry.name)

    def launch(self, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        """Load the kernel, and launch it."""
        self._load(entry.name)
        super().launch(entry, shape, args)

    def _load(self, name: str) -> None:
        if name not in self.loaded and self.refused == 0:
            raise MemoryLimitError("no memory for a kernel")
        self.refused -= name not in self.loaded
        self.loaded.add(name)


def _is_refused(launcher: LazyLauncher, number: int, update: Callable[[], object]) -> bool:
    """Run an update in which a load is refused. Return whether there were as many loads."""
    launcher.loaded.clear()
    launcher.refused = number
    try:
        update()
    except MemoryLimitError:
        return True
    finally:
        launcher.refused = -1
    return False


@pytest.mark.parametrize("reduce", ["last", "first", "sum"])
def test_kernels_without_memory_change_nothing(reduce: str) -> None:
    """The batch has present keys, absent ones and repeated ones."""
    keys = np.arange(120, dtype="i4") % 70
    values = np.arange(120, dtype="u4") * 5
    is_refused, number = True, 0
    while is_refused:
        launcher = LazyLauncher(seed=4)
        table, oracle = FiberMap.of((4, 4), launcher, replace(UNLIMITED, block_rows=0)), MapOracle()
        table.map._memory = table.map._allocate(launcher, 8)
        with_keys = FiberMap(launcher, table.map.copy(launcher), "int32", "uint32")
        with_keys.upsert(keys[:30], values[:30], "last")
        oracle.upsert(keys[:30], values[:30], "last")
        with_keys.map._loaded_slot = 0
        is_refused = _is_refused(launcher, number, lambda table=with_keys: table.upsert(keys, values, reduce))  # type: ignore[misc]
        if not is_refused:
            oracle.upsert(keys, values, reduce)
        assert with_keys.map.size == len(oracle.pairs)
        assert with_keys.items() == oracle.items("uint32")
        number += 1
    assert number > 3


def test_kernels_of_multimaps_without_memory_change_nothing() -> None:
    keys = np.arange(40, dtype="i4") % 7
    is_refused, number = True, 0
    while is_refused:
        launcher = LazyLauncher(seed=4)
        table = FiberMap(launcher, cast(Any, MultiSlabHash(launcher, (4, 4), tuning=UNLIMITED)), "int32", "uint32")
        insert = lambda table=table: table.map.insert(launcher, table.rows(keys, keys.astype("u4")))  # noqa: B023, E731
        is_refused = _is_refused(launcher, number, insert)
        assert table.map.size == len(table.items()) == (0 if is_refused else 40)
        number += 1
    assert number > 1


def test_kernels_of_mixed_batches_on_multimaps_without_memory_change_nothing() -> None:
    keys = np.arange(42, dtype="i4") % 7
    is_refused, number = True, 0
    while is_refused:
        launcher = LazyLauncher(seed=4)
        table = FiberMultiMap((4, 4), launcher, UNLIMITED)
        table.insert(keys, keys.astype("u4"))
        table.map._loaded_slot = 0
        before = table.items()
        apply = lambda table=table: table.apply(np.tile(_MIXED, 7), keys, keys.astype("u4"))  # noqa: E731
        is_refused = _is_refused(launcher, number, apply)
        assert not is_refused or table.items() == before
        assert table.map.size == table.items().total()
        number += 1
    assert number > 3
