"""Prepares the load of a text in another encoding: decodes it to UTF-8 on the GPU.

Positions in results still refer to bytes of the source (columns/buffers/source_positions.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from headrace import _native
from headrace.columns.convert.gpu.target import GpuTarget
from headrace.columns.plan.load_plan import LoadPlan
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer
from headrace.sources.encoding.decode_gpu import DECODE_SHAPE, DecodeShape, Encoded, decode_on_gpu
from headrace.sources.kinds.gpu_array import first_fetch_bytes
from headrace.sources.open import OpenSource


def decode_target(
    target: GpuTarget,
    source: OpenSource,
    plan: LoadPlan,
    view: Callable[[DeviceBuffer, bytes], _native.Source],
    shape: DecodeShape = DECODE_SHAPE,
) -> tuple[GpuTarget, OpenSource, LoadPlan]:
    """Decode the text, and return the parameters of the same load for the decoded text.

    `target`: The execution target and the encoded text. For a part of a text, the buffer has that part only.
    `view`: returns a source for the native readers that shows a device buffer, whose first bytes may be known.
    """
    encoded = _encoded(target.text, source, plan)
    decoded = decode_on_gpu(target.launcher, encoded, first_fetch_bytes(source.size), shape)
    native = view(decoded.text, decoded.head)
    decoded.read = native.read
    begin, end, data_begin = (decoded.place_of(byte) for byte in (plan.begin, plan.end, plan.data_begin))
    text: Any = decoded.text
    opened = replace(source, native=native, codec="utf-8", begin=decoded.place_of(source.begin), on_gpu=text, decoded=decoded)
    plan = replace(plan, begin=begin, end=end, data_begin=data_begin)
    return GpuTarget(target.launcher, decoded.text, target.tuning, target.device), opened, plan


def _encoded(text: DeviceBuffer, source: OpenSource, plan: LoadPlan) -> Encoded:
    if plan.part is None:
        return Encoded(text, source.native, source.codec)
    return Encoded(BufferSlice(text, plan.begin, plan.end - plan.begin), source.native, source.codec, plan.begin)
