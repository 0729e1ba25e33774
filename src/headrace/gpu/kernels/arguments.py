"""Where the arguments of a kernel go: the driver tells where each parameter lies, so a wrong signature is found at once."""

from __future__ import annotations

import struct
from typing import Any

from headrace.gpu.device.device import driver
from headrace.gpu.kernels.source import KernelSourceError

Layout = list[tuple[int, int, str]]
"""Of each parameter its first byte, its bytes, and what it is, as `signature_codes` has it."""


def layout_of(handle: Any, name: str, signature: str) -> Layout:
    """How a kernel's parameters lie.

    Raises
    ------
    KernelSourceError
        The signature is not the kernel's.
    """
    codes = signature_codes(signature)
    functions = driver()
    layout = []
    for number, code in enumerate(codes):
        status, offset, size = functions.cuKernelGetParamInfo(handle, number)
        if status or size != struct.calcsize("=" + code):
            found = "there are fewer parameters" if status else f"parameter {number} has {size} bytes"
            raise KernelSourceError(
                f"kernel {name}: signature {signature!r} says {len(codes)}, and {code!r} for {number}; {found}"
            )
        layout.append((offset, size, code))
    if not functions.cuKernelGetParamInfo(handle, len(codes))[0]:
        raise KernelSourceError(f"kernel {name} has more parameters than its signature {signature!r}")
    return layout


def signature_codes(signature: str) -> list[str]:
    """The parameters of a signature, one by one, pointers as 64-bit numbers.

    Examples
    --------
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
