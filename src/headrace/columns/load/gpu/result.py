"""Collects the results of each conversion pass of a load on a GPU, and builds the final `Loaded` value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headrace.columns.buffers.column_buffers_gpu import ColumnBuffers
from headrace.columns.buffers.load_result import Evidence, Loaded
from headrace.columns.buffers.source_positions import source_evidence
from headrace.columns.convert.gpu.column_group import ColumnGroup, ColumnGroupBuffers, GpuPlan
from headrace.columns.convert.gpu.layouts import SIGHTINGS, TOTALS_WORDS
from headrace.columns.convert.gpu.target import GpuTarget
from headrace.columns.faults.gpu.fault_list import FaultList
from headrace.columns.faults.gpu.faulty_records import FaultyRecords
from headrace.columns.faults.gpu.gather_records import LocatedRecords
from headrace.columns.faults.gpu.resolve import Conversion
from headrace.columns.faults.rejects import no_rejects
from headrace.columns.finish.gpu.finish import LocatedText, locate_on_gpu, number_rows, shrink
from headrace.columns.infer.infer_gpu import Inference
from headrace.columns.load.gpu.lazy_columns import ConvertedGroups
from headrace.columns.load.gpu.result_layout import counts_bytes
from headrace.columns.load.gpu.setup_cache import LoadSetup
from headrace.columns.native_columns import type_named
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.load_run import LoadRun
from headrace.core.fast_constructor import fast_constructor
from headrace.gpu.kernels.launcher import DeviceBuffer
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import FindFlag


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """The parameters of `headrace.columns.load.gpu.load.load_on_gpu`, and state of its plan."""

    target: GpuTarget
    source: OpenSource
    dialect: Dialect
    plan: LoadPlan
    gpu_plan: GpuPlan
    setup: LoadSetup  # state that does not depend on the text
    begin: int  # First byte of the data in the source. Kernels count from it.
    run: LoadRun


@dataclass(frozen=True, slots=True)
class LaunchedConversion:
    """A conversion whose kernels are launched."""

    columns: ColumnGroupBuffers
    table: DeviceBuffer  # the kernels' table of the columns
    faults: DeviceBuffer  # the list of faults
    results: DeviceBuffer  # the results, which begin with the number of faults
    declined: DeviceBuffer | None = None
    """Marks of tiles that the general conversion converts if it is launched later; None if it has been launched."""
    found: FaultyRecords | None = None  # the records of the faults, if kernels find them before the host knows of faults


_loaded = fast_constructor(Loaded)
_NEVER = 2**64 - 1  # position of a kind that was not seen


def see_kinds(inference: Inference, group: ColumnGroup, first_seen: bytes) -> None:
    """Record the kinds that the conversion of a group has seen; `first_seen`: the kernels' first occurrences of each column."""
    if first_seen == b"\xff" * len(first_seen):  # the guesses were right
        return
    columns = np.frombuffer(first_seen, np.uint64).reshape(-1, 2, SIGHTINGS)
    seen = np.flatnonzero((columns[:, 0] != _NEVER).any(axis=1))
    if len(seen):
        inference.see([group.columns[number].position for number in seen.tolist()], columns[seen].tobytes())


def plain_result(
    target: GpuTarget, converted: ConvertedGroups, width: int, evidence: Sequence[Evidence | None], counts: dict[str, int]
) -> Loaded:
    """Build the result of a load without faults whose columns are finished; `width`: number of the plan's columns."""
    columns, described = converted.columns(target.launcher, width)
    return _loaded(
        columns=columns,
        evidence=evidence,
        rejects=no_rejects(),
        counts=counts,
        row_index=None,
        replaced=(0,) * width,
        device=target.device,
        described=described,
    )


class LoadResultBuilder:
    """Collects the results of one load. Positions are bytes of the source.

    `counts`: the counts of what precedes the data; updated to the counts of the whole load.
    """

    entries: DeviceBuffer  # start states of the text's tiles, set after the search
    located: LocatedRecords | None = None  # the records of the text, set after the wait for the search

    def __init__(self, request: LoadRequest, counts: dict[str, int]) -> None:
        self._request, self.counts = request, counts
        self._launcher, self._plan, self._setup = request.target.launcher, request.plan, request.setup
        self._infers = bool(request.gpu_plan.inferred) or request.run.share is not None
        self.converted = ConvertedGroups()
        self._faults_found = 0  # in one conversion
        self._filled: int | None = None  # filled short records, known after a pass without faults

    @cached_property
    def inference(self) -> Inference:
        """The inferred types. Created only if a type is inferred, the load shares its kinds, or a fault is resolved."""
        request = self._request
        return Inference(request.source, request.dialect, request.plan, request.gpu_plan, request.begin, share=request.run.share)

    @cached_property
    def faults(self) -> FaultList:
        """The faults. Created only if there is one or the caller needs the object: most texts have none."""
        request = self._request
        text = self._launcher, request.target.text, request.source, request.dialect
        see, capacity = self.inference.see_field, request.setup.fault_capacity
        result = FaultList(*text, request.plan, begin=request.begin, see=see, capacity=capacity)
        if self._filled is not None:
            result.take_clean(self._filled)
        return result

    @property
    def _has_faults(self) -> bool:
        """True if `faults` exists."""
        return "faults" in self.__dict__

    def take_search(self, located: LocatedRecords, counts: Mapping[str, int]) -> None:
        """Add the counts of the search. `located`: the records of the text, of which it is unknown whether they are lines."""
        # Each line is a record if none ends inside a field. Masks count CR LF as two line ends.
        has_others = counts["flags"] & (FindFlag.RETURN | FindFlag.BREAK) or counts["blank_lines"] or counts["comments"]
        are_lines = located.dialect.lineterminator is None and not has_others
        self.located = replace(located, are_lines=are_lines)
        self.counts["records"] = counts["records"]
        self.counts["blank"] += counts["blank_lines"]
        self.counts["comment"] += counts["comments"]

    def add_pass(self, group: ColumnGroup, launched: LaunchedConversion, fetched: NDArray[np.uint8]) -> bool:
        """Add the results of a conversion of a group.

        `fetched`: the results of the kernels, which begin with the counts.
        Result: False if the same columns must be converted again.
        """
        columns = launched.columns
        counts = counts_bytes(len(group.columns))
        self.counts["passes"] += 1
        words = fetched[:counts].view(np.uint64)
        numbers, rows = words[:TOTALS_WORDS].tolist(), self.counts["records"]
        columns.nulls = (rows - words[TOTALS_WORDS:].view(np.int64)).tolist()
        self._faults_found = max(self._faults_found, numbers[0])
        is_clean = not numbers[0] and (not self._has_faults or self.faults.is_clean)
        if is_clean:
            self._filled = numbers[1] if self._filled is None else self._filled
            if self._has_faults:
                self.faults.take_clean(self._filled)
            if not group.infers:
                return True
        if not is_clean:
            first_seen = fetched[counts:].view(np.uint64).reshape(-1, 2, SIGHTINGS)
            assert self.located is not None
            self.faults.located = self.located
            totals, records = words[:TOTALS_WORDS], first_seen[:, 1]
            listed = launched.table, launched.faults, totals, records, launched.results, launched.found
            if not self.faults.take(Conversion(columns, *listed)):
                return False
        if group.infers:
            see_kinds(self.inference, group, fetched[counts:].tobytes())
        return True

    def changed(self) -> dict[int, int]:
        """Return the columns to convert again, since their guess was wrong: position to kind."""
        if not self._request.gpu_plan.inferred or self.inference.is_right(self.converted.last.inferred_kinds):
            return {}
        return self.inference.changed(self.converted.kinds())

    @property
    def _is_finished(self) -> bool:
        """True if no column of the plan is made after the conversions."""
        return not self._setup.collects and not self._plan.values.shrink and self._plan.row_index is None

    @property
    def is_repeatable(self) -> bool:
        """True if the launches of this load serve later texts: it took one pass."""
        return self._is_finished and self.counts["passes"] == 1

    def build(self) -> Loaded:
        """Build the result from the converted columns."""
        setup, plan = self._setup, self._plan
        self._request.gpu_plan.expected_faults = self._faults_found
        evidence = setup.no_evidence
        if self._infers:
            evidence = self.inference.evidence()
            self.inference.share()
        if not self._is_finished or (self._has_faults and not self.faults.is_clean):
            loaded = self._finished(evidence)
            setup.expects_faults = self._faults_found > 0  # unless one raises
            return loaded
        setup.expects_faults = False
        rows, filled = self.counts["records"], self._filled or 0
        counts = {**self.counts, "rejected": 0, "faults": 0, "rows": rows, "filled": filled}
        return plain_result(self._request.target, self.converted, len(plan.columns), evidence, counts)

    def _finished(self, evidence: Sequence[Evidence | None]) -> Loaded:
        """Build the result of a load whose columns are still to be changed: rows removed, types shrunk, rows numbered."""
        launcher, faults, count = self._launcher, self.faults, len(self._plan.columns)
        separate = self._separate_columns()
        index = number_rows(launcher, self._plan, self.counts["records"])
        faults.finish(separate, self.counts, index)
        rows = self.counts["rows"]
        evidence = self._shrunk(separate, rows, evidence) if self._plan.values.shrink else evidence
        columns = {column.position: column.column(launcher, rows) for column in separate}
        replaced = {column.position: column.replaced for column in separate}
        return _loaded(
            columns=tuple([columns.get(position) for position in range(count)]),
            evidence=evidence,
            rejects=faults.rejects,
            counts=self.counts,
            row_index=index[0].column(launcher, rows) if index else None,
            rejected_records=(faults.rejected_records + np.uint64(1)).tobytes() if self._request.run.share is not None else b"",
            replaced=tuple([replaced.get(position, 0) for position in range(count)]),
            device=self._request.target.device,
        )

    def _shrunk(self, separate: list[ColumnBuffers], rows: int, evidence: Sequence[Evidence | None]) -> Sequence[Evidence | None]:
        """Shrink the types of inferred numbers, and return the evidence for the final types."""
        deciding_rows = shrink(self._launcher, separate, rows)
        request, decoded = self._request, self._request.source.decoded
        text = LocatedText(request.source, request.dialect, request.plan, request.begin)
        found = (
            locate_on_gpu(self._launcher, text, self.entries, deciding_rows, self.faults.rejected_records)
            if deciding_rows
            else {}
        )
        if decoded is not None:
            found = source_evidence(found, decoded)
        for position, field in found.items():
            before = evidence[position]
            found[position] = replace(field, rounded=before and before.rounded)
        return tuple([found.get(position, one) for position, one in enumerate(evidence)])

    def _separate_columns(self) -> list[ColumnBuffers]:
        """Return the columns one by one, and the column of collected text."""
        result = self.converted.split()
        if self._setup.collects:
            collected = ColumnBuffers(self._request.gpu_plan.wanted[-1], type_named("string"), None)
            self.faults.collect(collected, self.counts["records"])
            result.append(collected)
        return result
