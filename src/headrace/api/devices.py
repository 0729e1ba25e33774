"""Names devices, and waits for their work: used by measurements."""

from __future__ import annotations

from headrace.arrays.arrays import needed_numpy
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.gpu.device.device import gpu

__all__ = ["describe_device", "needed_numpy", "wait_for_device"]


def wait_for_device(device: str) -> None:
    """Wait until a device has done all its work; on the CPU, return at once.

    `device`: ``"cpu"`` or a GPU such as ``"cuda:1"``. Raise UnsupportedDeviceError if there is no such GPU.
    """
    found = Device.parse(device)
    if found.kind != "cpu":
        gpu(found).synchronize()


def describe_device(device: str) -> str:
    """Return the name of a GPU, or the number of threads and the instruction set of the CPU.

    `device`: ``"cpu"`` or a GPU such as ``"cuda:1"``. Raise UnsupportedDeviceError if there is no such GPU.
    """
    found = Device.parse(device)
    if found.kind != "cpu":
        return gpu(found).name
    context = Context()
    return f"CPU, threads: {context.thread_count}, instruction set: {context.isa_name}"
