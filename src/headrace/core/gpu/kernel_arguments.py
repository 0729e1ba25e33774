"""Arguments of a kernel, packed as its parameters lie: the driver tells where each is, so a wrong signature is found at once."""

from __future__ import annotations

import struct
from typing import Any

from headrace.core.gpu.card import driver
from headrace.core.gpu.kernel_source import KernelSourceError


def packing(handle: Any, name: str, signature: str) -> tuple[struct.Struct, list[int]]:
    """How arguments are packed, with the gaps that the kernel's parameters have; and where each begins.

    Raises
    ------
    KernelSourceError
        The signature is not the kernel's.
    """
    codes = signature_codes(signature)
    functions = driver()
    layout, end, offsets = "=", 0, []
    for number, code in enumerate(codes):
        status, offset, size = functions.cuKernelGetParamInfo(handle, number)
        if status or size != struct.calcsize("=" + code):
            found = "there are fewer parameters" if status else f"parameter {number} has {size} bytes"
            raise KernelSourceError(
                f"kernel {name}: signature {signature!r} says {len(codes)}, and {code!r} for {number}; {found}"
            )
        layout += f"{offset - end}x{code}"
        offsets.append(offset)
        end = offset + size
    if not functions.cuKernelGetParamInfo(handle, len(codes))[0]:
        raise KernelSourceError(f"kernel {name} has more parameters than its signature {signature!r}")
    return struct.Struct(layout), offsets


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
