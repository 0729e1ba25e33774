"""Tests misuse of the harness itself: a clear error, and a process that continues."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from headrace.core.errors import OptionError
from headrace.testing.fibers import BuildError, Checks, KernelError, build, program

TEXT = 'extern "C" __global__ void fill(unsigned* out, unsigned char value) { out[threadIdx.x] = value; }'


def fill(args=None, *, entry="fill", grid=1, block=4, **how):
    return program(text=TEXT).launch(entry, grid, block, [np.zeros(4, np.uint32), 1] if args is None else args, **how)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"entry": "fil"}, "unknown kernel 'fil'; did you mean 'fill'"),
        ({"args": [np.zeros(4, np.uint32)]}, "fill takes 2 arguments, not 1"),
        ({"args": [np.zeros(4, np.uint32), 256]}, "argument 1 of fill must be unsigned of 1 bytes, not 256"),
        ({"args": [np.zeros(4, np.uint32), -1]}, "argument 1 of fill"),
        ({"args": [np.zeros(4, np.uint32), 1.0]}, "must be unsigned of 1 bytes, not 1.0"),
        ({"args": [np.zeros(4, np.uint32), "x"]}, "argument 1 of fill"),
        ({"args": [[0, 0, 0, 0], 1]}, "argument 0 must be a NumPy array, not list"),
        ({"args": [np.zeros(8, np.uint32)[::2], 1]}, "argument 0 must be contiguous"),
        ({"block": 1025}, "at most 1024 threads"),
        ({"block": 0}, "block must be"),
        ({"grid": (1, 1, 1, 1)}, "grid must be"),
        ({"shared": 228 * 1024}, "shared must be 0 to 232448 bytes"),
        ({"order": "sideways"}, "unknown order 'sideways'"),
        ({"resident_blocks": 0}, "resident_blocks must be 1 to 32"),
        ({"resident_blocks": 33}, "resident_blocks must be 1 to 32"),
        ({"checks": Checks(starts="never")}, "unknown starts 'never'"),
        ({"checks": Checks(poison=256)}, "poison must be a byte"),
        ({"checks": Checks(stack_bytes=100)}, "stack_bytes must be"),
    ],
)
def test_misuse_is_named(how, message):
    with pytest.raises(OptionError, match=message):
        fill(**how)


def test_programs_that_are_none():
    with pytest.raises(OptionError, match="either source= or text="):
        program()
    with pytest.raises(OptionError, match=r"no file 'nowhere\.cu'"):
        program("nowhere.cu")
    with pytest.raises(OptionError, match="unknown build 'fats'"):
        program(text=TEXT, build="fats")
    with pytest.raises(BuildError, match="has no kernel"):
        program(text="__global__ void hidden() {}")
    with pytest.raises(BuildError, match="expected"):
        program(text='extern "C" __global__ void broken( {}')


def test_machines_that_it_does_not_run_on(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(BuildError, match="x86-64, and this machine is aarch64"):
        program(text=TEXT + "  // for another machine")


def test_types_that_cuda_has_no_overload_for():
    with pytest.raises(BuildError, match="atomicAdd has no overload"):
        program(text='extern "C" __global__ void add(long* x) { atomicAdd(x, 1l); }')
    three = "struct Three { int x[3]; Three operator+() { return *this; } };"
    with pytest.raises(BuildError, match="values of 4 and 8 bytes"):
        program(text=three + 'extern "C" __global__ void shuffle() { __shfl_sync(~0u, Three(), 0); }')


def test_null_pointers_and_reachable_arrays():
    text = 'extern "C" __global__ void follow(unsigned** out) { if (out) out[0][1] = 7; }'
    array = np.zeros(2, np.uint32)
    pointer = np.array([array.ctypes.data], np.uint64)
    program(text=text).launch("follow", 1, 1, [None])
    with pytest.raises(Exception, match="out_of_bounds"):
        program(text=text).launch("follow", 1, 1, [pointer])
    program(text=text).launch("follow", 1, 1, [pointer], checks=Checks(reachable=(array,)))
    assert array.tolist() == [0, 7]


def test_uses_of_null_pointers():
    uses = ["x[0]", "x[100]", "x[1] = 7", "atomicAdd(x, 1u)", "*(volatile unsigned*)x", "((uint4*)x)->y"]
    text = "".join(
        f'extern "C" __global__ void use{i}(unsigned* out, unsigned* x) {{ out[0] = ({use}); }}\n' for i, use in enumerate(uses)
    )
    for i in range(len(uses)):
        with pytest.raises(KernelError, match="a null pointer is used"):
            program(text=text).launch(f"use{i}", 1, 1, [np.zeros(1, np.uint32), None])


def test_a_launch_may_have_more_blocks_than_are_resident():
    counts = fill(grid=(100, 10), resident_blocks=32)
    assert (counts.blocks, counts.threads) == (1000, 4000)


def test_programs_are_cached_on_disk(tmp_path):
    code = f"from headrace.testing.fibers import program; print(program(text={TEXT!r}).path)"
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    first, second = (subprocess.check_output([sys.executable, "-c", code], env=environment, text=True) for _ in range(2))
    made = sorted(path.name for path in (tmp_path / "headrace" / "fibers").iterdir())
    assert first == second and first.strip().startswith(str(tmp_path))
    assert len(made) == 2 and made[0].startswith("runtime-") and made[1].startswith("text-")


def test_programs_of_one_library_launch_one_by_one():
    one, other = program(text=TEXT), program(text=TEXT, defines={"UNUSED": 1})
    assert one is not other and one.path == other.path and one._lock is other._lock


def test_illegal_instructions_of_other_threads_end_the_process():
    code = """
import signal, threading, time, numpy
from headrace.testing.fibers import program
text = 'extern "C" __global__ void add(unsigned* x) { for (unsigned i = 0; i < 1u << 26; ++i) x[threadIdx.x] += i; }'
launch = program(text=text, build="fast").launch
thread = threading.Thread(target=launch, args=("add", 64, 32, [numpy.zeros(32, numpy.uint32)]), daemon=True)
thread.start()
time.sleep(0.5)
assert thread.is_alive()
signal.raise_signal(signal.SIGILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGILL


def test_without_a_home_the_cache_is_a_folder_of_the_process(monkeypatch, tmp_path):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(build.Path, "home", homeless)
    monkeypatch.setattr(build.tempfile, "mkdtemp", lambda prefix: str(tmp_path / prefix))
    assert build._cache.__wrapped__() == tmp_path / "headrace-fibers-"


def test_a_source_that_changes_is_compiled_again(tmp_path):
    source = tmp_path / "value.cu"
    values = []
    for value in (1, 22):
        source.write_text(f'extern "C" __global__ void store(int* out) {{ *out = {value}; }}', encoding="utf-8")
        os.utime(source, ns=(value, value))
        out = np.zeros(1, np.int32)
        program(source).launch("store", 1, 1, [out])
        values.append(int(out[0]))
    assert values == [1, 22]


_UNDER_ADDRESS_SANITIZER = """
import sys
import numpy as np
from headrace.testing.fibers import program
kernels = program(sys.argv[1], build="address")
kernels.launch("with_barrier", 3, 64, [np.zeros(64, np.uint32)])
print("passes", flush=True)
kernels.launch(sys.argv[2], 1, 1, [np.zeros(8, np.uint32), int(sys.argv[3])])
"""


@pytest.mark.parametrize(
    ("entry", "place", "kind"), [("behind_array", 8, "heap-buffer-overflow"), ("behind_shared", 17, "global-buffer-overflow")]
)
def test_the_address_sanitizer_finds_what_is_behind_an_array(entry, place, kind):
    library = subprocess.check_output(["g++", "-print-file-name=libasan.so"], text=True).strip()
    if not Path(library).is_absolute():
        pytest.skip(reason="this g++ comes without the address sanitizer")
    cxx = subprocess.check_output(["g++", "-print-file-name=libstdc++.so.6"], text=True).strip()
    environment = os.environ | {"LD_PRELOAD": f"{library} {cxx}", "ASAN_OPTIONS": "detect_leaks=0"}
    source = Path(__file__).parent / "kernels" / "mistakes.cu"
    command = [sys.executable, "-c", _UNDER_ADDRESS_SANITIZER, str(source), entry, str(place)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.stdout == "passes\n" and done.returncode != 0
    assert f"AddressSanitizer: {kind}" in done.stderr and f" in {entry} " in done.stderr
