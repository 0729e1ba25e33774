"""Translates positions in decoded text on a GPU to positions in the source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from headrace.columns.buffers.load_result import Evidence
from headrace.columns.column import Column
from headrace.core.buffer import copy_of
from headrace.sources.encoding.decode_gpu import Decoded


def source_positions(positions: Column, decoded: Decoded) -> Column:
    """Return a column of byte positions in the text as positions in the source."""
    found = decoded.origins(np.frombuffer(memoryview(positions.values), np.uint64, positions.length))
    return replace(positions, values=copy_of(found.data))


def source_evidence(evidence: Mapping[int, Evidence], decoded: Decoded) -> dict[int, Evidence]:
    """Return evidence with its bytes as positions in the source."""
    positions = decoded.origins(np.array([one.byte for one in evidence.values()], np.uint64)).tolist()
    return {number: replace(one, byte=byte) for (number, one), byte in zip(evidence.items(), positions, strict=True)}
