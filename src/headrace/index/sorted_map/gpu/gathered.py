"""Gathers batches in the memory of a GPU. A batch is one launch, which equal inserts repeat."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

from headrace.arrays.repeated import RepeatedCall, repeated_call
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launch_plan import LaunchPlan, PlanRecorder, RecordedCall, recorded
from headrace.index.sorted_map.engine import Batch, Engine
from headrace.index.sorted_map.gathered import GatheredBatches
from headrace.index.sorted_map.gpu.launches import MapKernels
from headrace.index.sorted_map.gpu.update import launch_codes
from headrace.index.sorted_map.key_types import MapTypes
from headrace.index.sorted_map.levels import Level


class RepeatedBatches(GatheredBatches):
    """Items of batches, as of `GatheredBatches`. The launch of an insert is kept for inserts of the same length."""

    _repeated: RepeatedCall | None = None

    @cached_property
    def _name(self) -> str:
        """All that a launch depends on besides the arrays of a call, as a text, whose hash Python keeps."""
        types = self.call.types
        return f"SortedMap.insert {types.key} {types.value} {self.call.device}"

    def repeat(self, keys: Any, values: Any) -> bool:
        """See `GatheredBatches.repeat`."""
        self._repeated = None
        given = (keys,) if values is None else (keys, values)
        repeated = repeated_call(self._name, *given)
        if repeated is None or repeated.stream != self._memory.codes.stream or self._is_torn:
            return False
        begin = self._free - len(keys)
        if not repeated.is_known:
            self._repeated = repeated
        elif begin >= 0 and repeated.replay(*[array.address + begin * array.width for array in self._memory.arrays]):
            self._free = begin
            return True
        return False

    def _write(self, batch: Batch, to: Level, engine: Engine) -> None:
        super()._write(batch, to, engine)
        repeated, self._repeated = self._repeated, None
        if repeated is not None and not batch.has_tombstones and repeated.may_keep(batch.arrays, to.arrays):
            plan = LaunchPlan(recorded_codes(self.call.types, batch, to), gpu(self.call.device))
            repeated.keep(plan, batch.arrays, to.arrays)


def recorded_codes(types: MapTypes, batch: Batch, to: Level) -> RecordedCall:
    """Return the launch of `launch_codes`, recorded for addresses of the arrays of a batch and of a level."""
    arrays = [*batch.arrays, *to.arrays]

    def record(recorder: PlanRecorder) -> None:
        moved = [replace(array, address=address) for array, address in zip(arrays, recorder.addresses, strict=True)]
        keys, *values = moved[: len(arrays) // 2]
        codes, *places = moved[len(arrays) // 2 :]
        launcher: Any = recorder  # a launch copies nothing between host and device
        given = replace(batch, keys=keys, values=values[0] if values else None)
        launch_codes(MapKernels(launcher, types.key_width), types, given, Level(codes, places[0] if places else None))

    return recorded(record, [0] * len(arrays))
