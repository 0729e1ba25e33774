"""A load on a GPU of a text in another encoding: it is decoded there first and read as UTF-8, and what is told of places means
the source's bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from headrace import _native
from headrace.columns.column import Column
from headrace.columns.convert.gpu.target import Place
from headrace.columns.plan.load_plan import Evidence, LoadPlan
from headrace.core.buffer import copy_of
from headrace.gpu.kernels.launcher import Part, Room
from headrace.sources.encoding.decode_gpu import DECODE_SHAPE, Decoded, DecodeShape, Encoded, decode_on_gpu
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


def original_places(places: Column, decoded: Decoded) -> Column:
    """A column of places of the text, as those of the source."""
    found = decoded.origins(np.frombuffer(memoryview(places.values), np.uint64, places.length))
    return replace(places, values=copy_of(found.data))


def original_evidence(evidence: Mapping[int, Evidence], decoded: Decoded) -> dict[int, Evidence]:
    """Evidence in the text, as in the source."""
    places = decoded.origins(np.array([one.byte for one in evidence.values()], np.uint64)).tolist()
    return {number: replace(one, byte=place) for (number, one), place in zip(evidence.items(), places, strict=True)}
