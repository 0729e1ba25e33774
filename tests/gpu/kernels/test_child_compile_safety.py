"""Programs that child processes compile: races, kills, folders that cannot be written, and the end of the parent."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
import weakref
from contextlib import nullcontext, suppress
from types import SimpleNamespace

import pytest

from headrace.gpu.kernels.cache import user_cache
from headrace.gpu.kernels.child_compile import NotCompiledError, children, compiling_in_children
from headrace.gpu.kernels.compile import find_cubin
from headrace.gpu.kernels.kernel import NeededProgram, kernel, load_programs
from headrace.gpu.kernels.source import Variant

pytest.importorskip("cuda.core", reason="NVRTC comes with the extra cuda13", exc_type=ImportError)

COPY = Variant.of("primitives/copy.cu", {"HR_WIDTH": 4})
_WAIT_SECONDS = 120


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of the kernels' cache, which is empty."""
    monkeypatch.setenv("HEADRACE_KERNEL_CACHE", str(tmp_path))
    monkeypatch.delenv("HEADRACE_FIRST_READ", raising=False)
    user_cache.cache_clear()
    yield tmp_path
    for child in filter(None, children.values()):
        child.kill()
        child.wait()
    children.clear()
    user_cache.cache_clear()


def code_of(variant, *, wanted=True):
    with compiling_in_children(wanted=wanted):
        return find_cubin([variant], "sm_90")[1]()


def cubins(folder):
    return sorted(folder.rglob("*.cubin"))


def test_a_child_compiles_a_missing_program(folder):
    with pytest.raises(NotCompiledError):
        code_of(COPY)
    (child,) = children.values()
    assert child.wait(_WAIT_SECONDS) == 0
    (stored,) = cubins(folder)
    found = code_of(COPY)
    assert stored.read_bytes().startswith(found)
    stored.unlink()
    assert code_of(COPY, wanted=False) == found


def test_a_child_compiles_without_a_lock_if_the_file_of_locks_cannot_be_opened(folder):
    (user_cache().folder / ".locks").mkdir(parents=True)  # as if it belonged to another user
    with pytest.raises(NotCompiledError):
        code_of(COPY)
    (child,) = children.values()
    assert child.wait(_WAIT_SECONDS) == 0
    assert len(cubins(folder)) == 1


@pytest.mark.parametrize("wanted", [True, False])
def test_a_call_that_waits_starts_no_child(folder, monkeypatch, wanted):
    if wanted:
        monkeypatch.setenv("HEADRACE_FIRST_READ", "compile")
    assert code_of(COPY, wanted=wanted)
    assert not children and len(cubins(folder)) == 1


def test_a_program_whose_child_was_killed_is_compiled_by_the_next_call_but_one(folder):
    with pytest.raises(NotCompiledError):
        code_of(COPY)
    (child,) = children.values()
    child.kill()
    assert child.wait(_WAIT_SECONDS) < 0
    with pytest.raises(NotCompiledError):  # the child could have stored its program after this call looked for it
        code_of(COPY)
    assert code_of(COPY)
    assert len(cubins(folder)) == 1


def test_without_a_folder_to_write_programs_are_compiled_at_once(folder, monkeypatch):
    (folder / "file").touch()
    monkeypatch.setenv("HEADRACE_KERNEL_CACHE", str(folder / "file" / "below"))
    user_cache.cache_clear()
    assert code_of(COPY)
    assert not any(children.values())


@pytest.mark.parametrize("program", ["/usr/bin/some-program", "/nowhere/python3", "", None])
def test_without_an_interpreter_programs_are_compiled_at_once(folder, monkeypatch, program):
    monkeypatch.setattr(sys, "executable", program)
    assert code_of(COPY)
    assert not any(children.values())


_COUNTED = """
import sys
from headrace.gpu.kernels import child_compile, compile as compiling

compile_source = compiling.compile_source

def counted(*given):
    with open(sys.argv[2], "a") as file:
        file.write("compiled\\n")
    return compile_source(*given)

compiling.compile_source = counted
child_compile.main(sys.argv[1:])
"""


def test_of_several_processes_one_compiles_a_program(folder):
    user_cache().folder.mkdir(parents=True)
    given = json.dumps([COPY.file, COPY.defines, "sm_90"])
    command = [sys.executable, "-c", _COUNTED, given, str(folder / "count")]
    started = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(_WAIT_SECONDS) for process in started] == [0] * 4
    assert (folder / "count").read_text() == "compiled\n"


_STARTS = """
import sys
from headrace.gpu.kernels.child_compile import NotCompiledError, compiling_in_children
from headrace.gpu.kernels.compile import find_cubin
from headrace.gpu.kernels.source import Variant

try:
    with compiling_in_children(wanted=True):
        find_cubin([Variant.of("primitives/copy.cu", {"HR_WIDTH": 4})], "sm_90")
except NotCompiledError:
    print("started")
"""


def test_a_child_outlives_its_parent_which_ends_without_a_warning(folder):
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", _STARTS]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=_WAIT_SECONDS, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "started\n", "")
    until = time.monotonic() + _WAIT_SECONDS
    while not cubins(folder) and time.monotonic() < until:
        time.sleep(0.05)
    assert code_of(COPY)
    assert not children


def test_a_child_imports_what_its_parent_would(folder, monkeypatch):
    (folder / "json.py").write_text("raise ImportError")
    monkeypatch.chdir(folder)  # of which `python -m` imports by default
    with pytest.raises(NotCompiledError):
        code_of(COPY)
    (child,) = children.values()
    assert child.wait(_WAIT_SECONDS) == 0


def test_the_next_call_takes_the_end_of_a_child(folder):
    with pytest.raises(NotCompiledError):
        code_of(COPY)
    (child,) = children.values()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert code_of(COPY)
    assert child.returncode == 0


def test_a_child_starts_if_a_folder_of_imports_is_no_text(folder, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, folder])  # Python ignores it
    with pytest.raises(NotCompiledError):
        code_of(COPY)
    (child,) = children.values()
    assert child.wait(_WAIT_SECONDS) == 0


def test_buffers_of_a_call_that_misses_a_program_are_released_at_once(folder):
    """The thread that looks for the program keeps its error, which refers to the frames of the call."""
    card = SimpleNamespace(index=0, architecture="sm_90", capability=(9, 0), current=nullcontext)
    released = []

    def launch():
        buffer = {1}
        released.append(weakref.ref(buffer))
        kernel(COPY.file, "copy", "PPq", dict(COPY.defines), card)

    gc.disable()
    try:
        with suppress(NotCompiledError), compiling_in_children(wanted=True):
            load_programs([NeededProgram(COPY.file, dict(COPY.defines))], card)
            launch()
        assert [one() for one in released] == [None]
    finally:
        gc.enable()
