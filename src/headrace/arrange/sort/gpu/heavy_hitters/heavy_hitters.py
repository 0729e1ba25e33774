"""Extracts heavy hitters, that is values of very many keys, before the remaining keys are sorted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from headrace.arrange.sort.gpu.common.key_type import KeyType
from headrace.arrange.sort.gpu.common.launch import ARRAYS, SortArrays, SortContext
from headrace.arrange.sort.gpu.heavy_hitters.tuning import HeavyHitterTuning
from headrace.arrange.sort.gpu.lsd.lsd import PORTION, DevicePlan, PlanInputs, tile_shape
from headrace.arrange.sort.gpu.lsd.tuning import TileTuning
from headrace.gpu.kernels.kernel import LaunchMode
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Shape

_EPOCH = (1 << 32) - 1  # epoch of look-back states that no pass of a sort has


@dataclass(frozen=True, slots=True)
class ExtractionBuffers:
    """Buffers that an extraction shares with the sort, and its own table."""

    tile: TileTuning  # tile of the sort's passes, by which keys and values move together
    states: DeviceBuffer  # look-back states of the passes
    table: DeviceBuffer  # `HeavyHitters.nbytes` zeros


class HeavyHitters:
    """Extracts the keys of heavy hitters if a sample shows that it pays, and merges them into the sorted remainder.

    `arrays`: keys, and the columns that move with them.
    """

    def __init__(
        self, context: SortContext, keys: KeyType, tuning: HeavyHitterTuning, arrays: SortArrays, buffers: ExtractionBuffers
    ) -> None:
        self._context, self._keys, self._tuning, self._buffers = context, keys, tuning, buffers
        self._moved, self._columns, self._packed = arrays.keys, arrays.columns, arrays.packed

    @staticmethod
    def nbytes(keys: KeyType, tuning: HeavyHitterTuning) -> int:
        """Return the bytes of a ``HeavyTable`` of heavy_hitters.cuh."""
        return 16 + (8 + keys.width << tuning.class_bits)

    @property
    def remainder(self) -> DeviceBuffer:
        """Return the buffer of the keys that remain."""
        assert self._moved.between is not None
        return self._moved.between

    def extract(self, plan: DevicePlan, inputs: PlanInputs) -> None:
        """Sample the keys, and extract those of heavy hitters. It precedes `DevicePlan.make`."""
        context, keys, tuning, table = self._context, self._keys, self._tuning, self._buffers.table
        source, rule, launch = self._moved.source, len(keys.rule), context.launcher.launch
        defines = tuning.defines(keys, plan.bits)
        launch(
            _entry("extract_keys", "sample_heavy", f"PQ{rule}s24sPP"),
            Shape(defines, 1, tuning.sample_threads, 4 * tuning.sample_threads * (keys.width + 8)),
            (source, context.count, keys.rule, inputs.packed(context.count), table, plan.plan),
        )
        vectors = -(-context.count * keys.width // 16)
        blocks = min(-(-vectors // (tuning.threads * tuning.rows)), context.multiprocessors * tuning.blocks)
        shape, args = Shape(defines, blocks, tuning.threads), (source, context.count, keys.rule, table)
        if not self._columns:
            launch(_entry("extract_keys", "extract_keys", f"PQ{rule}sPPP"), shape, (*args, self.remainder, plan.plan))
            return
        launch(_entry("extract_keys", "count_heavy", f"PQ{rule}sPP"), shape, (*args, plan.plan))
        self._extract_stably(plan)

    def _extract_stably(self, plan: DevicePlan) -> None:
        context, keys, buffers = self._context, self._keys, self._buffers
        portion = PORTION.pack(0, context.count, 0, 0, buffers.states.address, _EPOCH, 1)
        shape = tile_shape(buffers.tile, context, keys, self._tuning.class_bits, context.count)
        args = (plan.plan, buffers.table, keys.rule, self._packed, portion)
        context.launcher.launch(
            _entry("extract_stable", "extract_stable", f"PP{len(keys.rule)}s{ARRAYS}{PORTION.size}s"), shape, args
        )

    def merge(self, plan: DevicePlan, *, writes_keys: bool) -> None:
        """Merge heavy hitters and the sorted remainder into the target. It follows the last pass."""
        context, keys, tuning = self._context, self._keys, self._tuning
        blocks = context.blocks(context.count, 8 * tuning.threads)
        shape = Shape(tuning.defines(keys, plan.bits), blocks, tuning.threads)
        args = (keys.rule, self._packed, context.count, int(writes_keys), self._buffers.table, plan.plan)
        context.launcher.launch(_entry("extract_keys", "merge_heavy", f"{len(keys.rule)}s{ARRAYS}QIPP"), shape, args)


@lru_cache(32)
def _entry(file: str, name: str, signature: str) -> Entry:
    return Entry(f"arrange/sort/gpu/heavy_hitters/{file}.cu", name, signature, mode=LaunchMode.EARLY)
