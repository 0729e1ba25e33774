"""Measures hash maps on the workloads of Ashkiani 2017, chapter 5: the slab hash on a GPU, and its counterpart on the CPU.

The machine of the paper: a Tesla K40c (288 GB/s), keys and values of 32 bits. Maps of this package grow at a utilisation of 65 %,
at which the rates of the paper fall, so the sweep ends there. The numbers of the paper are those of its prose.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import headrace
from headrace.api.slab_requests import slab_requests, variant_map
from headrace.cli.bench.experiment import Experiment, Row, Setting

_WORD = "uint32"
_SIZE, _SMALL_SIZE = 1 << 22, 1 << 10
_LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
"""Pairs per slot of the first slabs on a GPU: the paper's average slab count (section 5.3.3)."""
_LIST_LOADS = (0.65, 1.0, 2.0)
_DEFAULT_LOAD = 0.65
_HOST_PARTS = (0.31, 0.4, 0.5, 0.6)  # pairs per slot on the CPU, whose table has a power of two of slots, at most 5/8 full
_SIZES, _SMALL_SIZES = tuple(1 << bits for bits in range(16, 25, 2)), (1 << 8, 1 << 10)
_PEAK = {"build": 512.0, "find present": 937.0, "find absent": 937.0}
"""Millions a second at utilisations of 19 to 60 % (figure 5.4)."""
_HARMONIC_MEANS = {"find present": 861.0, "find absent": 793.0}  # millions a second over the sizes of figure 5.5
_TO_REBUILDS = {1 << 15: 17.3, 1 << 16: 10.4, 1 << 17: 6.4}
"""Time of rebuilding a cuckoo hash table by that of inserting, by the keys of a batch (figure 5.6)."""
_ALLOCATORS = {"SlabAlloc": 600.0, "CUDA": 0.8}  # millions of slabs a second, one million slabs (section 5.5)
_MIXES = {
    "G0": (0.5, 0.5, 0.0, 0.0),
    "G1": (0.2, 0.2, 0.3, 0.3),
    "G2": (0.1, 0.1, 0.4, 0.4),
}  # parts of inserts of new keys, erasures, finds of present keys and finds of absent keys (figure 5.7)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Distinct keys and their values on a device."""

    setting: Setting  # the device
    keys: Any
    values: Any  # the pairs in host memory
    absent: Any  # the same number of other keys

    @classmethod
    def of(cls, setting: Setting, count: int) -> Pairs:
        """Return random keys."""
        import numpy as np

        random = np.random.default_rng(count)
        numbers = random.permutation(2 * count).astype(np.uint32) * np.uint32(0x9E3779B1)  # an odd factor keeps them distinct
        return cls(setting, numbers[:count].copy(), random.integers(0, 1 << 32, count, np.uint32), numbers[count:].copy())

    def empty(self, capacity: int = 0) -> headrace.HashMap:
        """Return an empty map."""
        context = headrace.Context(device=headrace.Device.parse(self.setting.device))
        return headrace.HashMap(_WORD, _WORD, capacity=capacity, context=context)

    def filled(self, capacity: int) -> headrace.HashMap:
        """Return a map of all pairs, after a check of its answers."""
        found = self.empty(capacity)
        added = found.insert(*map(self.setting.array, (self.keys, self.values)))
        self.setting.check(added == len(self.keys), "insert")
        values, is_found = map(self.setting.host, found.find(self.setting.array(self.keys)))
        self.setting.check(bool(is_found.all()) and bool((values == self.values).all()), "find of present keys")
        self.setting.check(not self.setting.host(found.contains(self.setting.array(self.absent))).any(), "find of absent keys")
        return found

    def rates(self, capacity: int) -> Iterator[tuple[str, float]]:
        """Yield millions of operations a second: of a build, and of finds of present and absent keys."""
        found, count = self.filled(capacity), len(self.keys) / 1e6
        keys, values, absent = map(self.setting.array, (self.keys, self.values, self.absent))
        yield "build", count / self.setting.seconds(lambda: self.empty(capacity).insert(keys, values))
        yield "find present", count / self.setting.seconds(lambda: found.find(keys))
        yield "find absent", count / self.setting.seconds(lambda: found.find(absent))


def _utilisations(setting: Setting) -> Iterator[Row]:
    """Yield rates by utilisation in percent."""
    size = setting.size(_SIZE, _SMALL_SIZE)
    if setting.is_gpu:
        cases = [(size, int(size * _DEFAULT_LOAD / load)) for load in _LOADS]
    else:
        cases = [(int(size * part), 0) for part in _HOST_PARTS]
    for count, capacity in cases:
        pairs = Pairs.of(setting, count)
        percent = round(100 * pairs.filled(capacity).statistics().utilisation)
        for operation, rate in pairs.rates(capacity):
            yield Row({"operation": operation, "utilisation": max(1, percent)}, rate, _PEAK[operation])


def _sizes(setting: Setting) -> Iterator[Row]:
    """Yield rates by the number of keys."""
    for count in _SMALL_SIZES if setting.is_small else _SIZES:
        for operation, rate in Pairs.of(setting, count).rates(count):
            yield Row({"operation": operation, "n": count}, rate, _HARMONIC_MEANS.get(operation))


def _batches(setting: Setting) -> Iterator[Row]:
    """Yield the time of rebuilding a map after each batch by that of inserting the batch."""
    pairs = Pairs.of(setting, setting.size(1 << 21, 1 << 12))
    keys, values = pairs.keys, pairs.values
    for printed, paper in _TO_REBUILDS.items():
        batch = setting.size(printed, printed >> 6)
        ends = range(batch, len(keys) + 1, batch)
        parts = [(setting.array(keys[end - batch : end]), setting.array(values[end - batch : end])) for end in ends]
        wholes = [(setting.array(keys[:end]), setting.array(values[:end])) for end in ends]
        grown = pairs.empty()
        added = sum(grown.insert(*part) for part in parts)
        is_right = added == len(keys) and bool((setting.host(grown.find(setting.array(keys)).values) == values).all())
        setting.check(is_right, f"insert of {batch} keys")
        inserted = setting.seconds(partial(_insert_all, pairs, parts))
        rebuilt = setting.seconds(partial(_rebuild_all, pairs, wholes))
        yield Row({"batch": batch}, rebuilt / inserted, paper)


def _insert_all(pairs: Pairs, parts: list[tuple[Any, Any]]) -> None:
    grown = pairs.empty()
    for part in parts:
        grown.insert(*part)


def _rebuild_all(pairs: Pairs, wholes: list[tuple[Any, Any]]) -> None:
    for keys, values in wholes:
        pairs.empty(len(keys)).insert(keys, values)


def _mixes(setting: Setting) -> Iterator[Row]:
    """Yield rates of batches of mixed operations, by the pairs of the map before."""
    for count in (setting.size(1 << 20, 1 << 8), setting.size(1 << 22, 1 << 10)):
        pairs = Pairs.of(setting, count)
        table = pairs.filled(count)
        for name, mix in _MIXES.items():
            batch = _Batch.of(pairs, mix, count // 4)
            batch.run(table)
            seconds = setting.seconds(partial(batch.apply, table), partial(batch.restore, table))
            batch.restore(table)
            yield Row({"mix": name, "n": count}, batch.count / seconds / 1e6)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Mixed operations on distinct keys, whose results do not depend on their order."""

    pairs: Pairs  # the pairs of the map
    count: int  # number of operations
    operations: Any
    keys: Any
    values: Any  # the operations on the device, in random order
    expected: tuple[Any, Any]  # value and mark of each operation
    added: Any
    erased: Any  # keys that the batch inserts, and numbers of the pairs that it erases

    @classmethod
    def of(cls, pairs: Pairs, mix: tuple[float, ...], count: int) -> _Batch:
        import numpy as np

        operation = headrace.MapOperation
        inserts, erasures, present, absent = (int(part * count) for part in mix)
        known, unknown = pairs.keys[: erasures + present], pairs.absent[: inserts + absent]
        parts = (inserts, operation.INSERT), (erasures, operation.ERASE), (present + absent, operation.FIND)
        kinds = np.concatenate([np.full(size, kind, np.uint8) for size, kind in parts])
        keys = np.concatenate([unknown[:inserts], known, unknown[inserts:]])
        is_found: Any = np.zeros(len(keys), bool)
        is_found[inserts : inserts + len(known)] = True
        held: Any = np.zeros(len(keys), np.uint32)
        held[is_found] = pairs.values[: len(known)]
        order = np.random.default_rng(count).permutation(len(keys))
        kinds, keys, expected = kinds[order], keys[order], (held[order], is_found[order])
        kinds, keys, values = map(pairs.setting.array, (kinds, keys, keys))
        return cls(pairs, len(order), kinds, keys, values, expected, unknown[:inserts], np.arange(erasures))

    def apply(self, table: headrace.HashMap) -> Any:
        return table.apply(self.operations, self.keys, self.values, order="any")

    def run(self, table: headrace.HashMap) -> None:
        """Run the operations, and check their results."""
        found = map(self.pairs.setting.host, self.apply(table))
        is_right = all(bool((ours == wanted).all()) for ours, wanted in zip(found, self.expected, strict=True))
        is_right &= len(table) == len(self.pairs.keys) + len(self.added) - len(self.erased)
        self.pairs.setting.check(is_right, "apply")

    def restore(self, table: headrace.HashMap) -> None:
        """Bring the map to its pairs before the batch."""
        array = self.pairs.setting.array
        if len(self.added):
            table.erase(array(self.added))
        if len(self.erased):
            table.insert(array(self.pairs.keys[self.erased]), array(self.pairs.values[self.erased]))


def _allocations(setting: Setting) -> Iterator[Row]:
    """Yield the rates of SlabAlloc and of CUDA's allocator, one slab of 128 bytes a thread."""
    import numpy as np

    for allocator, paper in _ALLOCATORS.items():
        slower = 0 if allocator == "SlabAlloc" else 6  # the allocator of CUDA takes seconds for 2^20 slabs
        for count in (setting.size(1 << 20 - slower, 1 << 10), setting.size(1 << 22 - slower, 1 << 11)):
            with slab_requests(setting.device, allocator, count) as requests:
                requests.allocate()
                numbers = requests.numbers()
                setting.check(len(np.unique(numbers)) == count and int(numbers.min()) > 0, f"allocation by {allocator}")
                seconds = setting.seconds(requests.allocate, requests.release)
                requests.release()
            yield Row({"allocator": allocator, "n": count}, count / seconds / 1e6, paper)


def _variants(setting: Setting) -> Iterator[Row]:
    """Yield rates of finds by the pairs per slot of the first slabs, with one super block and with several."""
    pairs = Pairs.of(setting, setting.size(_SIZE, _SMALL_SIZE))
    count, step = len(pairs.keys), len(pairs.keys) // 4
    keys, values, absent = map(setting.array, (pairs.keys, pairs.values, pairs.absent))
    for load in _LIST_LOADS:
        for variant in ("light", "full"):
            table = variant_map(setting.device, variant, int(count * _DEFAULT_LOAD / load))
            for begin in range(0, count, step):
                table.insert(keys[begin : begin + step], values[begin : begin + step])
            is_right = bool((setting.host(table.find(keys).values) == pairs.values).all())
            setting.check(is_right and not setting.host(table.contains(absent)).any(), f"find by {variant} SlabAlloc")
            for operation, asked in (("find present", keys), ("find absent", absent)):
                seconds = setting.seconds(partial(table.find, asked))
                yield Row({"variant": f"{variant}, {operation}", "load": load}, count / seconds / 1e6)


EXPERIMENTS = (
    Experiment(
        "figure-5.4", "by utilisation in percent, 2^22 pairs; paper: peaks at 19 to 60 %", "10^6/s", "utilisation", _utilisations
    ),
    Experiment("figure-5.5", "by number of pairs; paper: harmonic means over all sizes, at 60 %", "10^6/s", "n", _sizes),
    Experiment("figure-5.6", "insertion by batches to 2^21 pairs", "times as fast as rebuilds", "batch", _batches),
    Experiment("figure-5.7", "mixed operations on maps of n pairs", "10^6/s", "n", _mixes),
    Experiment("allocation", "slabs of 128 bytes, one a thread; paper: 10^6 slabs", "10^6/s", "n", _allocations, needs_gpu=True),
    Experiment("super-blocks", "finds by pairs per slot of the first slabs", "10^6/s", "load", _variants, needs_gpu=True),
)
