"""Compares updates on a GPU with NumPy under the fiber harness: launched directly, and replayed with other addresses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from headrace.arrange.sort.gpu.sort import Sorters
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.arrays.arrays import CPU, Array, width_of
from headrace.gpu.kernels.launch_plan import recorded
from headrace.index.sorted_map.engine import Batch
from headrace.index.sorted_map.gathered import GatheredBatches
from headrace.index.sorted_map.gpu.gathered import recorded_codes
from headrace.index.sorted_map.gpu.launches import MapKernels
from headrace.index.sorted_map.gpu.update import Update, launch_codes
from headrace.index.sorted_map.key_types import MapTypes
from headrace.index.sorted_map.levels import Level
from headrace.testing.fibers.launcher import FiberLauncher
from tests.index.sorted_map.fiber_cases import COUNTERS, Launcher

pytestmark = pytest.mark.fibers


class Items:
    """Codes, values and statuses of a batch or a level, as arrays of NumPy; values and statuses may be None."""

    def __init__(self, seed: int, count: int, key_type: str, value_type: str | None, kind: str) -> None:
        random = np.random.default_rng(seed)
        self.keys = random.integers(0, 2 * count, count).astype(key_type)
        self.keys[::11] = np.iinfo(key_type).max
        self.values = None if value_type is None else random.integers(1, 1 << 30, count).astype(value_type)
        self.deleted = {"pairs": None, "mixed": random.integers(0, 3, count) == 0, "deletes": np.ones(count, "?")}[kind]
        self.is_delete = kind == "deletes"

    def ordered(self, order: Any) -> tuple[Any, Any, Any]:
        values = np.zeros(len(order), "u4") if self.values is None or self.is_delete else self.values[order]
        return self.keys[order], values, np.zeros(len(order), "?") if self.deleted is None else self.deleted[order]

    def as_level(self) -> tuple[Any, Any, Any]:
        """Return the items as they are in a level of their own."""
        last_first = np.arange(len(self.keys))[::-1]
        codes, values, deleted = self.ordered(last_first[np.argsort(self.keys[last_first], kind="stable")])
        begins = np.flatnonzero(np.diff(codes, prepend=codes[0] + 1))
        marks = np.ones(len(codes), "?") if self.is_delete else np.zeros(len(codes), "?")
        marks[begins] = np.logical_or.reduceat(deleted, begins)
        return codes, values, marks


def update_in(launcher: FiberLauncher, types: MapTypes, batch: Items, older: list[Items]) -> Update:
    """Copy an update to the memory of a launcher."""

    def put(items: Any, typestr: str) -> Array:
        buffer = launcher.put(items.view("u1"))
        return Array(buffer.address, len(items), typestr, CPU, "headrace", owner=buffer)

    def level(items: Items) -> Level:
        codes, values, deleted = items.as_level()
        value = None if types.value is None else put(values.astype(types.value), types.value)
        return Level(put(codes, types.code), value, None if items.deleted is None else put(deleted, "|u1"))

    has_values = batch.values is not None and not batch.is_delete
    values = put(batch.values, str(types.value)) if has_values else None
    deletes = put(batch.deleted, "|b1") if batch.deleted is not None and not batch.is_delete else None
    given = Batch(put(batch.keys, types.key), values, deletes, batch.is_delete)
    total = len(batch.keys) + sum(len(items.keys) for items in older)
    has_tombstones = any(items.deleted is not None for items in (batch, *older))
    target = Level(
        put(np.zeros(total, types.code), types.code),
        None if types.value is None else put(np.zeros(total, types.value), types.value),
        put(np.zeros(total, "u1"), "|u1") if has_tombstones else None,
    )
    return Update(types, given, tuple(map(level, older)), target)


def check(launcher: FiberLauncher, target: Level, parts: list[Items]) -> None:
    codes, values, deleted = (np.concatenate(each) for each in zip(*(items.as_level() for items in parts), strict=True))
    order = np.argsort(codes, kind="stable")
    assert (launcher.fetch(target.codes.owner).view(codes.dtype) == codes[order]).all()
    if target.values is not None:
        assert (launcher.fetch(target.values.owner).view(target.values.typestr) == values[order]).all()
    assert (target.tombstones is None) == (not any(items.deleted is not None for items in parts))
    if target.tombstones is not None:
        assert (launcher.fetch(target.tombstones.owner) == deleted[order]).all()


@pytest.mark.covering(default=2)
@pytest.mark.parametrize("kind", ["pairs", "mixed", "deletes"])
@pytest.mark.parametrize(("key_type", "value_type"), [("u4", "u4"), ("u8", "i4"), ("u4", None)])
@pytest.mark.parametrize("older", [(), (700,), (90, 200, 2500)])
def test_updates(kind: str, key_type: str, value_type: str | None, older: tuple[int, ...]) -> None:
    types, count = MapTypes.of(key_type, value_type), 300

    def parts(seed: int) -> list[Items]:
        kinds = ("pairs", "mixed", "deletes")
        levels = [Items(seed + i, size, key_type, value_type, kinds[(i + 1) % 3]) for i, size in enumerate(older)]
        return [Items(seed + 9, count, key_type, value_type, kind), *levels]

    first = parts(1)
    launcher = Launcher(seed=1)
    launcher.known = []
    update = update_in(launcher, types, first[0], first[1:])
    update.launch(Sorters(launcher, HARNESS_TUNING, lambda: launcher.allocate(COUNTERS, fill=0)))
    check(launcher, update.target, first)

    def record(recorder: Any) -> None:
        update.at(recorder.addresses).launch(Sorters(recorder, HARNESS_TUNING, recorder.counters))

    call = recorded(record, [0] * len(update.addresses))
    second = parts(20)
    launcher = Launcher(seed=2)
    update = update_in(launcher, types, second[0], second[1:])
    scratch, counters = launcher.allocate(max(1, call.nbytes)), launcher.allocate(COUNTERS, fill=0)
    scratch.array[: call.zeros] = 0
    given = [*(array.owner for array in update.arrays()), *[counters] * call.uses_counters, scratch]
    launcher.known = given
    launcher.replay_at(call.recording, [buffer.address for buffer in given])
    check(launcher, update.target, second)


class GatheringEngine:
    """The operations of a GPU that gather batches, by a launcher. Each second batch of pairs is the replay of its launch."""

    def __init__(self, launcher: Launcher, types: MapTypes) -> None:
        self.launcher, self.types, self.turn = launcher, types, 0

    def array(self, count: int, typestr: str, fill: int) -> Array:
        buffer = self.launcher.allocate(count * width_of(typestr), fill=fill)
        return Array(buffer.address, count, typestr, CPU, "headrace", owner=buffer)

    def new_level(self, count: int, *, has_tombstones: bool) -> Level:
        assert not has_tombstones
        return Level(*[self.array(count, each, 0xEE) for each in (self.types.code, self.types.value) if each is not None])

    def no_tombstones(self, count: int) -> Array:
        return self.array(count, "|u1", 0)

    def write_codes(self, batch: Batch, to: Level, mixed: int = 1) -> None:
        self.turn += 1
        if batch.has_tombstones or self.turn % 2:
            launch_codes(MapKernels(self.launcher, self.types.key_width), self.types, batch, to, mixed)
            return
        call, arrays = recorded_codes(self.types, batch, to), [*batch.arrays, *to.arrays]
        self.launcher.known = [array.owner for array in arrays]
        self.launcher.replay_at(call.recording, [array.address for array in arrays] + [0])
        self.launcher.known = []


@pytest.mark.parametrize(
    "kinds", [("pairs",) * 4, ("pairs", "deletes", "pairs", "mixed"), ("mixed", "mixed", "deletes", "pairs")]
)
@pytest.mark.parametrize(("key_type", "value_type"), [("u4", "u4"), ("u8", "i4"), ("u4", None)])
def test_gathered_batches(key_type: str, value_type: str | None, kinds: tuple[str, ...]) -> None:
    """Batches of each kind are sorted as one, and the newest item of a key decides, or a delete of the batch of that item."""
    types, sizes = MapTypes.of(key_type, value_type), (90, 200, 30, 70)
    launcher = Launcher(seed=3)
    launcher.known = []
    engine: Any = GatheringEngine(launcher, types)
    gathered = GatheredBatches(engine, sum(sizes))
    parts = [Items(i, size, key_type, value_type, kind) for i, (size, kind) in enumerate(zip(sizes, kinds, strict=True))]
    kept = [update_in(launcher, types, part, []) for part in parts]
    assert all(gathered.add(update.batch, engine) for update in kept)
    assert not gathered.add(kept[0].batch, engine)
    older = Items(9, 700, key_type, value_type, "mixed")
    update = update_in(launcher, types, Items(0, sum(sizes), key_type, value_type, "mixed"), [older])
    coded = replace(update, batch=gathered.batch)
    coded.launch(Sorters(launcher, HARNESS_TUNING, lambda: launcher.allocate(COUNTERS, fill=0)))
    newest_first = [items.as_level() for items in (*reversed(parts), older)]
    codes, values, deleted = (np.concatenate(each) for each in zip(*newest_first, strict=True))
    order = np.argsort(codes, kind="stable")
    is_first = np.diff(codes[order], prepend=~codes[order][0]) != 0
    assert (launcher.fetch(coded.target.codes.owner).view(codes.dtype) == codes[order]).all()
    assert (launcher.fetch(coded.target.tombstones.owner)[is_first] == deleted[order][is_first]).all()
    if coded.target.values is not None:
        assert (launcher.fetch(coded.target.values.owner).view(coded.target.values.typestr) == values[order]).all()
    assert coded.key != update.key


def test_a_key_has_all_that_launches_depend_on() -> None:
    launcher = FiberLauncher()
    types, batch, level = MapTypes.of("u4", "u4"), Items(1, 50, "u4", "u4", "mixed"), Items(2, 60, "u4", "u4", "pairs")
    update = update_in(launcher, types, batch, [level])
    keys = {
        update.key,
        update_in(launcher, types, Items(1, 51, "u4", "u4", "mixed"), [level]).key,
        update_in(launcher, types, batch, []).key,
        update_in(launcher, types, batch, [Items(2, 60, "u4", "u4", "mixed")]).key,
        update_in(launcher, types, batch, [Items(2, 61, "u4", "u4", "pairs")]).key,
        update_in(launcher, types, Items(1, 50, "u4", "u4", "pairs"), [level]).key,
        update_in(launcher, types, Items(1, 50, "u4", "u4", "deletes"), [level]).key,
        replace(update, types=MapTypes.of("i4", "u4")).key,
    }
    assert len(keys) == 8
    assert update_in(launcher, types, batch, [level]).key == update.key
