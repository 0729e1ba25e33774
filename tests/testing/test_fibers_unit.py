"""Tests the CUDA functions of the harness against results computed by hand."""

from pathlib import Path

import numpy as np
import pytest

from headrace.testing.fibers import Checks, program

KERNELS = Path(__file__).parent / "kernels"
ORDERS = ("forward", "reverse", "random")


@pytest.fixture(scope="module", params=["checked", "fast"])
def words(request):
    return program(KERNELS / "words.cu", build=request.param)


def rows(words, entry, count, *args, mask=0xFFFFFFFF, **how):
    """Return the values that a warp stored, in rows of 32."""
    out = np.zeros((count, 32), np.uint32)
    words.launch(entry, 1, 32, [*args[:1], out, *args[1:], np.uint32(mask)], **how)
    return out


@pytest.mark.parametrize("order", ORDERS)
def test_votes_and_matches(words, order):
    values = np.array([1, 2, 3, 4] * 8, np.uint32)
    ballot, any_, all_, match, alike, all_alike, unlike, all_unlike, wide = rows(words, "votes", 9, values, order=order)
    assert set(ballot) == {0x55555555} and set(any_) == {1} and set(all_) == {1}
    assert match[:4].tolist() == [0x11111111, 0x22222222, 0x44444444, 0x88888888] and (wide == match).all()
    assert set(alike) == {0xFFFFFFFF} and set(all_alike) == {1} and set(unlike) == {0} and set(all_unlike) == {0}


def test_votes_of_some_lanes(words):
    out = rows(words, "votes", 9, np.arange(32, dtype=np.uint32), mask=0x0000F00F)
    assert out[0, :4].tolist() == [0xA00A] * 4 and out[1, 0] == 1 and out[2, 0] == 0
    assert out[3, [0, 3, 12]].tolist() == [1, 8, 1 << 12] and (out[:, 4:12] == 0).all()


@pytest.mark.parametrize("order", ORDERS)
def test_reductions(words, order):
    values = np.full(32, 12, np.uint32)
    values[[3, 7]] = 0xFFFFFFF0, 5
    out = rows(words, "reductions", 9, values, order=order)
    assert (out == out[:, :1]).all()
    total = 30 * 12 + 5 - 16
    assert out[:6, 0].tolist() == [total, 5, 0xFFFFFFF0, 0, 0xFFFFFFFD, 0xFFFFFFF5]
    assert out[6:, 0].astype(np.int32).tolist() == [-16, 12, total]


def test_shuffles(words):
    out, wide, real = np.zeros((9, 32), np.uint32), np.zeros(32, np.uint64), np.zeros(32)
    words.launch("shuffles", 1, 32, [out, wide, real])
    assert set(out[0]) == {5}
    assert out[1].tolist() == [3] * 8 + [11] * 8 + [19] * 8 + [27] * 8
    assert out[2].tolist() == [0, 1, *range(30)]
    assert out[3, 8:16].tolist() == [8, 9, 8, 9, 10, 11, 12, 13]
    assert out[4].tolist() == [*range(3, 32), 29, 30, 31]
    assert out[5, 10:20].tolist() == [13, 14, 15, 13, 14, 15, 19, 20, 21, 22]
    assert out[6, :8].tolist() == [5, 4, 7, 6, 1, 0, 3, 2]
    # 12 turns bit 3: into the segment above, which gives a lane its own value, or the one below, which may be read.
    assert out[7, :16].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 0, 1, 2, 3]
    assert set(out[8]) == {1}
    assert wide[:2].tolist() == [1 << 40, 0] and real[:2].tolist() == [31.5, 30.5]


@pytest.mark.parametrize("seed", range(6))
def test_active_lanes_are_there(words, seed):
    out = np.zeros(32, np.uint32)
    words.launch("active", 1, 32, [out], seed=seed)
    for lane, mask in enumerate(out.tolist()):
        branch = 0x000FFFFF if lane < 20 else 0xFFF00000
        assert mask >> lane & 1 and mask & ~branch == 0


def test_barriers_that_count(words):
    out = np.zeros((4, 100), np.int32)
    words.launch("barriers", 1, 100, [out])
    assert [set(row) for row in out.tolist()] == [{34}, {1}, {0}, {1}]


def test_bits(words):
    out = np.zeros(22, np.uint32)
    words.launch("bits", 1, 1, [np.array([0x01234568, 0x89ABCDEF, 36], np.uint32), out])
    counts, rest = out[:6].tolist(), [f"{value:x}" for value in out[6:].tolist()]
    assert counts == [10, 30, 4, 4, 7, 0]
    assert rest[:3] == ["16a2c480", "16a2c480", "f7b3d591"]
    assert rest[3:5] == ["89cd0145", "68896823"]
    assert rest[5:9] == ["9abcdef0", "f0123456", "1234568", "89abcdef"]
    assert rest[9:12] == ["9ca39e", "ff795e36", "4a0955b6"]
    assert rest[12:] == ["3fc00000", "3ff80000", "89abcdef", "0"]


def test_atomics(words):
    u = np.array([3] * 11 + [9, 0, 1], np.uint32)
    s, w = np.array([-3, -3, -3], np.int32), np.array([3] * 5, np.uint64)
    f, d, h = np.array([3], np.float32), np.array([3.0]), np.array([3], np.uint16)
    out = np.zeros(25, np.uint32)
    words.launch("atomics", 1, 1, [u, s, w, f, d, h, out])
    assert u.tolist() == [8, 2**32 - 2, 3, 5, 2, 7, 5, 6, 9, 3, 0, 0, 9, 2]
    assert s.tolist() == [-5, -3, -8]
    assert w.tolist() == [2**40 + 3, 2**40, 2**50, 2**40, 1]
    assert f[0] == 3.5 and d[0] == 3.25 and h[0] == 65535
    assert out[:13].tolist() == [3] * 11 + [9, 0]
    assert out[13:16].astype(np.int32).tolist() == [-3] * 3 and out[16:24].tolist() == [3] * 8 and out[24] == 3


def test_parameters_have_their_types(words):
    pair = np.array((5, 2**40), np.dtype([("first", "u4"), ("second", "u8")], align=True))
    out = np.zeros(8, np.uint64)
    words.launch("parameters", 1, 1, [out, -2, 2**32 - 1, np.int64(-3), 1.25, np.float64(2.5), pair, None])
    assert out.astype(np.int64).tolist() == [-2, 2**32 - 1, -3, 5, 10, 5, 2**40, 1]


def test_indices_in_three_dimensions(words):
    out = np.full((2 * 3 * 2, 2 * 4 * 3), 2**32 - 1, np.uint32)
    words.launch("indices", (2, 3, 2), (4, 2, 3), [out])
    expected = [[b << 16 | x << 8 | y << 4 | z for z in range(3) for y in range(2) for x in range(4)] for b in range(12)]
    assert out.tolist() == expected


def test_named_accesses(words):
    a, b = np.array([5, 0, 0], np.uint32), np.array([2**40, 0], np.uint64)
    c, d = np.array([[1, 2], [0, 0]], np.uint64), np.array([[1, 2, 3, 4], [0] * 4], np.uint32)
    words.launch("named_accesses", 1, 1, [a, b, c, d])
    assert a.tolist() == [5, 6, 7] and b.tolist() == [2**40, 2**40 + 1]
    assert c[1].tolist() == [2, 1] and d[1].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("resident", [1, 3, 32])
def test_shared_memory_is_each_blocks_own(words, order, resident):
    values = np.arange(40 * 96, dtype=np.uint32)
    narrow, wide = np.zeros(3, np.uint32), np.zeros(3, np.uint64)
    words.launch("sums", 40, 96, [values, narrow, wide, 3], shared=384, order=order, resident_blocks=resident)
    sums = [int(values.sum()) + turn * len(values) for turn in range(3)]
    assert narrow.tolist() == sums and wide.tolist() == [value << 32 for value in sums]


def test_blocks_take_turns_in_the_middle():
    text = """extern "C" __global__ void take(unsigned* next, unsigned* out) {
        for (unsigned i = 0; i < 8; ++i) out[atomicAdd(next, 1u)] = blockIdx.x;
    }"""
    for order in ORDERS:
        out = np.zeros(32, np.uint32)
        counts = program(text=text).launch("take", 4, 1, [np.zeros(1, np.uint32), out], order=order)
        assert np.count_nonzero(np.diff(out.astype(int))) >= 8, order
        assert counts.block_switches >= 8 and counts.atomics == 32 and counts.interleavings == 32


def test_counts_tell_what_happened(words):
    counts = words.launch("barriers", 1, 100, [np.zeros(400, np.int32)])
    assert (counts.blocks, counts.threads, counts.barriers) == (1, 100, 400)


def test_a_seed_is_an_interleaving(words):
    def taken(seed):
        text = 'extern "C" __global__ void take(unsigned* next, unsigned* out) { out[atomicAdd(next, 1u)] = threadIdx.x; }'
        out = np.zeros(64, np.uint32)
        program(text=text).launch("take", 1, 64, [np.zeros(1, np.uint32), out], seed=seed)
        return out.tolist()

    assert taken(1) == taken(1) and taken(1) != taken(2) and sorted(taken(1)) == list(range(64))


def test_blocks_start_in_any_order_unless_told():
    text = """extern "C" __global__ void first(unsigned* next, unsigned* out) {
        if (threadIdx.x == 0) out[atomicAdd(next, 1u)] = blockIdx.x;
    }"""

    def started(**how):
        out = np.zeros(16, np.uint32)
        program(text=text).launch("first", 16, 32, [np.zeros(1, np.uint32), out], resident_blocks=1, **how)
        return out.tolist()

    assert started(order="forward") == list(range(16)) and started(order="reverse") == list(range(15, -1, -1))
    assert started(seed=3) != started(seed=4) and sorted(started(seed=3)) == list(range(16))
    assert started(seed=3, checks=Checks(starts="ascending")) == list(range(16))


def test_variables_of_the_device_are_all_blocks_own():
    text = """__device__ unsigned taken;
    __device__ const unsigned steps[2] = {1, 2};
    extern "C" __global__ void take(unsigned* out) { out[atomicAdd(&taken, steps[0])] = blockIdx.x; }"""
    out = np.zeros(5, np.uint32)
    program(text=text).launch("take", 5, 1, [out])
    assert sorted(out.tolist()) == [0, 1, 2, 3, 4]


def test_loops_and_copies(words):
    values, out = np.arange(256, dtype=np.uint32), np.ones(256, np.uint32)
    words.launch("filled_and_copied", 1, 32, [values, out, 256])
    assert out.tolist() == [*range(128), *[0] * 128]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("grid", "block"), [(1, 1024), (32, 32), (4, 256)])
def test_everybody_gets_a_turn(order, grid, block):
    """Only one of all threads can continue, and it does before the others are reported as a spin."""
    following = np.zeros(1, np.uint32)
    program(KERNELS / "words.cu").launch("in_turn", grid, block, [following], order=order, resident_blocks=32)
    assert following[0] == grid * block
