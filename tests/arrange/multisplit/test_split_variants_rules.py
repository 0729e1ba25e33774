"""Checks that every program that a multisplit launches is listed, and fits the shared memory of its device."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.multisplit.gpu.launches import Pass, Splitter, bits_pass
from headrace.arrange.multisplit.gpu.tuning import SplitTuning, tuning_of
from headrace.arrange.multisplit.paper.launches import run_by_look_back, run_by_warps
from headrace.gpu.kernels.source import Variant

pytestmark = pytest.mark.pure

BUFFER = {(8, 0): 163 << 10, (9, 0): 227 << 10, (12, 0): 99 << 10}
"""Shared memory per block, by compute capability."""
RULES = [("u8", "BitsOf"), ("u16", "BitsOf"), ("u32", "BitsOf"), ("u32", "AnyOf"), ("u32", "Computed"), ("u64", "BitsOf"),
         ("u64", "AnyOf")]  # fmt: skip


class DeviceBuffer:
    address, nbytes = 16, 8


class Lister:
    """Launcher that looks up programs and runs nothing."""

    def __init__(self, capability=(12, 0)):
        self.most = BUFFER[capability]

    def allocate(self, nbytes, fill=None):
        return DeviceBuffer()

    def launch(self, entry, shape, args):
        Variant.of(entry.file, shape.defines)
        assert shape.shared <= self.most


@pytest.mark.parametrize(("key", "rule"), RULES)
@pytest.mark.parametrize("count", [1, 2, 3, 32, 33, 256])
@pytest.mark.parametrize("capability", BUFFER)
def test_launches_are_listed(key: str, rule: str, count: int, capability: tuple[int, int]) -> None:
    size = {"BitsOf": 16, "Computed": 16, "AnyOf": 32 if key == "u32" else 48}[rule]
    by = Pass(key, rule, bytes(size), count, "(key >> 3u)" if rule == "Computed" else "")
    splitter = Splitter(Lister(capability), 1_000_000, tuning_of(132, capability))
    for columns in ([MovedItems(DeviceBuffer(), DeviceBuffer(), 4)], [MovedItems(DeviceBuffer(), DeviceBuffer(), 4)] * 3):
        if len(columns) > 1 or key in {"u32", "u64"}:  # labels never go alone
            splitter.run(by, columns, None)
        if (key, rule) == ("u32", "BitsOf"):
            run_by_look_back(splitter, by, columns, DeviceBuffer())
            for reorders in (False, True) if by.bits <= 5 else ():
                run_by_warps(splitter, by, columns, None, reorders=reorders)


@pytest.mark.parametrize("key", ["u32", "u64"])
def test_reserving_is_listed(key: str) -> None:
    by = replace(bits_pass(key, 0, 3), min_bits=8)
    splitter = Splitter(Lister(), 1_000_000, SplitTuning())
    splitter.starts(by, DeviceBuffer())
    splitter.run_by_reserving(by, MovedItems(DeviceBuffer(), DeviceBuffer(), 8), DeviceBuffer())
