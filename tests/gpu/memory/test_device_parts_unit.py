"""Tests buffers taken together, with a driver that records the requests."""

from __future__ import annotations

import gc
from itertools import pairwise
from types import SimpleNamespace

import pytest

from headrace.core.budget import Budget
from headrace.core.errors import MemoryLimitError
from headrace.gpu.memory import pool
from headrace.gpu.memory.pool import PoolBuffer
from headrace.gpu.memory.slabs import ALIGNMENT, LARGE, MANY, MANY_SLAB, SLAB, allocate_group


class Pool:
    """Pool of addresses without memory."""

    def __init__(self, monkeypatch):
        self.taken, self.given_back, self.zeroed, self.next = [], [], [], 1 << 20
        calls = SimpleNamespace(give_back=lambda address, stream, context: self.given_back.append(address))
        monkeypatch.setattr(pool, "card_calls", lambda: calls)
        from headrace.gpu.device.device import Gpu

        self.gpu = object.__new__(Gpu)
        self.gpu._context = 7

    def take(self, nbytes, stream, budget, *, is_current, ones_and_zeros):
        assert is_current
        budget.charge(nbytes)
        address, self.next = self.next, self.next + nbytes + 4096
        ones, zeros = ones_and_zeros
        self.zeroed += [(begin, size) for begin, size in ((address, ones), (address + ones, zeros)) if size]
        self.taken.append(nbytes)
        return PoolBuffer(address, nbytes, self.gpu, stream, budget)


def test_small_buffers_lie_side_by_side_and_the_first_are_zero(monkeypatch):
    pool, budget = Pool(monkeypatch), Budget()
    parts = allocate_group(pool, [5, 0, 300], [7, 256], 3, budget)
    assert len(pool.taken) == 1 and pool.taken[0] == sum(-(-n // ALIGNMENT) * ALIGNMENT for n in (5, 0, 300, 7, 256))
    assert [part.nbytes for part in parts] == [5, 0, 300, 7, 256]
    assert [part.address for part in parts] == parts.addresses
    assert all(address % ALIGNMENT == 0 for address in parts.addresses)
    ends = [(part.address, part.address + part.nbytes) for part in parts]
    assert all(one[1] <= other[0] for one, other in pairwise(ends))
    ((begin, size),) = pool.zeroed
    assert begin == parts[0].address and parts[2].address + 300 <= begin + size <= parts[3].address
    assert (parts[1].stream, parts[1].gpu) == (3, pool.gpu)


def test_many_large_buffers_share_slabs(monkeypatch):
    pool, budget = Pool(monkeypatch), Budget()
    sizes = [LARGE + 1] * MANY + [SLAB + 1]
    parts = allocate_group(pool, sizes[:2], sizes[2:], 0, budget)
    assert [part.nbytes for part in parts] == sizes
    assert max(pool.taken) <= MANY_SLAB and pool.taken[-1] < SLAB + 2 * ALIGNMENT
    assert len(pool.taken) == 2 + (MANY - 1) // (MANY_SLAB // (LARGE + ALIGNMENT))
    ends = [(part.address, part.address + part.nbytes) for part in parts]
    assert all(one[1] <= other[0] for one, other in pairwise(ends))


def test_what_is_large_lies_alone_and_slabs_are_small(monkeypatch):
    pool, budget = Pool(monkeypatch), Budget()
    sizes = [100, LARGE + 1, 200, *[LARGE] * 9]
    parts = allocate_group(pool, sizes[:4], sizes[4:], 0, budget)
    assert [part.nbytes for part in parts] == sizes
    assert max(pool.taken) <= max(SLAB, LARGE + ALIGNMENT + 1) and budget.used == sum(pool.taken)
    zeroed = [(begin, begin + size) for begin, size in pool.zeroed]
    for number, part in enumerate(parts):
        is_zero = any(begin <= part.address and part.address + part.nbytes <= end for begin, end in zeroed)
        assert is_zero is (number < 4), number


def test_a_slab_is_given_back_when_nobody_holds_a_part_of_it(monkeypatch):
    pool, budget = Pool(monkeypatch), Budget()
    parts = allocate_group(pool, [], [8, 8], 0, budget)
    kept = parts[1]
    del parts
    gc.collect()
    assert pool.given_back == [] and budget.used > 0
    del kept
    gc.collect()
    assert len(pool.given_back) == 1 and budget.used == 0


def test_a_slab_that_was_shown_or_used_elsewhere_knows_it(monkeypatch):
    pool, noted = Pool(monkeypatch), []
    monkeypatch.setattr(PoolBuffer, "used_by", lambda self, stream: noted.append((self.nbytes, stream)))
    monkeypatch.setattr(PoolBuffer, "show", lambda self: noted.append(self.nbytes))
    parts = allocate_group(pool, [], [8, 300], 5, Budget())
    parts[1].used_by(9)
    interface = parts[1].__cuda_array_interface__
    assert noted == [(pool.taken[0], 9), pool.taken[0]]
    assert (interface["shape"], interface["data"], interface["stream"]) == ((300,), (parts.addresses[1], False), 5)


def test_a_budget_that_does_not_suffice_leaves_nothing(monkeypatch):
    pool, budget = Pool(monkeypatch), Budget(LARGE + 2000)
    with pytest.raises(MemoryLimitError):
        allocate_group(pool, [], [LARGE + 1, LARGE + 1], 0, budget)
    gc.collect()
    assert budget.used == 0


def test_what_is_dropped_is_given_back_if_it_lies_alone(monkeypatch):
    pool, budget = Pool(monkeypatch), Budget()
    parts = allocate_group(pool, [LARGE + 1, 100], [200], 0, budget)
    parts.drop([0, 1])
    gc.collect()
    assert len(pool.given_back) == 1 and budget.used < LARGE
    assert parts[2].nbytes == 200
