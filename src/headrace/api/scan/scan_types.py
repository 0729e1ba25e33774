"""The types of a scan's columns: settled by a pass over the whole text before the first batch is given, or by the first part.

The pass converts the columns whose types are not given, part by part, and keeps nothing but the kinds of text that it met. Parts
that were converted by other types than all call for in the end are converted once more, because only a conversion tells whether
each value fits (text holds all); so types are those of `read_csv`, to the letter, and the evidence as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from headrace.api.read.file_parts import FilePart, same_type
from headrace.api.read.planned_files import PlannedFiles
from headrace.api.scan.scan_parts import ScanParts
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.types import DataType


@dataclass(slots=True)
class SettledTypes:
    """The types of all columns, by their places in the plan; `from_first`: those of the first part, which others may not fit."""

    types: list[DataType]
    from_first: bool
    passes: int


def settle_types(plans: PlannedFiles, parts: ScanParts) -> SettledTypes:
    """Go over the whole text until types are settled.

    A pass begins with the types that earlier passes found, and a type moves only up the lattice of kinds (rules/infer.hpp), which
    is finite. A pass that changes no type is the last: what is stale then are columns with a value that the type cannot hold, and
    `SharedLoads.settle` makes them text.

    Raises
    ------
    SourceError, MemoryLimitError
        As a load.
    """
    planned = plans.planned
    passes = 0
    inferred = [place for place in planned.wanted if planned.types[place] is None]
    if inferred:
        before: list[DataType] | None = None
        seen = _Seen(plans)
        while before is None or (before != _types(plans) and seen.are_stale()):
            before = _types(plans)
            passes += 1
            seen.begin()
            for part in parts.all(_only_inferred, keep=True):
                seen.add(part)
        plans.shared.settle()
    return SettledTypes(_types(plans), False, passes)


def types_of(plans: PlannedFiles, part: FilePart) -> list[DataType]:
    """The types that a part was loaded with; those of columns that it lacks, by what is known."""
    types = _types(plans)
    for place, column in zip(part.places, part.columns, strict=True):
        if column is not None and plans.planned.types[place] is None:
            types[place] = column.type
    return types


def _types(plans: PlannedFiles) -> list[DataType]:
    shared = plans.shared.types()
    return [given.loaded_as if given else found for given, found in zip(plans.planned.types, shared, strict=True)]


def as_given(types: list[DataType]) -> Callable[[LoadPlan], LoadPlan]:
    """Makes plans by which these types are taken as if the caller had given them."""

    def change(plan: LoadPlan) -> LoadPlan:
        pairs = zip(plan.columns, plan.share_columns, strict=True)
        columns = tuple([(name, types[place], wanted) for (name, _, wanted), place in pairs])
        return replace(plan, columns=columns)

    return change


def _only_inferred(plan: LoadPlan) -> LoadPlan:
    """No more than the columns without a type, and no fault ends it: those are told when rows are given."""
    rows = plan.rows
    outcomes = {name: "reject" for name in ("on_short", "on_long", "on_malformed") if getattr(rows, name) == "raise"}
    return replace(
        plan,
        columns=tuple([(name, given, wanted and given is None) for name, given, wanted in plan.columns]),
        rows=replace(rows, **outcomes),  # type: ignore[arg-type]
        values=replace(plan.values, on_error="null"),
        row_index=None,
    )


class _Seen:
    """By which types each part has been converted, where it has values."""

    def __init__(self, plans: PlannedFiles) -> None:
        self._plans = plans
        self._loaded: list[dict[int, DataType]] = []

    def begin(self) -> None:
        """Another pass."""
        self._loaded = []

    def add(self, part: FilePart) -> None:
        """A part was converted."""
        columns = zip(part.places, part.columns, strict=True)
        valued = {place: column.type for place, column in columns if column is not None and column.null_count < part.rows}
        if not self._loaded or valued != self._loaded[-1]:
            self._loaded.append(valued)

    def are_stale(self) -> bool:
        """Whether a part has values of another type than all parts together call for."""
        types = _types(self._plans)
        return any(
            not same_type(kind, types[place]) and not types[place].is_string
            for valued in self._loaded
            for place, kind in valued.items()
        )
