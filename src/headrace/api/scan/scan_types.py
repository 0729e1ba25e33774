"""Determines the types of a scan's columns, by a pass over the whole text before the first batch, or from the first part.

The pass converts the columns without given types, part by part, and keeps only the kinds of text that it found. If the final
types differ from those that a part was converted with, the part is converted again. Only a conversion shows whether each value
fits; a string column holds every value. Types and evidence are therefore exactly those of `read_csv`.
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
class ScanTypes:
    """The types of all columns."""

    types: list[DataType]  # in the order of the plan
    from_first: bool  # True if they are those of the first part, which values of other parts may not fit
    passes: int  # passes over the text that determined them


def infer_types(plans: PlannedFiles, parts: ScanParts) -> ScanTypes:
    """Read the whole text until the types are final.

    A pass begins with the types that earlier passes found. A type moves only up the lattice of kinds (rules/infer.hpp), which is
    finite. A pass that changes no type is the last. A column that is stale even then has a value that its type cannot hold.
    `SharedLoads` makes it a string column.
    """
    planned = plans.planned
    passes = 0
    inferred = [place for place in planned.wanted if planned.types[place] is None]
    if inferred:
        before: list[DataType] | None = None
        seen = _Seen(plans)
        while before is None or (before != loaded_types(plans) and seen.are_stale()):
            before = loaded_types(plans)
            passes += 1
            seen.begin()
            for part in parts.all(_only_inferred, keep=True):
                seen.add(part)
        plans.shared.include_unfit()
    return ScanTypes(loaded_types(plans), False, passes)


def sample_types(plans: PlannedFiles, parts: ScanParts) -> ScanTypes:
    """Return the types of the first part that has rows; no fault ends the load."""
    if not any(plans.planned.types[place] is None for place in plans.planned.wanted):
        return ScanTypes(loaded_types(plans), True, 0)
    for part in parts.all(_as_for_rows, keep=True):
        if part.rows:
            return ScanTypes(types_of(plans, part), True, 1)
    return ScanTypes(loaded_types(plans), True, 1)


def types_of(plans: PlannedFiles, part: FilePart) -> list[DataType]:
    """Return the types that a part was loaded with; for columns that it lacks, the types that earlier parts imply."""
    types = loaded_types(plans)
    for place, described in zip(part.places, part.described, strict=True):
        if described is not None and plans.planned.types[place] is None:
            types[place] = described[0]
    return types


def loaded_types(plans: PlannedFiles) -> list[DataType]:
    """Return the given type of each column, or the type that the text implies up to here."""
    shared = plans.shared.types()
    return [given.loaded_as if given else found for given, found in zip(plans.planned.types, shared, strict=True)]


def as_given(types: list[DataType]) -> Callable[[LoadPlan], LoadPlan]:
    """Return a function that changes plans as if the caller had given these types."""

    def change(plan: LoadPlan) -> LoadPlan:
        pairs = zip(plan.columns, plan.share_columns, strict=True)
        columns = tuple([(name, types[place], wanted) for (name, _, wanted), place in pairs])
        return replace(plan, columns=columns)

    return change


def _only_inferred(plan: LoadPlan) -> LoadPlan:
    """Return a plan of the columns without a type only. No fault ends the load: faults are raised when rows are loaded."""
    rows = plan.rows
    outcomes = {name: "reject" for name in ("on_short", "on_long", "on_malformed") if getattr(rows, name) == "raise"}
    return replace(
        plan,
        columns=tuple([(name, given, wanted and given is None) for name, given, wanted in plan.columns]),
        rows=replace(rows, **outcomes),  # type: ignore[arg-type]
        values=replace(plan.values, on_error="null"),
        row_index=None,
    )


def _as_for_rows(plan: LoadPlan) -> LoadPlan:
    """Return a plan that rejects the records that the load of rows rejects, without an end at a fault."""
    inferring = _only_inferred(plan)
    if plan.values.on_error != "reject":
        return inferring
    return replace(inferring, columns=plan.columns, values=plan.values)


class _Seen:
    """The types that each part was converted with, for columns that have values in it."""

    def __init__(self, plans: PlannedFiles) -> None:
        self._plans = plans
        self._loaded: list[dict[int, DataType]] = []

    def begin(self) -> None:
        self._loaded = []

    def add(self, part: FilePart) -> None:
        valued = dict(part.valued_types())
        if not self._loaded or valued != self._loaded[-1]:
            self._loaded.append(valued)

    def are_stale(self) -> bool:
        """Return whether a part has values of another type than the type inferred from all parts."""
        types = loaded_types(self._plans)
        return any(
            not same_type(kind, types[place]) and not types[place].is_string
            for valued in self._loaded
            for place, kind in valued.items()
        )
