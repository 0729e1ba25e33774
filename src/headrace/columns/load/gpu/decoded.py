"""A load on a GPU of a text in another encoding: it is decoded there first and read as UTF-8, and what is told of places means
the source's bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from headrace import _native
from headrace.columns.convert.gpu.target import Place
from headrace.columns.plan.load_plan import LoadPlan
from headrace.gpu.kernels.launcher import Part, Room
from headrace.sources.encoding.decode_gpu import DECODE_SHAPE, DecodeShape, Encoded, decode_on_gpu
from headrace.sources.open import OpenSource


def decoded_place(
    place: Place,
    source: OpenSource,
    plan: LoadPlan,
    view: Callable[[Room], _native.Source],
    shape: DecodeShape = DECODE_SHAPE,
) -> tuple[Place, OpenSource, LoadPlan]:
    """The same load of the decoded text.

    Parameters
    ----------
    place
        Where the source lies; of a part of a text, no more than that.
    source, plan
        Of the source.
    view
        Makes what the native readers take of a room.
    shape
        Of the kernels that decode.
    """
    decoded = decode_on_gpu(place.launcher, _sent(place.text, source, plan), shape)
    native = view(decoded.text)
    decoded.read = native.read
    begin, end, data_begin = (decoded.place_of(place) for place in (plan.begin, plan.end, plan.data_begin))
    room: Any = decoded.text
    opened = replace(source, native=native, codec="utf-8", begin=decoded.place_of(source.begin), on_gpu=room, decoded=decoded)
    plan = replace(plan, begin=begin, end=end, data_begin=data_begin)
    return Place(place.launcher, decoded.text, place.shape, place.device), opened, plan


def _sent(text: Room, source: OpenSource, plan: LoadPlan) -> Encoded:
    if plan.part is None:
        return Encoded(text, source.native, source.codec)
    return Encoded(Part(text, plan.begin, plan.end - plan.begin), source.native, source.codec, plan.begin)
