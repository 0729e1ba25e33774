"""Loads a source into typed columns on the CPU, by the native loader."""

from __future__ import annotations

from headrace import _native
from headrace.columns.buffers.load_result import CutRecordError, Loaded, Reached, evidence_of
from headrace.columns.faults.rejects import parse_error, rejects_of
from headrace.columns.native_columns import column_of, type_named
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.load_run import NO_HANDLES, LoadRun
from headrace.columns.plan.native_dialect import native_dialect
from headrace.columns.plan.native_errors import native_errors
from headrace.core.lazy import LazySequence
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect


def load(source: OpenSource, dialect: Dialect, plan: LoadPlan, run: LoadRun = NO_HANDLES) -> Loaded:
    """Load all records of the plan's range into columns.

    Memory: the result, and a few tiles for each thread. The result is charged to ``plan.memory_limit``.

    Raise ParseError with ``on_error="raise"``: the first fault, by record, then column. Raise MemoryLimitError if the result
    exceeds the limit, or the system has no more memory. Raise SourceError if the source changed after it was opened, or could
    not be read to its end. Raise CutRecordError if a part ends inside a record, and more text follows.
    """
    with native_errors():
        result = _native.load(source.native, native_dialect(dialect), plan, run)
    *reached, is_cut = result["reached"]
    if is_cut and plan.part is not None and plan.part.is_more:
        raise CutRecordError
    counts = result["counts"]
    rejects = rejects_of(dict(result["rejects"]), result["rejects_rows"])
    if result["raised"]:
        raise parse_error(rejects)
    rows, parts, found = counts["rows"], result["columns"], result["evidence"]
    described = [
        (type_named(part[0]), part[1]) if wanted else None for (_, _, wanted), part in zip(plan.columns, parts, strict=True)
    ]
    row_index = column_of(result["row_index"], rows) if plan.row_index is not None else None
    find, convert, finish = result["seconds"]
    return Loaded(
        columns=LazySequence(len(parts), lambda number: column_of(parts[number], rows) if described[number] else None),
        evidence=LazySequence(len(found), lambda number: evidence_of(found[number])),
        rejects=rejects,
        rejected_records=result["rejected_records"],
        counts=counts,
        row_index=row_index,
        replaced=tuple(result["replaced"]),
        seconds={"find": find, "convert": convert, "finish": finish},
        reached=Reached(*reached),
        described=described,
        spans=result["spans"],
        left_out=counts["left_out"],
    )
