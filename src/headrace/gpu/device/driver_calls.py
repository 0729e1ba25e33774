"""The driver's functions that native code calls (gpu/bindings.cpp, sources/send.hpp): where they lie.

Most calls go through ``cuda.bindings``, which adds about a microsecond to each. What a read does many times goes this way.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headrace import _native


def addresses_of(*names: str) -> list[int]:
    """Of functions of the driver, which is loaded already."""
    import ctypes  # where there is no GPU nobody waits for it

    library = ctypes.CDLL("libcuda.so.1")
    return [address_of(getattr(library, name)) for name in names]


def address_of(function: Any) -> int:
    """Where a function of ctypes lies."""
    import ctypes

    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address


CARD_CALLS = (
    "cuLaunchKernel",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuMemAllocFromPoolAsync",
    "cuMemFreeAsync",
    "cuMemsetD8Async",
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuLaunchKernelEx",
    "cuEventQuery",
)


@cache
def card_calls() -> _native.CardCalls:
    """What launches, memory, small copies and what sends texts call."""
    from headrace import _native  # which is not there yet where a build compiles the kernels

    return _native.CardCalls.make(addresses_of(*CARD_CALLS))
