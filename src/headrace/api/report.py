"""What a read did: counts that add up, types with their evidence, seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from headrace.api.sniffed import Sniffed
from headrace.columns.header import HeaderDecision
from headrace.columns.plan.load_plan import Evidence
from headrace.columns.types import DataType
from headrace.core.options import integer
from headrace.core.transfers import Crossings

__all__ = ["ColumnReport", "Evidence", "FileReport", "HeaderDecision", "Position", "Report", "Skipped"]


@dataclass(frozen=True, slots=True)
class Skipped:
    """Records and lines that an option left out.

    Parameters
    ----------
    header
        Records that hold the names.
    blank, comment
        Lines between records.
    preamble
        Lines and records in front of the header.
    rows
        Records of data behind the header.
    footer
        Records at the end.
    """

    header: int = 0
    blank: int = 0
    comment: int = 0
    preamble: int = 0
    rows: int = 0
    footer: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.header + self.blank + self.comment + self.preamble + self.rows + self.footer

    def __str__(self) -> str:
        """`3 header, 1 blank`; what always may be there first, the others only where there are any."""
        asked = [f"{count:_} {name}" for name in ("preamble", "rows", "footer") if (count := getattr(self, name))]
        return ", ".join([f"{self.header:_} header", f"{self.blank:_} blank", f"{self.comment:_} comment", *asked])


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """How a column came to its type.

    Parameters
    ----------
    name, type
        Of the column.
    inferred
        False if the caller gave the type.
    evidence
        The first field that no narrower type would have held; None for a given type, or where all fields are null.
    nulls
        Rows that are null.
    """

    name: str
    type: DataType
    inferred: bool
    evidence: Evidence | None
    nulls: int

    @property
    def rounded(self) -> Evidence | None:
        """The first integer that the column, which other values make float64, does not hold exactly; None if there is none."""
        return None if self.evidence is None else self.evidence.rounded

    def __str__(self) -> str:
        if not self.inferred:
            why = "given"
        elif self.evidence is None:
            why = "no value"
        else:
            why = str(self.evidence)
        name = self.name if self.name.isprintable() else repr(self.name)
        rounded = "" if self.rounded is None else f"; integers are rounded from {self.rounded} on"
        return f"{name}: {self.type} ({why}; {self.nulls:_} null{rounded})"


@dataclass(frozen=True, slots=True)
class Position:
    """Where a batch of a scan ends, and another scan of the same sources can begin.

    Parameters
    ----------
    byte
        Of the (decompressed) text of a file: behind a record and its line end.
    record
        Records of data in front of it in that file.
    file
        Number of the file, from 0.
    earlier
        Records of data in the files before.
    """

    byte: int = 0
    record: int = 0
    file: int = 0
    earlier: int = 0

    def __post_init__(self) -> None:
        for name in ("byte", "record", "file", "earlier"):
            object.__setattr__(self, name, integer(name, getattr(self, name), "an integer from 0 on", 0))


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one of several files.

    Parameters
    ----------
    path
        As it was given or matched; ``"<bytes>"`` and the like for what has none.
    bytes, records, rows, rejected, skipped
        As in `Report`, of this file.
    """

    path: str
    bytes: int
    records: int
    rows: int
    rejected: int
    skipped: Skipped

    def check(self) -> None:
        """Raise AssertionError unless records = rows + rejected + skipped."""
        found = self.rows + self.rejected + self.skipped.total
        if self.records != found:
            raise AssertionError(f"{self.path}: {self.records} records, but {found} rows, rejected and skipped")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Account of one read.

    Parameters
    ----------
    bytes
        Size of the text that was read: of the source, or of what it was decoded to in memory.
    records
        Everything between two line ends: rows, rejected and left out.
    rows
        Rows of the table.
    rejected
        Records that are in ``table.rejects`` and not in the table.
    skipped
        Records that an option left out.
    filled
        Rows whose records were short, filled with nulls as ``short_records`` asked.
    unread_bytes
        Bytes that nobody looked at, because ``n_rows`` were read.
    faults
        Rows of ``table.rejects``, those of kept records included.
    columns
        Types and their evidence.
    renamed
        Names of the header that had to change: position and name, and what it is now.
    seconds
        ``prepare``, ``total`` and ``finish`` in wall time; ``find`` and ``convert`` add up all threads.
    replaced
        Strings in which U+FFFD stands for what could not be decoded (``encoding_errors="replace"``).
    passes
        How often the text was read: a second time if a type that the first records suggested did not hold to the end.
    header
        Whether the first record was taken for the header, and the reason; None if there is no record.
    sniffed
        With ``dialect="auto"``: what was proposed, and why.
    device, threads, isa
        Where the work ran.
    copied_by
        Of a scan on a GPU: who copied the text there: threads through pinned memory, or the GPU itself.
    crossings
        Bytes that went between host and GPU for this read.
    files
        Where several files were read: each, in order. The counts above are their sums.
    end
        Of a batch of a scan: where it ends, for `scan_csv`'s ``resume``.
    inferred_from
        ``"all"`` of the text, or ``"first"``: types are those of a scan's first batch, and what does not fit them is a fault.
    """

    bytes: int
    records: int
    rows: int
    rejected: int
    skipped: Skipped
    faults: int
    columns: Sequence[ColumnReport]
    renamed: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    replaced: int = 0
    passes: int = 1
    filled: int = 0
    unread_bytes: int = 0
    header: HeaderDecision | None = None
    sniffed: Sniffed | None = None
    device: str = "cpu"
    threads: int = 1
    isa: str = ""
    crossings: Crossings = field(default_factory=Crossings)
    files: tuple[FileReport, ...] = ()
    end: Position | None = None
    inferred_from: str = "all"
    copied_by: str = ""

    def check(self) -> None:
        """Raise AssertionError unless records = rows + rejected + skipped, in all and in each file."""
        for file in self.files:
            file.check()
        for count in ("bytes", "records", "rows", "rejected") if self.files else ():
            if getattr(self, count) != sum(getattr(file, count) for file in self.files):
                raise AssertionError(f"{count} of all files are not the sum of each one's")
        found = self.rows + self.rejected + self.skipped.total
        if self.records != found:
            raise AssertionError(f"{self.records} records, but {found} rows, rejected and skipped")

    def __reduce__(self) -> tuple[Any, ...]:
        known = {each.name: getattr(self, each.name) for each in fields(self)}
        return _remade, (known | {"renamed": dict(self.renamed), "seconds": dict(self.seconds)},)  # views are no pickles

    def __str__(self) -> str:
        skipped = self.skipped
        mended = f"strings mended with U+FFFD: {self.replaced:_}; " if self.replaced else ""
        lines = [f"{len(self.files):_} files"] if self.files else []
        lines += [
            f"{self.bytes:_} bytes, {self.records:_} records = {self.rows:_} rows + {self.rejected:_} rejected + "
            f"{skipped.total:_} skipped ({skipped})",
            f"faults: {self.faults:_}; {mended}passes over the text: {self.passes}",
            f"device: {self.device}, {self.isa}; threads: {self.threads}",
            "seconds: " + ", ".join(f"{stage} {seconds:.3f}" for stage, seconds in self.seconds.items()),
        ]
        if self.crossings.copies:
            lines.append(f"copied to a GPU: {self.crossings.to_gpu:_} bytes, to the host: {self.crossings.to_host:_}")
        if self.copied_by:
            lines.append(f"text copied to the GPU by {self.copied_by}")
        if self.inferred_from == "first":
            lines.append("types are those of the first batch")
        if self.header is not None and self.header.inferred:
            lines.append(str(self.header))
        if self.filled:
            lines.append(f"short records filled with nulls: {self.filled:_}")
        if self.unread_bytes:
            lines.append(f"not read, behind the last row: {self.unread_bytes:_} bytes")
        lines += [f"renamed {old} to {new!r}" for old, new in self.renamed.items()]
        return "\n".join(lines + [f"  {column}" for column in self.columns])


def _remade(known: dict[str, Any]) -> Report:
    return Report(**known)
