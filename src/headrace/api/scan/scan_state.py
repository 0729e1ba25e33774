"""Holds the state of a scan that has begun: its files, its types, and how parts become tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.file_parts import FilePart
from headrace.api.read.path_columns import column_of_texts
from headrace.api.read.planned_files import PlannedFiles
from headrace.api.report import Position
from headrace.api.scan.scan_account import Account
from headrace.api.scan.scan_cpu import CpuParts
from headrace.api.scan.scan_parts import BatchCut, ScanParts
from headrace.api.scan.scan_types import ScanTypes, infer_types, sample_types, types_of
from headrace.api.scan.scanned_files import ScannedFile, held_if_needed, scanned_file
from headrace.api.sniffed import Sniffed
from headrace.api.table import Table
from headrace.columns.column import Column
from headrace.columns.faults.rejects import no_rejects
from headrace.columns.schema import plan_wanted
from headrace.columns.types import ENCODED, parse_type
from headrace.core.device import Device
from headrace.core.errors import OptionError
from headrace.query.find.record_condition import RecordCondition
from headrace.sources.open import SourceLike
from headrace.sources.reopen import KEPT_BYTES, SharedResources
from headrace.store.dictionary.plain import plain_column

if TYPE_CHECKING:
    from headrace.core.expressions.column_expression import ColumnExpression


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRequest:
    """A request for a scan."""

    sources: Sequence[SourceLike]
    several: bool  # the sources, and whether rejects name the file: more than one source was given
    options: CsvOptions
    sniff: Callable[..., tuple[Sniffed | None, CsvOptions]] | None
    """Proposes a dialect from the files; None if all options are given."""
    cut: BatchCut  # sizes of the batches
    infer: str  # `"all"` or `"first"`, as for `scan_csv`
    resume: Position | None  # position at which to begin; None for the beginning
    to: Device | None = None  # device of the batches; None for that of the context
    where: ColumnExpression | None = None  # condition of the rows; None for all rows
    records: RecordCondition | None = None  # condition of the records; None for all records
    chooses: bool = False  # True if columns outside of the condition are converted for the chosen rows only


@dataclass(slots=True)
class ScanState:
    """A scan that has begun."""

    closing: ExitStack  # closes the files
    options: CsvOptions
    sniffed: Sniffed | None
    plans: PlannedFiles  # the options, the proposal that they are from, and the plans of the files
    parts: ScanParts  # loads the parts
    inferring: ScanParts  # loads the parts to infer types
    several: bool
    device: str  # name of the device that loads them
    where: ColumnExpression | None = None  # condition of the rows; None for all rows
    scan_types: ScanTypes | None = None  # types of the columns, once they are known
    empty: dict[str, Column] | None = None  # columns without rows, once they have been asked for

    def infer_types(self) -> None:
        """Infer types from the whole text, by passes over it."""
        self.scan_types = infer_types(self.plans, self.inferring)

    def sample_types(self) -> None:
        """Take the types of the first part, before any part is loaded for its rows."""
        self.scan_types = sample_types(self.plans, self.inferring)

    def take_types_of(self, part: FilePart, from_first: bool) -> ScanTypes:
        """Take the types of a part for all parts, of which it may be the only one."""
        self.scan_types = ScanTypes(types_of(self.plans, part), from_first, 0)
        return self.scan_types

    def table(self, part: FilePart, scan_types: ScanTypes, account: Account) -> Table:
        """Return the rows of a part as a table."""
        plans, planned = self.plans, self.plans.planned
        columns = self._row_index([] if part.row_index is None else [part.row_index])
        at = {place: position for position, place in enumerate(part.places)}
        for place in planned.wanted:
            name, kind = planned.names[place], scan_types.types[place]
            if name in columns:
                raise OptionError(f"row_index_name={name!r} is the name of a column; choose another")
            piece = part.give(at.get(place), kind)
            columns[name] = piece if isinstance(piece, Column) else plans.shared.join([piece], kind)[0]
        of_paths = {}
        for name, column, found, is_given in plans.of_paths([part]):
            columns[name] = column
            of_paths[name] = None if is_given else found
        rejects = self._rejects(part.rejects, part.plan.file)
        columns = self._encoded(self._filtered(columns, part.plan.file, account))
        return Table(columns, rejects=Table(rejects), report=account.batch(part, columns, scan_types, of_paths))

    def empty_columns(self) -> dict[str, Column]:
        """Return the table's columns without rows."""
        plans, planned = self.plans, self.plans.planned
        types = self.scan_types.types if self.scan_types else [given and given.loaded_as for given in planned.types]
        columns = self._row_index([])
        for place in planned.wanted:
            column = plans.shared.join([0], types[place] or parse_type("string"))[0]
            columns[planned.names[place]] = plans.encoded(column, planned.types[place])
        columns |= {name: column for name, column, _, _ in plans.of_paths([])}
        if self.where is not None:
            from headrace.arrange.filter.program import compiled  # seldom needed

            compiled(self.where, {name: column.type for name, column in columns.items()})
        return self._selected(columns)

    def _filtered(self, columns: dict[str, Column], file: int, account: Account) -> dict[str, Column]:
        """Return the rows of a file for which the condition is true, and count the others."""
        if self.where is None or not columns:
            return self._selected(columns)
        if self.parts is not self.inferring:
            return self._selected(columns)  # the condition chose them as they were loaded
        found = self.parts.filtered(columns, self.where)
        name = next(iter(columns))
        account.leave_out(file, len(columns[name]) - len(found[name]))
        return self._selected(found)

    def _encoded(self, columns: dict[str, Column]) -> dict[str, Column]:
        """Return columns of strings in the form of their type; only the rows that a condition keeps need it."""
        planned = self.plans.planned
        given = {planned.names[place]: planned.types[place] for place in planned.wanted}
        return {name: self.parts.encoded(one, given[name]) if name in given else one for name, one in columns.items()}

    def _selected(self, columns: dict[str, Column]) -> dict[str, Column]:
        """Return columns without those that only the condition needs."""
        schema, planned = self.plans.schema, self.plans.planned
        if schema.also:
            wanted = plan_wanted(planned.names, replace(schema, also=()))
            dropped = {planned.names[place] for place in planned.wanted if place not in wanted}
            columns = {name: column for name, column in columns.items() if name not in dropped}
        return self.plans.selected(columns)

    def describe_empty(self, account: Account) -> None:
        """Report the columns of a text that gave no batch."""
        of_paths = {name: None if is_given else found for name, _, found, is_given in self.plans.of_paths([])}
        account.describe(self.empty_columns(), of_paths)

    def empty_rejects(self) -> Mapping[str, Column]:
        """Return the columns of rejects without rows."""
        return self._rejects(no_rejects(), 0)

    def _rejects(self, found: Mapping[str, Column], file: int) -> Mapping[str, Column]:
        """Return the rejects of a file, with its name if there are several."""
        if not self.several:
            return found
        names, _ = column_of_texts("file", self.plans.names, parse_type("large_string"), self.options)
        return {"file": self.plans.shared.join([(names, file, len(found["record"]))], names.type)[0], **found}

    def joined(self, parts: Sequence[Column], like: Column) -> Column:
        """Concatenate a column of all batches."""
        if len(parts) < 2:
            return parts[0] if parts else like
        is_on_gpu = any(part.device.kind != "cpu" for part in parts)
        is_joined = like.type.name == "string_view" and all(part.type == like.type for part in parts)
        if like.type.name not in ENCODED or (is_on_gpu and is_joined):
            return self.parts.joined(parts, like.type)
        if is_on_gpu:
            raise OptionError(f"columns of type {like.type} are not joined on a GPU; read_csv reads them as a whole")
        texts = [plain_column(part, self.options.context) for part in parts]
        return self.parts.encoded(self.parts.joined(texts, parse_type("string")), like.type)

    def _row_index(self, parts: list[Column]) -> dict[str, Column]:
        wanted = self.options.row_index
        return {} if wanted is None else {wanted.name: parts[0] if parts else self.plans.shared.join([], parse_type("int64"))[0]}


def start(request: ScanRequest) -> ScanState:
    """Look at all files, and infer types if that takes the whole text."""
    options, sniffed = request.options, None
    limit = options.context.memory_limit
    with ExitStack() as closing:
        keeping = SharedResources(closing, spare_bytes=min(KEPT_BYTES, limit // 4) if limit else KEPT_BYTES)
        files = [scanned_file(number, source, options, keeping) for number, source in enumerate(request.sources, 1)]
        for file in files:
            closing.callback(file.close)
        if request.sniff is not None:
            for file in files:
                file.look_at(options)
            sniffed, options = request.sniff(files, options=options)
            files = [held_if_needed(file, options) for file in files]
        for file in files:
            file.is_only = len(files) == 1
            file.look(options)
        plans = PlannedFiles(files, options)
        inferring, device = parts_of(plans, files, options, request.cut)
        if request.records is not None:
            inferring, device = CpuParts(plans, files, options, request.cut), _on_host(options, "to search records")
            inferring.choose(request.records)
        parts = inferring
        if request.where is not None and request.chooses:
            from headrace.api.scan.chosen_rows import ChosenParts  # needs NumPy

            parts = ChosenParts(plans, files, options, request.cut, request.where)
            if request.records is not None:
                parts.choose(request.records)
            device = _on_host(options, "to choose rows")
        state = ScanState(closing, options, sniffed, plans, parts, inferring, request.several, device, request.where)
        if request.infer == "first" and (parts is not inferring or request.resume is not None):
            state.sample_types()
        elif request.infer == "all" and (parts is not inferring or not _is_one_batch(files, request)):
            state.infer_types()
        state.closing = closing.pop_all()
        return state


def parts_of(plans: PlannedFiles, files: list[ScannedFile], options: CsvOptions, cut: BatchCut) -> tuple[ScanParts, str]:
    """Return the loader of the parts, and a description of the device for reports."""
    device = options.context.device
    if device.kind == "cpu":
        return CpuParts(plans, files, options, cut), "cpu"
    from headrace.api.scan.scan_gpu import GpuParts, obstacle_to_gpu  # needs the packages of a GPU

    why = obstacle_to_gpu(files, options)
    if not why:
        return GpuParts(plans, files, options, cut), str(device)
    return CpuParts(plans, files, options, cut), _on_host(options, f"because of {why}")


def _on_host(options: CsvOptions, why: str) -> str:
    device = options.context.device
    return "cpu" if device.kind == "cpu" else f"cpu, {why}; then {device}"


def _is_one_batch(files: Sequence[ScannedFile], request: ScanRequest) -> bool:
    """Return whether one part is the whole text, so that its types are those of all, unless too little memory makes parts
    smaller.
    """
    return len(files) == 1 and not files[0].comes_in_order and files[0].size <= request.cut.nbytes and request.resume is None
