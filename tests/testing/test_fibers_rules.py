"""Tests each mistake that the harness finds, with its place, and a correct version beside it that passes."""

from pathlib import Path

import numpy as np
import pytest

from headrace.testing.fibers import Checks, KernelError, program

SOURCE = Path(__file__).parent / "kernels" / "mistakes.cu"
LINES = SOURCE.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def mistakes():
    return program(SOURCE, build="explained")


def words(count):
    return np.zeros(count, np.uint32)


def found(program, kinds, entry, threads, args, *, grid=1, **how):
    """The error of a launch that must fail, and the text of the line that it names."""
    with pytest.raises(KernelError) as caught:
        program.launch(entry, grid, threads, args, **how)
    assert caught.value.kind in kinds.split(), caught.value
    place = caught.value.where[0]
    assert place.startswith("mistakes.cu:"), caught.value
    return caught.value, LINES[int(place.split(":")[1].split(" ")[0]) - 1].strip()


ALL = pytest.mark.parametrize("how", [{"order": "forward"}, {"order": "reverse"}, {"seed": 1}, {"seed": 2}])


@ALL
def test_a_missing_barrier(mistakes, how):
    _, line = found(mistakes, "race uninitialised", "missing_barrier", 64, [words(64)], **how)
    assert "values[threadIdx.x" in line
    found(mistakes, "race", "missing_barrier", 64, [words(64)], checks=Checks(uninitialised=False), **how)
    out = words(64)
    mistakes.launch("with_barrier", 1, 64, [out], **how)
    assert out.tolist() == [i ^ 32 for i in range(64)]


@ALL
def test_a_missing_barrier_gives_wrong_results_when_unchecked(mistakes, how):
    out = words(64)
    mistakes.launch("missing_barrier", 1, 64, [out], checks=Checks(uninitialised=False, races=False), **how)
    assert 0xCBCBCBCB in out.tolist()


@ALL
def test_a_missing_second_barrier(mistakes, how):
    error, line = found(mistakes, "race", "missing_second_barrier", 64, [words(64)], **how)
    assert line in {"if (threadIdx.x == 0) value[0] = round;", "sum += value[0];"}
    assert "byte 0 of value, which has 8" in str(error) and "the access before: thread (" in str(error)


@ALL
def test_a_missing_syncwarp(mistakes, how):
    found(mistakes, "race uninitialised", "missing_syncwarp", 32, [words(32)], **how)
    mistakes.launch("with_syncwarp", 1, 32, [words(32)], **how)


@ALL
def test_atomic_counts_that_are_read_too_early(mistakes, how):
    found(mistakes, "race", "count", 64, [words(2), 0], **how)
    out = words(2)
    mistakes.launch("count", 1, 64, [out, 1], **how)
    assert out.tolist() == [32, 32]


@ALL
def test_the_fast_build_runs_on(how):
    """With a mistake or without."""
    kernels, out = program(SOURCE, build="fast"), words(64)
    kernels.launch("count", 1, 64, [out, 1], **how)
    assert out[:2].tolist() == [32, 32]
    kernels.launch("publish", 3, 32, [words(32), words(1), words(96), 0], **how)
    kernels.launch("missing_barrier", 1, 64, [out], **how)
    found(kernels, "divergent_barrier", "divergent_barrier", 64, [out], **how)
    found(kernels, "time", "spin", 64, [words(1)], checks=Checks(seconds=0.1), **how)


@ALL
def test_a_flag_orders_what_is_behind_fences(mistakes, how):
    found(mistakes, "race", "flag", 64, [words(1), 0], **how)
    out = words(1)
    mistakes.launch("flag", 1, 64, [out, 1], **how)
    assert out[0] == 7


@ALL
def test_a_divergent_barrier(mistakes, how):
    error, line = found(mistakes, "divergent_barrier", "divergent_barrier", 64, [words(64)], **how)
    assert line == "__syncthreads();"
    assert str(error).count("wait at a barrier, mistakes.cu:") == 2


def test_who_waits_where(mistakes):
    error, _ = found(mistakes, "divergent_barrier", "barrier_and_vote", 32, [words(32)])
    barrier = next(i for i, line in enumerate(LINES, 1) if "if (threadIdx.x < 16) __syncthreads();" in line)
    assert f"block (0, 0, 0): threads 0-15 wait at a barrier, mistakes.cu:{barrier} in barrier_and_vote" in str(error)
    assert f"block (0, 0, 0): threads 16-31 wait in ballot/any/all, mistakes.cu:{barrier + 1} in barrier_and_vote" in str(error)


def test_lanes_at_different_collectives(mistakes):
    found(mistakes, "divergent_collective", "different_votes", 32, [words(32)])


def test_wrong_masks(mistakes):
    found(mistakes, "wrong_mask", "mask_without_me", 32, [words(32)])
    found(mistakes, "wrong_mask", "shuffle_from_nobody", 32, [words(32)])
    found(mistakes, "divergent_barrier", "mask_of_others", 32, [words(32)])


@ALL
def test_a_spin_that_never_ends(mistakes, how):
    error, line = found(mistakes, "spin", "spin", 64, [words(1)], **how)
    assert line == "while (*flag == 0) {" and "threads 0-63 can go on, mistakes.cu:" in str(error)
    mistakes.launch("spin", 1, 64, [np.ones(1, np.uint32)], **how)


@ALL
@pytest.mark.parametrize("by_block", [0, 1])
def test_a_vote_about_what_some_lanes_see(mistakes, how, by_block):
    """The others wait for those and never look: the round has to pass on, and to see that nothing changes."""
    for raiser in (0, 1, 2):
        mistakes.launch("look_and_vote", 3, 64, [words(1), raiser, by_block], checks=Checks(seconds=2), **how)
    found(mistakes, "spin", "look_and_vote", 64, [words(1), 9, by_block], checks=Checks(seconds=5), **how)


def test_a_spin_that_the_compiler_reads_once(mistakes):
    error, _ = found(mistakes, "endless", "hoisted_spin", 1, [words(1), words(1)])
    assert "can go on" in str(error)


@ALL
def test_a_lock_that_waits_for_its_own_warp(mistakes, how):
    error, _ = found(mistakes, "spin", "lock_of_a_warp", 32, [words(1), words(1)], **how)
    assert "wait in __syncwarp" in str(error)
    mistakes.launch("lock_of_a_warp", 1, 1, [words(1), words(1)], **how)


def test_a_launch_that_takes_too_long(mistakes):
    found(mistakes, "time", "spin", 64, [words(1)], checks=Checks(spins=False, seconds=0.2))


@ALL
def test_shared_memory_that_nobody_wrote(mistakes, how):
    error, line = found(mistakes, "uninitialised", "uninitialised", 64, [words(64)], **how)
    assert line == "out[threadIdx.x] = values[threadIdx.x];" and error.thread == (5, 0, 0)
    assert "byte 20 of values, which has 256" in str(error)


FULL = """extern "C" __global__ void fill(unsigned* out) {
    __shared__ unsigned values[4096];
    for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) values[i] = i;
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x];
}"""


def test_what_another_program_has_written_is_not_written(mistakes):
    """All launches of a process take turns with one memory, whatever their programs and shapes."""
    for threads, grid in ((32, 1), (128, 8), (1024, 2)):
        out = words(threads)
        program(text=FULL).launch("fill", grid, threads, [out], resident_blocks=8)
        assert out.tolist() == list(range(threads))
        found(mistakes, "uninitialised", "uninitialised", 64, [words(64)])
        found(mistakes, "uninitialised", "uninitialised", 64, [words(128)], grid=2)


def test_shared_memory_is_poisoned(mistakes):
    out = words(64)
    mistakes.launch("uninitialised", 1, 64, [out], checks=Checks(uninitialised=False, poison=0xA5))
    assert out[5] == 0xA5A5A5A5 and out[4] == 1


def test_behind_an_array(mistakes):
    mistakes.launch("behind_array", 1, 1, [words(8), 7])
    error, _ = found(mistakes, "out_of_bounds", "behind_array", 1, [words(8), 8])
    assert "4 bytes written at byte 32 of argument 0, which has 32" in str(error)
    error, _ = found(mistakes, "out_of_bounds", "behind_array", 1, [words(8)[1:], 2**32 - 1])
    assert "written at byte" in str(error)


def test_behind_shared_variables(mistakes):
    mistakes.launch("behind_shared", 1, 2, [words(2), 15], checks=Checks(races=False))
    error, _ = found(mistakes, "out_of_bounds", "behind_shared", 2, [words(2), 16], order="forward")
    assert "byte 64 of second, which has 64" in str(error)
    error, _ = found(mistakes, "out_of_bounds", "behind_declared", 1, [words(2), 16])
    assert "index 16 is outside the array" in str(error)
    mistakes.launch("behind_dynamic", 1, 1, [15], shared=64)
    error, _ = found(mistakes, "out_of_bounds", "behind_dynamic", 1, [16], shared=64)
    assert "byte 64 of dynamic shared memory, which has 64" in str(error)


@ALL
def test_a_flag_between_blocks_without_a_fence(mistakes, how):
    def args(fences):
        return [words(32), words(1), words(128), fences]

    error, line = found(mistakes, "global_race", "publish", 32, args(0), grid=4, **how)
    assert "value[threadIdx.x];" in line and "block number 0, thread" in str(error) and "argument 0" in str(error)
    ordered = args(1)
    mistakes.launch("publish", 4, 32, ordered, **how)
    assert ordered[2].tolist() == [0] * 32 + [7] * 96


@ALL
def test_a_missing_barrier_between_uses_of_an_array(mistakes, how):
    buffer, out = words(64), words(64)
    found(mistakes, "global_race unwritten", "exchange", 64, [buffer, out, 0], checks=Checks(unwritten=(buffer,)), **how)
    found(mistakes, "global_race", "exchange", 64, [buffer, out, 0], **how)
    mistakes.launch("exchange", 1, 64, [buffer, out, 1], checks=Checks(unwritten=(buffer, out)), **how)
    assert out.tolist() == [i ^ 32 for i in range(64)]


def test_an_array_that_held_nothing_yet(mistakes):
    buffer, out = words(64), words(64)
    error, _ = found(mistakes, "unwritten", "lock_of_a_warp", 1, [buffer, out], checks=Checks(unwritten=(buffer,)))
    assert "4 bytes read at byte 0 of argument 0" in str(error)


def test_copies_that_go_behind_an_array():
    source = Path(__file__).parent / "kernels" / "words.cu"
    with pytest.raises(KernelError, match="512 bytes read at byte 0 of argument 0, which has 508") as caught:
        program(source).launch("filled_and_copied", 1, 32, [words(127), words(256), 256])
    assert caught.value.where[0].endswith("in filled_and_copied")
    with pytest.raises(KernelError, match="of argument 1, which has 1020"):
        program(source).launch("filled_and_copied", 1, 32, [words(128), words(255), 256])


def test_misaligned_vectors(mistakes):
    error, _ = found(mistakes, "undefined", "misaligned", 1, [aligned(8), aligned(4), 1])
    assert "misaligned" in str(error)
    mistakes.launch("misaligned", 1, 1, [aligned(8), aligned(4), 4])


@pytest.mark.parametrize("writes", [0, 1])
def test_misaligned_words(mistakes, writes):
    error, _ = found(mistakes, "undefined", "misaligned_word", 1, [aligned(8), 1, writes])
    assert "a misaligned access" in str(error)
    mistakes.launch("misaligned_word", 1, 1, [aligned(8), 2, writes])


def test_misaligned_structs(mistakes):
    error, _ = found(mistakes, "undefined", "misaligned_struct", 1, [aligned(16), aligned(8), 2])
    assert "a misaligned access" in str(error)
    mistakes.launch("misaligned_struct", 1, 1, [aligned(16), aligned(8), 4])


def test_the_checked_build_stops_where_behaviour_is_undefined():
    kernels = program(SOURCE, build="checked")
    error, line = found(kernels, "undefined", "misaligned_struct", 1, [aligned(16), aligned(8), 2])
    assert "reinterpret_cast<const Large*>" in line
    assert "HEADRACE_FIBERS_BUILD=explained" in str(error)
    kernels.launch("misaligned_struct", 1, 1, [aligned(16), aligned(8), 4])


def aligned(count):
    """Zeros whose address is a multiple of 16."""
    buffer = np.zeros(count + 4, np.uint32)
    first = -(buffer.ctypes.data // 4) % 4
    return buffer[first : first + count]


def test_input_that_is_written(mistakes):
    values = words(4)
    values.flags.writeable = False
    error, _ = found(mistakes, "read_only", "write_to_input", 1, [values])
    assert "argument 0" in str(error)


def test_local_variables_of_another_thread(mistakes):
    found(mistakes, "others_locals", "others_locals", 64, [words(64)])


def test_a_stack_that_is_too_small(mistakes):
    found(mistakes, "stack", "deep_recursion", 1, [words(1), 100])
    out = words(1)
    mistakes.launch("deep_recursion", 1, 1, [out, 100], checks=Checks(stack_bytes=256 << 10))
    assert out[0] == 5050


def test_traps_and_undefined_operations(mistakes):
    error, _ = found(mistakes, "trap", "stops_itself", 64, [40])
    assert error.thread == (40, 0, 0) and error.block == (0, 0, 0)
    mistakes.launch("stops_itself", 1, 64, [64])
    found(mistakes, "undefined", "wide_shift", 1, [words(1), 32])
    mistakes.launch("wide_shift", 1, 1, [words(1), 31])


def test_a_fault_leaves_the_program_usable(mistakes):
    for _ in range(3):
        found(mistakes, "spin", "spin", 64, [words(1)])
        mistakes.launch("with_barrier", 2, 64, [words(64)])
