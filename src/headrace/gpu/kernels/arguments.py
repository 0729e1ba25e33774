"""Reads the layout of a kernel's parameters from the driver, so that a wrong signature is found before the first launch."""

from __future__ import annotations

import struct
from typing import Any

from headrace.gpu.device.device import checked, driver
from headrace.gpu.kernels.source import KernelSourceError

Layout = list[tuple[int, int, str]]  # first byte, size in bytes, and type code (see `signature_codes`) of each parameter


def layout_of(handle: Any, name: str, signature: str) -> Layout:
    """Return the layout of a kernel's parameters.

    Raise KernelSourceError if the signature does not match the kernel. Raise GpuError if the kernel cannot be loaded: its
    device has no memory left, for example.
    """
    codes = signature_codes(signature)
    functions = driver()
    layout = []
    for number, code in enumerate(codes):
        status, offset, size = functions.cuKernelGetParamInfo(handle, number)
        is_missing = status == functions.CUresult.CUDA_ERROR_INVALID_VALUE
        if not is_missing:
            checked((status,))
        if is_missing or size != struct.calcsize("=" + code):
            found = "there are fewer parameters" if is_missing else f"parameter {number} has {size} bytes"
            raise KernelSourceError(
                f"kernel {name}: signature {signature!r} says {len(codes)}, and {code!r} for {number}; {found}"
            )
        layout.append((offset, size, code))
    if not functions.cuKernelGetParamInfo(handle, len(codes))[0]:
        raise KernelSourceError(f"kernel {name} has more parameters than its signature {signature!r}")
    return layout


def signature_codes(signature: str) -> list[str]:
    """Split a signature into one code a parameter; pointers become 64-bit numbers.

    >>> signature_codes("PPq16s")
    ['Q', 'Q', 'q', '16s']
    """
    codes, count = [], ""
    for letter in signature:
        if letter.isdigit():
            count += letter
        else:
            codes.append(count + ("Q" if letter == "P" else letter))
            count = ""
    return codes
