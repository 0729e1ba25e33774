"""A scan that has begun: its files looked at, its types settled, its parts made tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.file_parts import FilePart
from headrace.api.read.path_columns import column_of_texts
from headrace.api.read.planned_files import PlannedFiles
from headrace.api.report import Position
from headrace.api.scan.scan_account import Account
from headrace.api.scan.scan_cpu import CpuParts
from headrace.api.scan.scan_parts import BatchCut, ScanParts
from headrace.api.scan.scan_types import SettledTypes, settle_types, types_of
from headrace.api.scan.scanned_files import ScannedFile, held_if_needed, scanned_file
from headrace.api.sniffed import Sniffed
from headrace.api.table import Table
from headrace.columns.column import Column
from headrace.columns.faults.rejects import no_rejects
from headrace.columns.types import parse_type
from headrace.core.device import Device
from headrace.core.errors import OptionError
from headrace.sources.open import SourceLike
from headrace.sources.reopen import KEPT_BYTES, Keeping


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRequest:
    """What is asked of a scan: the sources, how they are read, and how they are cut."""

    sources: Sequence[SourceLike]
    several: bool
    options: CsvOptions
    settle: Callable[..., tuple[Sniffed | None, CsvOptions]] | None
    cut: BatchCut
    infer: str
    resume: Position | None
    to: Device | None = None


@dataclass(slots=True)
class ScanState:
    """A scan that has begun."""

    closing: ExitStack
    options: CsvOptions
    sniffed: Sniffed | None
    plans: PlannedFiles
    parts: ScanParts
    several: bool
    device: str
    settled: SettledTypes | None = None
    empty: dict[str, Column] | None = None

    def settle(self) -> None:
        """Types that the whole text calls for, by passes over it."""
        self.settled = settle_types(self.plans, self.parts)

    def settle_by(self, part: FilePart, from_first: bool) -> SettledTypes:
        """The part's types for all, of which there may be no more."""
        self.settled = SettledTypes(types_of(self.plans, part), from_first, 0)
        return self.settled

    def table(self, part: FilePart, settled: SettledTypes, account: Account) -> Table:
        """The rows of a part."""
        plans, planned = self.plans, self.plans.planned
        columns = self._row_index([] if part.row_index is None else [part.row_index])
        at = {place: position for position, place in enumerate(part.places)}
        for place in planned.wanted:
            name, kind = planned.names[place], settled.types[place]
            if name in columns:
                raise OptionError(f"row_index_name={name!r} is the name of a column; choose another")
            piece = part.give(at.get(place), kind)
            column = piece if isinstance(piece, Column) else plans.shared.join([piece], kind)[0]
            columns[name] = self.parts.encoded(column, planned.types[place])
        of_paths = {}
        for name, column, found, is_given in plans.of_paths([part]):
            columns[name] = column
            of_paths[name] = None if is_given else found
        rejects = self._rejects(part.rejects, part.plan.file)
        return Table(columns, rejects=Table(rejects), report=account.batch(part, columns, settled, of_paths))

    def empty_columns(self) -> dict[str, Column]:
        """The table's columns without a row."""
        plans, planned = self.plans, self.plans.planned
        types = self.settled.types if self.settled else [given and given.loaded_as for given in planned.types]
        columns = self._row_index([])
        for place in planned.wanted:
            column = plans.shared.join([0], types[place] or parse_type("string"))[0]
            columns[planned.names[place]] = plans.encoded(column, planned.types[place])
        return columns | {name: column for name, column, _, _ in plans.of_paths([])}

    def describe_empty(self, account: Account) -> None:
        """Account for the columns of a text that gave no batch."""
        of_paths = {name: None if is_given else found for name, _, found, is_given in self.plans.of_paths([])}
        account.describe(self.empty_columns(), of_paths)

    def empty_rejects(self) -> Mapping[str, Column]:
        """The table of rejects without a row."""
        return self._rejects(no_rejects(), 0)

    def _rejects(self, found: Mapping[str, Column], file: int) -> Mapping[str, Column]:
        """Rejects of a file; of several, with its name."""
        if not self.several:
            return found
        names, _ = column_of_texts("file", self.plans.names, parse_type("large_string"), self.options)
        return {"file": self.plans.shared.join([(names, file, len(found["record"]))], names.type)[0], **found}

    def joined(self, parts: Sequence[Column], like: Column) -> Column:
        """Columns of batches below each other."""
        if len(parts) < 2:
            return parts[0] if parts else like
        if like.type.name in ("string_view", "dictionary"):
            raise OptionError(f"columns of type {like.type} are not joined; read_csv reads them as a whole")
        return self.parts.joined(parts, like.type)

    def _row_index(self, parts: list[Column]) -> dict[str, Column]:
        wanted = self.options.row_index
        return {} if wanted is None else {wanted.name: parts[0] if parts else self.plans.shared.join([], parse_type("int64"))[0]}


def start(request: ScanRequest) -> ScanState:
    """Look at all files, and settle types where that takes the whole text."""
    options, sniffed = request.options, None
    limit = options.context.memory_limit
    with ExitStack() as closing:
        keeping = Keeping(closing, room=min(KEPT_BYTES, limit // 4) if limit else KEPT_BYTES)
        files = [scanned_file(number, source, options, keeping) for number, source in enumerate(request.sources, 1)]
        for file in files:
            closing.callback(file.close)
        if request.settle is not None:
            for file in files:
                file.look_at(options)
            sniffed, options = request.settle(files, options=options)
            files = [held_if_needed(file, options) for file in files]
        for file in files:
            file.look(options)
        plans = PlannedFiles(files, options)
        parts, device = _parts(plans, files, options, request.cut)
        state = ScanState(closing, options, sniffed, plans, parts, request.several, device)
        if request.infer == "all" and not _is_one_batch(files, request):
            state.settle()
        state.closing = closing.pop_all()
        return state


def _parts(plans: PlannedFiles, files: list[ScannedFile], options: CsvOptions, cut: BatchCut) -> tuple[ScanParts, str]:
    """How the text is read, and what is said of where."""
    device = options.context.device
    if device.kind == "cpu":
        return CpuParts(plans, files, options, cut), "cpu"
    from headrace.api.scan.scan_gpu import GpuParts, why_not  # it needs the packages of a GPU

    why = why_not(files, options)
    if not why:
        return GpuParts(plans, files, options, cut), str(device)
    return CpuParts(plans, files, options, cut), f"cpu, because of {why}; then {device}"


def _is_one_batch(files: Sequence[ScannedFile], request: ScanRequest) -> bool:
    """Whether a part of the text is all of it, so that its types are those of all, unless too little memory cuts it smaller."""
    return len(files) == 1 and not files[0].comes_in_order and files[0].size <= request.cut.nbytes and request.resume is None
