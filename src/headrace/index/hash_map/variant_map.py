"""Maps whose lists lie in one super block or in several: the light and the full SlabAlloc of section 5.5."""

from __future__ import annotations

from dataclasses import replace

from headrace.core.context import Context
from headrace.index.hash_map.container import HashContainer
from headrace.index.hash_map.device_map import DeviceMap
from headrace.index.hash_map.gpu.tuning import SLAB_TUNING
from headrace.index.hash_map.hash_map import HashMap
from headrace.index.hash_map.pair_types import PairTypes

_NO_GROWTH = 1e9
VARIANTS = {
    "light": replace(SLAB_TUNING, max_load=_NO_GROWTH, list_slabs=3.0),
    "full": replace(SLAB_TUNING, max_load=_NO_GROWTH, list_slabs=0, dense_load=0),
}
"""Sizes of tables whose buckets do not grow. Slabs after the first one of a list are in the first super block, or in others."""


class VariantMap(HashMap):
    """A map of unsigned words on a GPU.

    `variant`: a key of `VARIANTS`. `capacity`, `context`: as for `HashMap`.
    """

    def __init__(self, variant: str, capacity: int, context: Context) -> None:
        def backend(types: PairTypes, context: Context, capacity: int, seed: int) -> DeviceMap:
            return DeviceMap(types, context, capacity, VARIANTS[variant], seed=seed)

        HashContainer.__init__(self, PairTypes.of("uint32", "uint32"), backend, capacity=capacity, seed=0, context=context)
