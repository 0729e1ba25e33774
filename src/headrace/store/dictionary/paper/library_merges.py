"""Merges dictionaries by calls of a library, as in the paper: CSUM and MUM (Krueger et al. 2011, section 3.2).

Both work on arrays of either device. CSUM concatenates, sorts, removes duplicates, and maps each value to its code by a search.
MUM replaces the first two steps by a merge.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from headrace.arrange.search.search import marks_of
from headrace.arrange.search.searchsorted import searchsorted
from headrace.arrange.search.unique import unique
from headrace.arrays.arrays import take
from headrace.arrays.placement import placed
from headrace.core.context import Context
from headrace.index.sorted_map.engine import Call
from headrace.index.sorted_map.key_types import MapTypes
from headrace.index.sorted_map.levels import Level, Levels
from headrace.primitives.select import select


class MergedNumbers(NamedTuple):
    """A merged dictionary, and the codes of both old ones in it, int64."""

    values: Any
    main_codes: Any
    delta_codes: Any


def merge_csum(main: Any, delta: Any, joined: Any, context: Context) -> MergedNumbers:
    """Merge by concatenation, sort, unique and map; `joined`: both dictionaries, one after the other, integers."""
    return _mapped(unique(joined, context=context), main, delta, context)


def merge_mum(main: Any, delta: Any, context: Context) -> MergedNumbers:
    """Merge by merge, unique and map; unsigned integers of 4 or 8 bytes."""
    budget = context.new_budget()
    levels = [placed(part, "dictionary", context, budget) for part in (main, delta)]
    types = MapTypes(levels[0].typestr, None)
    call = Call(types, levels[0].device, context, budget)
    merged = call.engine.merged(Levels(types, tuple(Level(part, None, None) for part in levels if part.length)))
    return _mapped(_without_duplicates(merged.codes.owner, context), main, delta, context)


def _without_duplicates(ascending: Any, context: Context) -> Any:
    """Return ascending numbers once each."""
    marks = marks_of(take(ascending), context, context.new_budget())
    return select(ascending, marks.owner, context=context)


def _mapped(values: Any, main: Any, delta: Any, context: Context) -> MergedNumbers:
    return MergedNumbers(values, *(searchsorted(values, part, context=context) for part in (main, delta)))
