"""Kernels whose blocks wait for each other or race, under every order and many seeds, against sequential Python.

Each test records how far the interleaving went, and asks that it went far enough to mean something.
"""

from pathlib import Path

import numpy as np
import pytest

from headrace.testing.fibers import Checks, KernelError, program

KERNELS = Path(__file__).parent / "kernels"
ORDERS = ("forward", "reverse", "random")
SEEDS = range(12)


def compose(first, second):
    a, b, c, d = first >> 16, first & 0xFFFF, second >> 16, second & 0xFFFF
    return (c * a & 0xFFFF) << 16 | (c * b + d & 0xFFFF)


def totals(items):
    running, all_ = 1 << 16, []
    for item in items.tolist():
        running = compose(running, item)
        all_.append(running)
    return all_


def scan(kernels, count, threads, **how):
    """The scan of `count` items, and the deepest look-back."""
    blocks = -(-count // threads)
    items = np.random.default_rng(count).integers(0, 2**32, count, dtype=np.uint32) | 0x10000  # odd factors lose nothing
    out, deepest = np.zeros(count, np.uint32), np.zeros(1, np.uint32)
    args = [items, out, count, np.zeros(blocks, np.uint64), np.zeros(1, np.uint32), deepest]
    kernels.launch("scan", blocks, threads, args, **how)
    assert out.tolist() == totals(items)
    return int(deepest[0])


@pytest.mark.parametrize("defines", [{}, {"WITH_VOLATILE": 1}], ids=["acquire", "volatile"])
@pytest.mark.parametrize("order", ORDERS)
def test_look_back_is_walked_deep(order, defines, record_property):
    kernels = program(KERNELS / "look_back.cu", defines)
    depths = [scan(kernels, 64 * 20 - 5, 64, order=order, seed=seed, resident_blocks=8) for seed in SEEDS]
    record_property("deepest look-back", max(depths))
    assert max(depths) >= 4 and min(depths) >= 2


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("count", [1, 63, 64, 65, 1000])
@pytest.mark.parametrize("resident", [1, 2, 32])
def test_look_back_at_every_size(order, count, resident):
    scan(program(KERNELS / "look_back.cu"), count, 64, order=order, resident_blocks=resident)


@pytest.mark.parametrize("build", ["checked", "fast"])
def test_look_back_with_large_blocks(build):
    scan(program(KERNELS / "look_back.cu", build=build), 5000, 256, resident_blocks=6)


@pytest.mark.parametrize("order", ["reverse", "random"])
def test_look_back_that_waits_for_blocks_that_have_not_begun(order):
    kernels = program(KERNELS / "look_back.cu", {"BY_BLOCK_INDEX": 1})
    with pytest.raises(KernelError, match="blocks have not started") as caught:
        scan(kernels, 1024, 64, order=order, resident_blocks=4)
    assert caught.value.kind == "spin" and any("in look_back" in frame for frame in caught.value.where)
    scan(kernels, 1024, 64, order=order, resident_blocks=4, checks=Checks(starts="ascending"))


def insert(kernels, keys, **how):
    slots, lost, inserted = np.zeros(512, np.uint32), np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    counts = kernels.launch("insert", -(-len(keys) // 64), 64, [keys, len(keys), slots, 512, lost, inserted], **how)
    return sorted(slots[slots != 0].tolist()) == np.unique(keys).tolist(), int(lost[0]), counts


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("resident", [1, 4, 8])
def test_swaps_are_lost_and_keys_are_not(order, resident, record_property):
    kernels = program(KERNELS / "hash_insert.cu")
    keys = np.random.default_rng(5).integers(1, 300, 512, dtype=np.uint32)
    lost = 0
    for seed in SEEDS:
        right, lost_now, counts = insert(kernels, keys, order=order, seed=seed, resident_blocks=resident)
        assert right and counts.lost_swaps == lost_now
        lost += lost_now
    record_property("compare-and-swaps lost", lost)
    assert lost > 0


@pytest.mark.parametrize("order", ORDERS)
def test_stores_instead_of_swaps_lose_keys(order):
    kernels = program(KERNELS / "hash_insert.cu", {"WITHOUT_SWAP": 1})
    keys = np.random.default_rng(6).choice(1 << 20, 400, replace=False).astype(np.uint32) + 1
    assert not all(insert(kernels, keys, order=order, seed=seed)[0] for seed in SEEDS)
