"""A card's context, made by a thread while the interpreter still imports what will use it.

The driver takes 120 to 190 ms to make one, and holds no lock of Python's meanwhile; numpy, ``cuda.bindings`` and the modules for
a GPU take about as long to import. Whoever needs the context asks the driver for it as always (`headrace.gpu.device.device.Gpu`),
and the driver lets them wait until it is there.
"""

from __future__ import annotations

import threading
from contextlib import suppress

from headrace.core.device import Device

started_devices: set[int] = set()


def start_early(device: Device) -> None:
    """Have a thread make a card's context. What is wrong with the card is told to those who need it, not here."""
    if device.kind == "cpu" or device.index in started_devices:
        return
    started_devices.add(device.index)
    with suppress(RuntimeError):  # the system has no thread: the first call makes the context
        threading.Thread(target=_start, args=(device.index,), name="headrace-early", daemon=True).start()


def _start(index: int) -> None:
    import ctypes  # where there is no GPU nobody waits for it

    handle, context = ctypes.c_int(), ctypes.c_void_p()
    with suppress(OSError):  # there is no driver
        driver = ctypes.CDLL("libcuda.so.1")
        if driver.cuInit(0) == 0 and driver.cuDeviceGet(ctypes.byref(handle), index) == 0:
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle)
