"""Looks up the addresses of the driver functions that native code calls (gpu/bindings.cpp, sources/send.hpp).

Most calls go through ``cuda.bindings``, which adds about a microsecond to each. Calls that a read makes many times go through
native code.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headrace import _native


def addresses_of(*names: str) -> list[int]:
    """Return the addresses of functions of the driver, which must be loaded already."""
    import ctypes  # here, so that a process without a GPU does not import it

    library = ctypes.CDLL("libcuda.so.1")
    return [address_of(getattr(library, name)) for name in names]


def address_of(function: Any) -> int:
    """Return the address of a ctypes function."""
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
    "cuStreamIsCapturing",
    "cuStreamGetId",
)


@cache
def card_calls() -> _native.CardCalls:
    """Return the driver functions for launches, memory, small copies and the sending of texts."""
    from headrace import _native  # here, because a build that compiles the kernels does not have it yet

    return _native.CardCalls.make(addresses_of(*CARD_CALLS))
