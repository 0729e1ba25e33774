"""Joins the reads of sorted maps and of snapshots."""

from __future__ import annotations

from headrace.index.sorted_map.lookups import LookupReader
from headrace.index.sorted_map.order import OrderReader
from headrace.index.sorted_map.ranges import KeyRangeReader


class MapReader(LookupReader, KeyRangeReader, OrderReader):
    """The reads of `SortedMap` and `MapSnapshot`. Any number of threads may read at the same time."""


class MapSnapshot(MapReader):
    """A map as it was at one time, for reads while updates of the map go on. Made by `SortedMap.snapshot`."""
