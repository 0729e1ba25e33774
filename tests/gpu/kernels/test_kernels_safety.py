"""Tests launches by many threads, and refusals of a driver, with a simulated driver."""

from __future__ import annotations

import time
from contextlib import nullcontext
from enum import IntEnum
from types import SimpleNamespace

import pytest

from headrace.gpu.device import device as gpu
from headrace.gpu.device.device import GpuError
from headrace.gpu.kernels import kernel as kernels
from headrace.gpu.kernels.child_compile import NotCompiledError, compiling_in_children, uses_children
from headrace.gpu.kernels.kernel import Kernel
from headrace.gpu.kernels.source import all_variants
from tests.gpu.kernels.noting_driver import NotingDriver

SHARED = "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"


class Driver:
    """A driver that allows 48 KiB until a call raises the limit, and takes any launch."""

    CUfunction_attribute = SimpleNamespace(**{SHARED: SHARED})
    CUfunction = int

    def __init__(self):
        self.allowed = {}
        self.native = NotingDriver()
        self.cuKernelGetAttribute, self.cuKernelSetAttribute = self.allows, self.allow

    def allows(self, attribute, handle, device):
        return 0, self.allowed.get((attribute, handle, device), 48 << 10)

    def allow(self, attribute, value, handle, device):
        self.allowed[attribute, handle, device] = value
        return (0,)


@pytest.fixture
def driver(monkeypatch):
    made = Driver()
    monkeypatch.setattr(kernels, "driver", lambda: made)
    monkeypatch.setattr(kernels, "card_calls", lambda: made.native.calls)
    monkeypatch.setattr(kernels, "layout_of", lambda *given: [(0, 8, "Q")])
    return made


def kernel(handle=5):
    return Kernel(handle, "f", "Q", SimpleNamespace(index=0, stream=7))


def test_what_one_object_may_take_of_shared_memory_no_other_takes_away(driver):
    one, other = kernel(), kernel()  # two threads that ask at once get two objects of one kernel
    one.launch(1, 32, (0,), shared=100 << 10)
    other.launch(1, 32, (0,), shared=64 << 10)
    assert driver.allowed == {(SHARED, 5, 0): 100 << 10}
    one.launch(1, 32, (0,), shared=100 << 10)
    assert [shared for _, _, shared, _ in driver.native.launched] == [100 << 10, 64 << 10, 100 << 10]


def test_a_kernel_with_static_shared_memory_asks_below_48_kib_too(driver):
    driver.allowed[SHARED, 5, 0] = 40 << 10  # it has 8 KiB of its own
    kernel().launch(1, 32, (0,), shared=44 << 10)
    assert driver.allowed == {(SHARED, 5, 0): 44 << 10}


class Statuses(IntEnum):
    """Statuses as the driver names them."""

    SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_INVALID_HANDLE = 400
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709


def several(driver, monkeypatch, answers):
    """Return the results of three launches in one call, for which the driver returns `answers`, and the contexts made current."""
    current = []
    card = SimpleNamespace(index=0, stream=7, current=lambda: nullcontext(current.append(len(driver.native.launched))))
    driver.CUresult, driver.cuGetErrorString = Statuses, lambda status: (0, b"refused")
    monkeypatch.setattr(gpu, "driver", lambda: driver)
    driver.native.answers = answers
    launched = Kernel(5, "f", "Q", card)
    kernels.launch_all([launched.prepare(number, 32, (number,), 0) for number in (1, 2, 3)], 7)
    return [extents[0] for _, extents, _, _ in driver.native.launched], current


def test_of_launches_told_together_one_that_has_no_context_is_made_again_and_those_behind_it(driver, monkeypatch):
    assert several(driver, monkeypatch, [0, 201]) == ([1, 2, 2, 3], [2])


def test_of_launches_told_together_one_that_is_refused_is_named(driver, monkeypatch):
    with pytest.raises(GpuError, match="kernel f, grid 2, block 32, 0 bytes shared: CUDA_ERROR_INVALID_VALUE: refused"):
        several(driver, monkeypatch, [0, 1])


def test_a_program_that_the_driver_does_not_take_is_named_with_the_drivers_version(driver, monkeypatch):
    class Refusal(int):
        name = "CUDA_ERROR_INVALID_IMAGE"

    monkeypatch.setattr(gpu, "driver", lambda: driver)
    monkeypatch.setattr(kernels, "find_cubin", lambda variants, architecture: (variants[0], lambda: b"code"))
    driver.cuLibraryLoadData = lambda *given: (Refusal(200), None)
    driver.cuGetErrorString = lambda status: (0, b"device kernel image is invalid")
    for version, said in [(12040, r"for CUDA 12\.4 \(13\.0 or newer is needed\)"), (13010, r"for CUDA 13\.1")]:
        driver.cuDriverGetVersion = lambda version=version: (0, version)
        with pytest.raises(
            GpuError, match=rf"primitives/copy\.cu HR_WIDTH=4, compiled for sm_90, .*{said}: CUDA_ERROR_INVALID_IMAGE"
        ):
            kernels._loaded(kernels.Variant.of("primitives/copy.cu", {"HR_WIDTH": 4}), "f", "sm_90")


ROWS = "columns/convert/gpu/fast/convert_rows.cu"


def macros(kinds):
    """Return the macros of a program for columns of these kinds."""
    known = (dict(variant.defines) for variant in all_variants() if variant.file == ROWS)
    return {**next(defines for defines in known if "HR_KINDS" in defines), "HR_KINDS": kinds}


def rows(kinds):
    return kernels.Variant.of(ROWS, macros(kinds))


@pytest.fixture
def loads(driver, monkeypatch):
    """The programs that are compiled, with a driver that loads any.

    `stored`: those that need no compilation. `elsewhere`: those that children compile for calls that do not wait.
    """
    made = SimpleNamespace(compiled=[], stored=set(), failing=set(), elsewhere=set())

    def find_cubin(variants, architecture):
        if uses_children() and variants[0] in made.elsewhere:
            raise NotCompiledError
        variant = next((variant for variant in variants if variant in made.stored), variants[0])
        return variant, lambda: cubin_of(variant)

    def cubin_of(variant):
        if variant in made.failing:
            raise GpuError("refused")
        made.compiled.append(variant)
        return b"code"

    driver.cuLibraryLoadData = lambda *given: (0, object())
    monkeypatch.setattr(kernels, "find_cubin", find_cubin)
    for name in ("_libraries", "_loading"):
        monkeypatch.setattr(kernels, name, {})
    return made


def test_a_loaded_program_serves_masks_with_fewer_bits(loads):
    first = kernels._library(rows(0b111), "sm_90")
    assert kernels._library(rows(0b101), "sm_90") is first
    assert kernels._library(rows(0b1000), "sm_90") is not first
    assert loads.compiled == [rows(0b111), rows(0b1000)]


def test_a_loaded_program_with_more_bits_than_a_listed_one_that_serves_does_not(loads):
    usual, odd = rows(1), rows(1 << 16 | 1)
    forms = kernels._library(odd, "sm_90")
    assert kernels._library(rows(1 << 16), "sm_90") is forms
    assert kernels._library(usual, "sm_90") is not forms
    assert loads.compiled == [odd, usual]


def test_the_program_with_the_fewest_bits_is_loaded_of_those_that_are_compiled(loads):
    usual, whole = rows(1).servers
    loads.stored.add(whole)
    assert kernels._library(rows(1), "sm_90") is kernels._library(rows(2), "sm_90")
    loads.stored.add(usual)
    assert kernels._library(rows(4), "sm_90") is kernels._library(rows(8), "sm_90")
    loads.stored.add(rows(16))
    assert kernels._library(rows(16), "sm_90") is kernels._library(rows(4), "sm_90")  # `usual` is loaded already
    assert kernels._library(rows(1 << 16), "sm_90") is kernels._library(rows(1 << 17), "sm_90")
    assert loads.compiled == [whole, usual]


def test_a_program_that_is_compiled_comes_before_those_that_serve_it(loads):
    loads.stored.update((rows(1), *rows(1).servers))
    kernels._library(rows(1), "sm_90")
    assert loads.compiled == [rows(1)]


@pytest.mark.parametrize("wanted", ["1", "0", ""])
def test_with_exact_kernels_each_mask_has_a_program_of_its_own(loads, monkeypatch, wanted):
    monkeypatch.setenv("HEADRACE_EXACT_KERNELS", wanted)
    loads.stored.update(rows(1).servers)
    programs = [kernels._library(rows(kinds), "sm_90") for kinds in (0b11, 0b1, 0b11)]
    assert programs[0] is programs[2]
    usual = rows(1).servers[0]
    assert loads.compiled == ([rows(0b11), rows(0b1)] if wanted == "1" else [usual])


def test_programs_are_loaded_in_threads_and_a_launch_waits_for_its_own(loads):
    card = SimpleNamespace(architecture="sm_90", current=nullcontext)
    loads.failing.add(rows(8))
    wanted = [kernels.NeededProgram(ROWS, macros(kinds)) for kinds in (1, 2, 8)]
    kernels.load_programs(wanted, card)
    kernels.load_programs(wanted[:2], card)  # they are being loaded, or are loaded already
    for kinds in (1, 2):
        kernels._library(rows(kinds), "sm_90")
    with pytest.raises(GpuError, match="refused"):
        kernels._library(rows(8), "sm_90")
    loads.failing.clear()
    kernels._library(rows(8), "sm_90")  # a failed load is tried again
    assert sorted(map(str, loads.compiled)) == sorted(str(rows(kinds)) for kinds in (1, 2, 8))


def test_a_call_that_does_not_wait_for_a_child_leaves_its_programs_to_the_next_call(loads, monkeypatch):
    monkeypatch.delenv("HEADRACE_FIRST_READ", raising=False)
    card = SimpleNamespace(architecture="sm_90", current=nullcontext)
    loads.elsewhere.update((rows(1), rows(2), rows(8)))
    wanted = [kernels.NeededProgram(ROWS, macros(kinds)) for kinds in (1, 2, 4)]
    with compiling_in_children(wanted=True):
        kernels.load_programs(wanted, card)
        for kinds in (1, 8):
            with pytest.raises(NotCompiledError):
                kernels._library(rows(kinds), "sm_90")
        loads.elsewhere.clear()
        kernels.load_programs(wanted, card)
        for kinds in (1, 2, 4):
            kernels._library(rows(kinds), "sm_90")
    assert sorted(map(str, loads.compiled)) == sorted(str(rows(kinds)) for kinds in (1, 2, 4))


def test_a_call_that_waits_compiles_what_a_child_was_to_compile(loads, monkeypatch):
    monkeypatch.delenv("HEADRACE_FIRST_READ", raising=False)
    card = SimpleNamespace(architecture="sm_90", current=nullcontext)
    loads.elsewhere.add(rows(1))
    with compiling_in_children(wanted=True):
        kernels.load_programs([kernels.NeededProgram(ROWS, macros(1))], card)
    kernels._library(rows(1), "sm_90")
    assert loads.compiled == [rows(1)]


def test_one_program_at_a_time_is_found_in_the_order_of_the_call(loads, monkeypatch):
    found, at_once, find_cubin = [], [], kernels.find_cubin

    def slow_find(variants, architecture):
        at_once.append(1)
        time.sleep(0.02 if not found else 0)
        found.append(variants[0])
        at_once.pop()
        assert not at_once
        return find_cubin(variants, architecture)

    monkeypatch.setattr(kernels, "find_cubin", slow_find)
    card = SimpleNamespace(architecture="sm_90", current=nullcontext)
    wanted = [kernels.NeededProgram(ROWS, macros(1 << bit)) for bit in range(8)]
    kernels.load_programs(wanted, card)
    for bit in range(8):
        kernels._library(rows(1 << bit), "sm_90")
    assert found == [rows(1 << bit) for bit in range(8)]
