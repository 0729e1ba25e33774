"""Keys of values that many have, set aside before the others are sorted: launches of the kernels of this folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from headrace.arrange.sort.gpu.common.launch import Common, Keys, Moved, packed_arrays
from headrace.arrange.sort.gpu.lsd.lsd import PORTION, Case, Plan, Tiles
from headrace.gpu.kernels.kernel import LaunchMode
from headrace.gpu.kernels.launcher import Entry, Room, Shape

_EPOCH = (1 << 32) - 1
"""Of look-back, in none of the steps."""


@dataclass(frozen=True, slots=True)
class HeavyShape:
    """Sizes that the kernels are compiled for.

    Parameters
    ----------
    bits
        Of a class: one is that of light keys, the others of a heavy value each.
    finding
        Threads of the block that looks at a sample, of four keys for each.
    reading
        Threads of a block that reads keys, vectors of 16 bytes of a thread.
    reading_blocks
        Of a multiprocessor.
    from_bytes
        Of keys and what moves with them: below, launches that have nothing to do would cost too much.
    """

    bits: int = 6
    finding: int = 1024
    reading: tuple[int, int] = (256, 4)
    from_bytes: int = 1 << 29
    reading_blocks: int = 6


class HeavyKeys:
    """Keys set aside, if a sample says so, and put back between the others.

    Parameters
    ----------
    arrays
        Keys, and what goes with them.
    steps
        Tiles of the steps, by which pairs move; states of their look-back, and `nbytes`, cleared.
    """

    def __init__(
        self,
        common: Common,
        keys: Keys,
        shape: HeavyShape,
        arrays: tuple[Moved, Sequence[Moved]],
        steps: tuple[Tiles, Room, Room],
    ) -> None:
        self._common, self._keys, self._shape = common, keys, shape
        self._tiles, self._states, self._heavy = steps
        self._moved, self._columns = arrays
        self._packed = packed_arrays(*arrays)

    @staticmethod
    def nbytes(keys: Keys, shape: HeavyShape) -> int:
        """Of a ``Heavy``."""
        return 16 + (8 + keys.width << shape.bits)

    @property
    def lights(self) -> Room:
        """Where light keys are."""
        assert self._moved.between is not None
        return self._moved.between

    def set_aside(self, plan: Plan, case: Case) -> None:
        """Before the plan is made."""
        common, keys, shape = self._common, self._keys, self._shape
        source, rule = self._moved.source, len(keys.rule)
        shared = 4 * shape.finding * (keys.width + 8)
        common.launcher.launch(
            _entry("sample", "find_heavy", f"PQ{rule}s24sPP"),
            Shape(self._defines(plan, shape.finding, 1), 1, shape.finding, shared),
            (source, common.count, keys.rule, case.packed(common.count), self._heavy, plan.plan),
        )
        threads, rows = shape.reading
        vectors = -(-common.count * keys.width // 16)
        blocks = min(-(-vectors // (threads * rows)), common.multiprocessors * shape.reading_blocks)
        read = Shape(self._defines(plan, threads, rows), blocks, threads)
        given = source, common.count, keys.rule, self._heavy
        if not self._columns:
            entry = _entry("extract_keys", "heavy_pack", f"PQ{rule}sPPP")
            return common.launcher.launch(entry, read, (*given, self.lights, plan.plan))
        common.launcher.launch(_entry("extract_keys", "heavy_count", f"PQ{rule}sPP"), read, (*given, plan.plan))
        return self._split(plan)

    def _split(self, plan: Plan) -> None:
        common, keys, tiles, bits = self._common, self._keys, self._tiles, self._shape.bits
        portion = PORTION.pack(0, common.count, 0, 0, self._states.address, _EPOCH, 1)
        shape = tiles.launch(common, keys, bits, common.count)
        args = (plan.plan, self._heavy, keys.rule, self._packed, portion)
        common.launcher.launch(_entry("extract_stable", "heavy_split", f"PP{len(keys.rule)}s296s48s"), shape, args)

    def put_back(self, plan: Plan, *, writes_keys: bool) -> None:
        """Behind the last step."""
        common, keys = self._common, self._keys
        threads, rows = self._shape.reading
        shape = Shape(self._defines(plan, threads, rows), common.blocks(common.count, 8 * threads), threads)
        args = (keys.rule, self._packed, common.count, int(writes_keys), self._heavy, plan.plan)
        common.launcher.launch(_entry("extract_keys", "heavy_merge", f"{len(keys.rule)}s296sQIPP"), shape, args)

    def _defines(self, plan: Plan, threads: int, rows: int) -> Mapping[str, Any]:
        sizes = ("HR_BITS", plan.bits), ("HR_CLASS_BITS", self._shape.bits)
        return self._keys.defines(*sizes, ("HR_THREADS", threads), ("HR_ROWS", rows))


@lru_cache(32)
def _entry(file: str, name: str, signature: str) -> Entry:
    return Entry(f"arrange/sort/gpu/heavy_hitters/{file}.cu", name, signature, mode=LaunchMode.EARLY)
