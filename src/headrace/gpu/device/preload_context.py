"""Creates a GPU's context in a background thread while the interpreter imports the modules that use it.

The driver takes 120 to 190 ms to create a context, and does not hold the GIL during that time. The import of numpy,
``cuda.bindings`` and the GPU modules takes about as long. `headrace.gpu.device.device.Gpu` requests the context from the driver
as usual, and the driver blocks that call until the context exists.
"""

from __future__ import annotations

import threading
from contextlib import suppress

from headrace.core.device import Device

started_devices: set[int] = set()


def start_early(device: Device) -> None:
    """Create a GPU's context in a background thread. Its errors are ignored here; the first use of the GPU raises them."""
    if device.kind == "cpu" or device.index in started_devices:
        return
    started_devices.add(device.index)
    with suppress(RuntimeError):  # the system is out of threads; the first use creates the context
        threading.Thread(target=_start, args=(device.index,), name="headrace-early", daemon=True).start()


def _start(index: int) -> None:
    import ctypes  # here, so that a process without a GPU does not import it

    handle, context = ctypes.c_int(), ctypes.c_void_p()
    with suppress(OSError):  # no driver
        driver = ctypes.CDLL("libcuda.so.1")
        if driver.cuInit(0) == 0 and driver.cuDeviceGet(ctypes.byref(handle), index) == 0:
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle)
