"""Loads the columns of a scan's condition first, and the other columns for the rows that it chooses.

A part is read twice. The first read converts the condition's columns, and finds the faults of whole records. The second
converts the other columns of chosen records, so faults in records left out are not found. It reads a copy of their bytes.
If the copy has a fault, it reads the part again, so that positions are those of the text. It is omitted if no row is chosen,
or if the condition has all columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headrace import _native
from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.planned_files import PlannedFiles
from headrace.api.scan.scan_cpu import CpuParts
from headrace.api.scan.scan_parts import BatchCut
from headrace.api.scan.scan_types import loaded_types
from headrace.api.scan.scanned_files import ScannedFile
from headrace.arrange.filter.filter import selected_rows
from headrace.arrange.filter.program import compiled
from headrace.arrange.gather.take import take_rows
from headrace.columns.buffers.load_result import Loaded
from headrace.columns.column import Column
from headrace.columns.load.load import load
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.load_run import LoadRun
from headrace.columns.types import parse_type
from headrace.core.errors import MissingDependencyError, OptionError, ParseError
from headrace.core.expressions.column_expression import ColumnExpression, col
from headrace.sources.open import OpenSource

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "where()") from None

_WHOLE_RECORD = compiled(col("column").is_null(), {"column": parse_type("string")})  # chooses faults of no column


@dataclass(frozen=True, slots=True)
class _ChosenRows:
    """The rows of a part for which the condition is true."""

    rows: Any  # their numbers among the rows of the first load, None for all
    records: Any  # numbers of their records in the part, as uint64

    def rows_that_stay(self, second: Loaded) -> Any:
        """Return the numbers of rows without those whose records the second load rejects."""
        if not second.counts["rejected"]:
            return self.rows
        stay = ~np.isin(self.records + 1, np.frombuffer(second.rejected_records, np.uint64))
        return (np.arange(len(self.records), dtype=np.uint64) if self.rows is None else self.rows)[stay]


class ChosenParts(CpuParts):
    """The parts of planned files with the rows for which a condition is true, loaded on the host.

    Raises OptionError if the condition has columns that are not in the text.
    """

    def __init__(
        self, plans: PlannedFiles, files: list[ScannedFile], options: CsvOptions, cut: BatchCut, where: ColumnExpression
    ) -> None:
        super().__init__(plans, files, options, cut)
        self._where, self._needed = where, set(where.column_names())
        outside = [name for name, *_ in plans.of_paths([]) if name in self._needed]
        if outside:
            raise OptionError(f"convert='chosen' takes conditions on columns of the text; {outside[0]!r} is from the paths")

    def _loaded(self, source: OpenSource, plan: LoadPlan, run: LoadRun) -> Loaded:
        is_needed = [self._plans.planned.names[place] in self._needed for place in plan.share_columns]
        begin = plan.row_index or 0
        needed = _of_columns(replace(plan, row_index=begin), is_needed)
        rest = _of_columns(replace(plan, row_index=None), [not one for one in is_needed])
        first = load(source, self._options.dialect, needed, replace(run, wants_spans=self._may_gather(source)))
        rows = self._chosen(plan, first)
        records = np.asarray(_index_of(first).to_numpy()) - begin
        chosen = _ChosenRows(rows, (records if rows is None else records[rows]).astype(np.uint64))
        second = self._load_rest(source, rest, run, first, chosen)
        rows = rows if second is None else chosen.rows_that_stay(second)
        count = len(chosen.records)
        joined = replace(
            first,
            columns=self._columns(rest, first, second, rows),
            counts={**first.counts, "rows": count, "filled": first.counts["filled"] if count else 0},
            row_index=None if plan.row_index is None else self._rows_of(_index_of(first), rows),
            left_out=first.left_out + first.counts["rows"] - count,
            described=None,
            spans=None,
        )
        return joined if second is None else self._with_faults(joined, second)

    def _load_rest(self, source: OpenSource, rest: LoadPlan, run: LoadRun, first: Loaded, chosen: _ChosenRows) -> Loaded | None:
        """Load the columns that the condition does not have; None if that is not necessary."""
        counts_short = chosen.rows is not None and first.counts["filled"] > 0  # this load counts those that are chosen
        if not len(chosen.records) or not (counts_short or any(wanted for _, _, wanted in rest.columns)):
            return None
        gathered = self._of_gathered(source, rest, first, chosen.rows)
        if gathered is not None:
            return gathered
        return load(source, self._options.dialect, rest, replace(run, chosen=chosen.records.tobytes(), filter=None, dropped=None))

    def _columns(self, rest: LoadPlan, first: Loaded, second: Loaded | None, rows: Any) -> list[Column | None]:
        """Return the columns of both loads; those of the second are empty if it was omitted."""
        columns = [None if column is None else self._rows_of(column, rows) for column in first.columns]
        types = loaded_types(self._plans)
        for position, (place, (_, kind, wanted)) in enumerate(zip(rest.share_columns, rest.columns, strict=True)):
            if wanted:
                columns[position] = second.columns[position] if second else self._plans.shared.join([0], kind or types[place])[0]
        return columns

    def _of_gathered(self, source: OpenSource, plan: LoadPlan, first: Loaded, rows: Any) -> Loaded | None:
        """Return the columns of rows, loaded from the text of their records alone; None if that text has a fault, whose
        position is not known, or if most rows are chosen.
        """
        if first.spans is None or rows is None or 2 * len(rows) > first.counts["rows"]:
            return None
        begins, ends = (np.frombuffer(memoryview(words), np.uint64)[rows].tobytes() for words in first.spans)
        line_end = self._options.dialect.lineterminator or b"\n"
        text = source.native.gather(begins, ends, line_end)
        threads = plan.threads if len(text) > plan.tile_bytes else 1
        own = replace(plan, begin=0, end=len(text), data_begin=0, part=None, threads=threads)
        try:
            gathered = OpenSource(_native.Source.from_bytes(text), source.name)  # its first bytes are those of a record, no marks
            found = load(gathered, self._options.dialect, own, LoadRun(share=self._known_kinds()))
        except ParseError:
            return None
        is_exact = not found.counts["faults"] and found.counts["rows"] == len(rows)
        return found if is_exact else None

    def _may_gather(self, source: OpenSource) -> bool:
        """Return whether the text of chosen records may be copied. With a memory limit it is not: the copy is no result."""
        return source.codec == "utf-8" and self._options.context.memory_limit is None

    def _known_kinds(self) -> _native.LoadShare:
        """Return a copy of the kinds of text in all columns. Positions in a copy of records are no evidence for the text."""
        places, shared = range(len(self._plans.planned.names)), self._plans.shared.native
        ledger, share = _native.KindLedger(len(places)), _native.LoadShare(len(places), 0)
        shared.show(ledger, places)
        share.take(ledger, places)
        share.with_unfit = shared.with_unfit
        return share

    def _chosen(self, plan: LoadPlan, first: Loaded) -> Any:
        """Return the numbers of the rows for which the condition is true, or None for all."""
        names, types, nulls = self._plans.planned.names, loaded_types(self._plans), [first.counts["rows"]]
        columns = {name: self._plans.shared.join(nulls, types[names.index(name)])[0] for name in self._needed if name in names}
        columns |= {names[place]: one for place, one in zip(plan.share_columns, first.columns, strict=True) if one is not None}
        if self._options.row_index is not None:
            columns[self._options.row_index.name] = _index_of(first)
        program = compiled(self._where, {name: column.type for name, column in columns.items()})
        return selected_rows(columns, program, self._options.context)

    def _rows_of(self, column: Column, rows: Any) -> Column:
        return column if rows is None else take_rows(column, rows, self._options.context.thread_count)

    def _with_faults(self, first: Loaded, second: Loaded) -> Loaded:
        """Return the columns of `first` with the counts and faults of both loads."""
        counts = dict(first.counts)
        for name in ("rejected", "faults", "passes"):
            counts[name] += second.counts[name]
        counts |= {name: second.counts[name] for name in ("rows", "filled")}
        return replace(
            first,
            evidence=[one or other for one, other in zip(first.evidence, second.evidence, strict=True)],
            rejects=self._in_order(first.rejects, second.rejects),
            counts=counts,
            replaced=tuple(map(sum, zip(first.replaced, second.replaced, strict=True))),
            seconds={name: seconds + second.seconds[name] for name, seconds in first.seconds.items()},
        )

    def _in_order(self, first: Mapping[str, Column], second: Mapping[str, Column]) -> Mapping[str, Column]:
        """Return the faults of both tables by record, then column, at most as many as the options list."""
        if not len(second["record"]):
            return first
        both = {name: self._plans.shared.join([first[name], second[name]], first[name].type)[0] for name in first}
        records, places, stays = (np.asarray(both[name].to_numpy()) for name in ("record", "byte", "kept"))
        ids, at = np.unique(records[~stays], return_index=True)
        deciding = np.arange(len(records))  # a fault that rejects its record decides whether the record is kept
        if len(ids):
            near = np.minimum(np.searchsorted(ids, records), len(ids) - 1)
            deciding = np.where(ids[near] == records, np.flatnonzero(~stays)[at][near], deciding)
        both["kept"] = self._rows_of(both["kept"], deciding.astype(np.uint64))
        of_columns = np.ones(len(records), np.bool_)  # faults of whole records precede those of columns
        of_columns[selected_rows(both, _WHOLE_RECORD, self._options.context)] = False
        rows = np.lexsort([places, of_columns, records])[: self._options.values.max_rejects].astype(np.uint64)
        return {name: self._rows_of(column, rows) for name, column in both.items()}


def _index_of(loaded: Loaded) -> Column:
    assert loaded.row_index is not None  # the plan asks for it
    return loaded.row_index


def _of_columns(plan: LoadPlan, chosen: Sequence[bool]) -> LoadPlan:
    """Return a plan that converts some of the columns only."""
    columns = [(name, kind, wanted and one) for (name, kind, wanted), one in zip(plan.columns, chosen, strict=True)]
    return replace(plan, columns=tuple(columns))
