"""Tests launches on a GPU: misuse is reported, many threads and other contexts do no harm."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from headrace.arrays.device_array import DeviceArray
from headrace.gpu.device.device import GpuError, driver, gpu
from headrace.gpu.kernels.kernel import kernel, launch_all
from headrace.gpu.kernels.source import KernelSourceError

pytestmark = pytest.mark.gpu

FOUR = {"HR_WIDTH": 4}


def test_a_kernel_is_loaded_once():
    first = kernel("primitives/copy.cu", "copy_items", "PPq", FOUR, gpu())
    assert kernel("primitives/copy.cu", "copy_items", "PPq", FOUR, gpu()) is first
    assert kernel("primitives/copy.cu", "copy_items", "PPq", {"HR_WIDTH": 8}, gpu()) is not first


@pytest.mark.parametrize("signature", ["", "PP", "PPi", "PPqq", "PP16s"])
def test_a_wrong_signature_is_found_when_the_kernel_is_loaded(signature):
    with pytest.raises(KernelSourceError, match="signature"):
        kernel("primitives/copy.cu", "copy_items", signature, FOUR, gpu())


def test_a_kernel_that_is_not_there_is_named():
    with pytest.raises(KernelSourceError, match="no kernel 'copy_it'"):
        kernel("primitives/copy.cu", "copy_it", "PPq", FOUR, gpu())


@pytest.mark.parametrize(("grid", "block", "shared"), [(1, 2048, 0), (0, 32, 0), (1, 32, 300 << 10)])
def test_a_launch_that_cannot_be_says_so_and_the_next_one_works(grid, block, shared):
    array = DeviceArray.from_host(np.zeros(4, np.uint32), gpu())
    fill = kernel("primitives/copy.cu", "fill_items", "PqI", FOUR, gpu())
    with pytest.raises(GpuError):
        fill.launch(grid, block, (array.address, 4, 7), shared=shared)
    fill.launch(1, 128, (array.address, 4, 7), shared=64 << 10)
    assert array.to_numpy().tolist() == [7, 7, 7, 7]


def test_arguments_of_the_wrong_number_or_kind_raise():
    fill = kernel("primitives/copy.cu", "fill_items", "PqI", FOUR, gpu())
    wrong = {(0, 0): ValueError, (0, 0, 0, 0): ValueError, (0, 0, 1.5): TypeError, (0, 0, -1): OverflowError}
    for args, error in wrong.items():
        with pytest.raises(error):
            fill.launch(1, 256, args)


def test_launches_told_together_run_in_order():
    fill = kernel("primitives/copy.cu", "fill_items", "PqI", FOUR, gpu())
    array = DeviceArray.from_host(np.zeros(8, np.uint32), gpu())
    launch_all([fill.prepare(1, 128, (array, 8 - number, number), 0) for number in range(8)], gpu().stream)
    assert array.to_numpy().tolist() == [7, 6, 5, 4, 3, 2, 1, 0]


def test_launches_told_together_without_a_context_are_made_all_the_same():
    fill = kernel("primitives/copy.cu", "fill_items", "PqI", FOUR, gpu())
    array = DeviceArray.from_host(np.zeros(8, np.uint32), gpu())
    driver().cuCtxSetCurrent(0)
    launch_all([fill.prepare(1, 128, (array, 8, number), 0) for number in range(3)], gpu().stream)
    assert array.to_numpy().tolist() == [2] * 8


def test_many_threads_launch_one_kernel():
    fill = kernel("primitives/copy.cu", "fill_items", "PqI", FOUR, gpu())
    arrays = [DeviceArray.from_host(np.zeros(8, np.uint32), gpu()) for _ in range(8)]

    def work(number):
        for turn in range(500):
            fill.launch(1, 128, (arrays[number].address, 8, number * 1000 + turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [array.to_numpy().tolist() for array in arrays] == [[number * 1000 + 499] * 8 for number in range(8)]


def test_a_thread_without_a_context_may_launch():
    array = DeviceArray.from_host(np.zeros(4, np.uint32), gpu())
    fill = kernel("primitives/copy.cu", "fill_items", "PqI", FOUR, gpu())
    driver().cuCtxSetCurrent(0)
    fill.launch(1, 128, (array.address, 4, 9))
    assert array.to_numpy().tolist() == [9] * 4


def test_a_fault_on_the_card_is_an_error_of_the_call_that_meets_it():
    # In a process of its own: the context is of no use afterwards.
    code = """
import numpy as np
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.kernel import kernel
kernel("primitives/copy.cu", "fill_items", "PqI", {"HR_WIDTH": 4}, gpu()).launch(1, 128, (64, 1000, 7))
try:
    gpu().synchronize()
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], env=os.environ, capture_output=True, text=True)
    assert done.stdout.startswith("GpuError CUDA_ERROR_ILLEGAL_ADDRESS"), done
