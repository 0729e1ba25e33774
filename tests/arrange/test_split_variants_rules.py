"""Every program that a multisplit may launch is listed in core/variants.toml, and fits the shared memory of every card."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.arrange.multisplit.split_gpu import Column, Pass, Shapes, Splitter, bits_pass
from headrace.core.gpu.kernel_source import Variant

pytestmark = pytest.mark.pure

OF_EVERY_CARD = 99 << 10
RULES = [("u8", "BitsOf"), ("u16", "BitsOf"), ("u32", "BitsOf"), ("u32", "AnyOf"), ("u32", "Computed"), ("u64", "BitsOf"),
         ("u64", "AnyOf")]  # fmt: skip


class Room:
    address, nbytes = 16, 8


class Lister:
    """A launcher that looks programs up and runs nothing."""

    def room(self, nbytes, fill=None):
        return Room()

    def launch(self, entry, shape, args):
        Variant.of(entry.file, shape.defines)
        assert shape.shared <= OF_EVERY_CARD


@pytest.mark.parametrize(("key", "rule"), RULES)
@pytest.mark.parametrize("count", [1, 2, 3, 32, 33, 256])
def test_launches_are_listed(key: str, rule: str, count: int) -> None:
    size = {"BitsOf": 16, "Computed": 16, "AnyOf": 32 if key == "u32" else 48}[rule]
    by = Pass(key, rule, bytes(size), count, "(key >> 3u)" if rule == "Computed" else "")
    splitter = Splitter(Lister(), 1_000_000, Shapes())
    for columns in ([Column(Room(), Room(), 4)], [Column(Room(), Room(), 4)] * 3):
        if len(columns) > 1 or key in {"u32", "u64"}:  # labels never go alone
            splitter.run(by, columns, None)
        if (key, rule) == ("u32", "BitsOf"):
            splitter.run_by_look_back(by, columns, Room())
            for reorders in (False, True) if by.bits <= 5 else ():
                splitter.run_by_warps(by, columns, None, reorders=reorders)


@pytest.mark.parametrize("key", ["u32", "u64"])
def test_reserving_is_listed(key: str) -> None:
    by = replace(bits_pass(key, 0, 3), least_bits=8)
    splitter = Splitter(Lister(), 1_000_000, Shapes())
    splitter.starts(by, Room())
    splitter.run_by_reserving(by, Column(Room(), Room(), 8), Room())
