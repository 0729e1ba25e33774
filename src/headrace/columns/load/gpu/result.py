"""What a load on a GPU meets, conversion by conversion (faults, kinds of text, counts), and what it gives in the end: its columns
finished, and what there is to tell of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headrace.columns.buffers.column_buffers_gpu import Taken
from headrace.columns.buffers.load_result import Evidence, Loaded
from headrace.columns.buffers.source_positions import source_evidence
from headrace.columns.convert.gpu.column_group import Group, MadeColumns, PlanOnGpu
from headrace.columns.convert.gpu.layouts import SIGHTINGS, TOTALS_WORDS
from headrace.columns.convert.gpu.target import Place
from headrace.columns.faults.gpu.fault_list import Conversion, FaultsOfLoad
from headrace.columns.faults.rejects import no_rejects
from headrace.columns.finish.gpu.finish import locate_on_gpu, number_rows, shrink
from headrace.columns.infer.infer_gpu import Inference
from headrace.columns.load.gpu.launches import counted_bytes
from headrace.columns.load.gpu.lazy_columns import columns_later
from headrace.columns.load.gpu.setup_cache import KeptLoad
from headrace.columns.native_columns import type_named
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.load_run import LoadRun
from headrace.core.quick import quick
from headrace.gpu.kernels.launcher import Room
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect

Launched = tuple[MadeColumns, Room, Room]
"""What a conversion makes, where kernels are told of it, and where faults are listed."""


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """What a load is to do.

    Parameters
    ----------
    place, source, dialect, plan
        As in `headrace.columns.load.gpu.load.load_on_gpu`.
    known, kept
        What of it no text changes.
    begin
        Byte of the source where the data begins, from which the kernels count.
    """

    place: Place
    source: OpenSource
    dialect: Dialect
    plan: LoadPlan
    known: PlanOnGpu
    kept: KeptLoad
    begin: int
    run: LoadRun


_loaded = quick(Loaded)


class LoadOutcome:
    """Of one load. Positions are bytes of the source.

    Parameters
    ----------
    request
        What it is to do.
    counts
        Of what stands before the data; and from there on of all.
    """

    entries: Room
    """Of the text's tiles, once it is searched."""

    def __init__(self, request: LoadRequest, counts: dict[str, int]) -> None:
        self._request, self.counts = request, counts
        self._launcher, self._plan, self._kept = request.place.launcher, request.plan, request.kept
        self._infers = bool(request.known.inferred) or request.run.share is not None
        self._filled: int | None = None  # short records, once a conversion met no fault

    @cached_property
    def inference(self) -> Inference:
        """Where something is inferred, another load is told what was seen, or a fault's field is looked at."""
        its = self._request
        return Inference(its.source, its.dialect, its.plan, its.known, its.begin, share=its.run.share)

    @cached_property
    def faults(self) -> FaultsOfLoad:
        """Made when there is a fault, or something that asks for their objects: most texts have none."""
        its = self._request
        text = self._launcher, its.place.text, its.source, its.dialect
        made = FaultsOfLoad(*text, its.plan, begin=its.begin, see=self.inference.see_field)
        if self._filled is not None:
            made.take_clean(self._filled)
        return made

    @property
    def _has_faults(self) -> bool:
        """Whether faults are known, or may be: otherwise nobody has asked for them."""
        return "faults" in self.__dict__

    def take(self, group: Group, launched: Launched, fetched: NDArray[np.uint8]) -> bool:
        """Take what a conversion of a group left, from its counts on; False if that is to be done again."""
        made, table, faults = launched
        counts = counted_bytes(len(group.rooms))
        self.counts["passes"] += 1
        words = fetched[:counts].view(np.uint64)
        found, rows = words.tolist(), self.counts["records"]
        made.nulls = [rows - there for there in found[TOTALS_WORDS:]]
        is_clean = not found[0] and (not self._has_faults or self.faults.is_clean)
        if is_clean:
            self._filled = found[1] if self._filled is None else self._filled
            if self._has_faults:
                self.faults.take_clean(self._filled)
            if not group.infers:
                return True
        met = fetched[counts:].view(np.uint64).reshape(-1, 2, SIGHTINGS)
        if not is_clean and not self.faults.take(Conversion(made, table, faults, words[:TOTALS_WORDS], met[:, 1])):
            return False
        if group.infers:
            seen = met[[number for number, _ in group.inferred]]
            self.inference.see([position for _, position in group.inferred], seen.tobytes())
        return True

    def loaded(self, made: dict[int, MadeColumns]) -> Loaded:
        """What the load gives, of columns by their positions."""
        kept, plan = self._kept, self._plan
        evidence = kept.no_evidence
        if self._infers:
            evidence = self.inference.evidence()
            self.inference.share()
        is_clean = not self._has_faults or self.faults.is_clean
        if not is_clean or kept.collects or plan.values.shrink or plan.row_index is not None:
            return self._one_by_one(made, evidence)
        counts = self.counts
        counts["rejected"], counts["rows"] = 0, counts["records"]
        counts["filled"] = self._filled or 0
        count = len(plan.columns)
        columns, described = columns_later(self._launcher, made, count)
        return _loaded(
            columns=columns,
            evidence=evidence,
            rejects=no_rejects(),
            counts=counts,
            row_index=None,
            replaced=(0,) * count,
            device=self._request.place.device,
            described=described,
        )

    def _one_by_one(self, made: dict[int, MadeColumns], evidence: Sequence[Evidence | None]) -> Loaded:
        """Where columns are still to be changed."""
        launcher, faults, count = self._launcher, self.faults, len(self._plan.columns)
        taken = self._separate(made)
        index = number_rows(launcher, self._plan, self.counts["records"])
        faults.finish(taken, self.counts, index)
        rows = self.counts["rows"]
        evidence = self._shrunk(taken, rows, evidence) if self._plan.values.shrink else evidence
        columns = {one.position: one.column(launcher, rows) for one in taken}
        replaced = {one.position: one.replaced for one in taken}
        return _loaded(
            columns=tuple([columns.get(position) for position in range(count)]),
            evidence=evidence,
            rejects=faults.rejects,
            counts=self.counts,
            row_index=index[0].column(launcher, rows) if index else None,
            replaced=tuple([replaced.get(position, 0) for position in range(count)]),
            device=self._request.place.device,
        )

    def _shrunk(self, taken: list[Taken], rows: int, evidence: Sequence[Evidence | None]) -> Sequence[Evidence | None]:
        """The evidence, where types were shrunk to others than the kinds of text call for."""
        settled = shrink(self._launcher, taken, rows)
        its, decoded = self._request, self._request.source.decoded
        text = its.source, its.dialect, its.plan, its.begin
        found = locate_on_gpu(self._launcher, text, self.entries, settled, self.faults.gone) if settled else {}
        if decoded is not None:
            found = source_evidence(found, decoded)
        for position, its_own in found.items():
            before = evidence[position]
            found[position] = replace(its_own, rounded=before and before.rounded)
        return tuple([found.get(position, one) for position, one in enumerate(evidence)])

    def _separate(self, made: dict[int, MadeColumns]) -> list[Taken]:
        """The columns, each for itself, and the collected one."""
        taken = [one for group in dict.fromkeys(made.values()) for one in group.taken() if made[one.position] is group]
        if self._kept.collects:
            collected = Taken(self._request.known.wanted[-1], type_named("string"), None)
            self.faults.collect(collected, self.counts["records"])
            taken.append(collected)
        return taken
