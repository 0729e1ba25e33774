"""Tests that layouts of kernels' parameters name what is wrong: the signature, or the device."""

from __future__ import annotations

from enum import IntEnum
from types import SimpleNamespace

import pytest

from headrace.core.errors import MemoryLimitError
from headrace.gpu.device import device as gpus
from headrace.gpu.kernels import arguments
from headrace.gpu.kernels.source import KernelSourceError


class Status(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2


def use_kernel(monkeypatch: pytest.MonkeyPatch, sizes: list[int], refusal: Status | None = None) -> None:
    """Let the driver know one kernel, whose parameters have these sizes. `refusal`: what it answers instead."""

    def info(handle: int, number: int) -> tuple[Status, int, int]:
        if refusal is not None:
            return refusal, 0, 0
        if number >= len(sizes):
            return Status.CUDA_ERROR_INVALID_VALUE, 0, 0
        return Status.CUDA_SUCCESS, sum(sizes[:number]), sizes[number]

    driver = SimpleNamespace(
        CUresult=Status, cuKernelGetParamInfo=info, cuGetErrorString=lambda status: (0, status.name.encode())
    )
    for module in (arguments, gpus):
        monkeypatch.setattr(module, "driver", lambda: driver)


def test_layout_of_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    use_kernel(monkeypatch, [8, 4])
    assert arguments.layout_of(1, "f", "QI") == [(0, 8, "Q"), (8, 4, "I")]


@pytest.mark.parametrize(
    ("signature", "found"),
    [("QII", "fewer parameters"), ("QQ", "parameter 1 has 4 bytes"), ("Q", "more parameters than its signature")],
)
def test_wrong_signatures(monkeypatch: pytest.MonkeyPatch, signature: str, found: str) -> None:
    use_kernel(monkeypatch, [8, 4])
    with pytest.raises(KernelSourceError, match=found):
        arguments.layout_of(1, "f", signature)


def test_a_kernel_that_cannot_be_loaded_has_no_wrong_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    use_kernel(monkeypatch, [8, 4], Status.CUDA_ERROR_OUT_OF_MEMORY)
    with pytest.raises(MemoryLimitError, match="CUDA_ERROR_OUT_OF_MEMORY"):
        arguments.layout_of(1, "f", "QI")
