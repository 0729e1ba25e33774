"""Defines `Report`, the account of a read: counts of records, types with their evidence, times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from headrace.columns.buffers.load_result import Evidence
from headrace.columns.header import HeaderDecision
from headrace.columns.types import DataType
from headrace.core.options import integer
from headrace.core.transfers import Crossings

if TYPE_CHECKING:
    from headrace.api.sniffed import Sniffed

__all__ = ["ColumnReport", "Evidence", "FileReport", "HeaderDecision", "Position", "Report", "Skipped"]


@dataclass(frozen=True, slots=True)
class Skipped:
    """Numbers of records and lines that options left out.

    Parameters
    ----------
    header
        Records that hold the names.
    blank
        Blank lines.
    comment
        Lines of comments.
    preamble
        Lines and records before the header.
    rows
        Data records after the header (``skip_rows_after_header``).
    footer
        Records at the end.
    where
        Data records for which the condition of `Scan.where`, or of ``scan_csv(where=...)``, is not true.
    """

    header: int = 0
    blank: int = 0
    comment: int = 0
    preamble: int = 0
    rows: int = 0
    footer: int = 0
    where: int = 0

    @property
    def total(self) -> int:
        """Sum of all counts."""
        return self.header + self.blank + self.comment + self.preamble + self.rows + self.footer + self.where

    def __str__(self) -> str:
        """Return e.g. ``1 header, 3 blank, 0 comment, 2 rows``; the counts that options ask for only if they are not 0."""
        optional = [f"{count:_} {name}" for name in ("preamble", "rows", "footer", "where") if (count := getattr(self, name))]
        return ", ".join([f"{self.header:_} header", f"{self.blank:_} blank", f"{self.comment:_} comment", *optional])


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """The type of a column, and the reason for it.

    Parameters
    ----------
    name
        Name of the column.
    type
        Type of the column.
    inferred
        Whether the type was inferred; False if the caller gave it.
    evidence
        The first field that no narrower type holds. None if the type was given, or if all fields are null.
    nulls
        Number of nulls.
    """

    name: str
    type: DataType
    inferred: bool
    evidence: Evidence | None
    nulls: int

    @property
    def rounded(self) -> Evidence | None:
        """The first integer that a float64 column rounds; None if there is none."""
        return None if self.evidence is None else self.evidence.rounded

    def _reason(self, evidence: Evidence) -> str:
        """Return the field that decided the type; for a word such as NA also the option that makes it null."""
        from headrace.columns.plan.value_forms import NULL_WORDS  # not needed before a report is printed

        if not self.type.is_string or evidence.text not in NULL_WORDS:
            return str(evidence)
        word = evidence.text.decode()
        return f"text because of {evidence}; pass null_values=['', {word!r}] if it means null"

    def __str__(self) -> str:
        if not self.inferred:
            why = "given"
        elif self.evidence is None:
            why = "no value"
        else:
            why = self._reason(self.evidence)
        name = self.name if self.name.isprintable() else repr(self.name)
        rounded = "" if self.rounded is None else f"; integers are rounded from {self.rounded} on"
        return f"{name}: {self.type} ({why}; {self.nulls:_} null{rounded})"


@dataclass(frozen=True, slots=True)
class Position:
    """The end of a batch of a scan, where another scan of the same sources can begin.

    Parameters
    ----------
    byte
        Offset in the (decompressed) text of a file: the first byte after a record and its line terminator.
    record
        Number of data records before it in that file.
    file
        Index of the file, from 0.
    earlier
        Number of data records in all files before that file.
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
    """The counts of one of several files.

    Parameters
    ----------
    path
        The path as it was given or matched; ``"<bytes>"`` and the like for sources without one.
    bytes, records, rows, rejected, skipped
        As in `Report`, for this file.
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
    """The account of a read, a batch or a scan.

    Parameters
    ----------
    bytes
        Size of the text in bytes: of the source, or of the decoded text if that was held in memory. A scan counts up to its last
        record.
    records
        Number of records: rows, rejected and skipped.
    rows
        Number of rows of the table.
    rejected
        Number of records that are in ``table.rejects`` and not in the table.
    skipped
        Records that an option left out.
    filled
        Number of rows that were filled with nulls, because their records are short (``short_records="null"``).
    unread_bytes
        Number of bytes that were not read, because of ``n_rows``.
    faults
        Number of faults, also of records that stay: the rows of ``table.rejects``, unless `max_rejects` limits them.
    columns
        Types of the columns and their evidence.
    renamed
        Names of the header that had to change: position and old name, to new name.
    seconds
        Seconds by stage: ``prepare``, ``finish`` and ``total`` in wall time, ``find`` and ``convert`` summed over all threads.
    replaced
        Number of strings in which U+FFFD replaces bytes that cannot be decoded (``encoding_errors="replace"``).
    passes
        Number of passes over the text. There is a second pass if a type that the first records suggested does not fit later
        records.
    header
        Whether the first record is the header, and the reason. None if there is no record.
    sniffed
        The proposal of ``dialect="auto"``. None without it.
    device
        Device that the work ran on.
    threads
        Greatest number of threads.
    isa
        Instruction set of the CPU kernels.
    copied_by
        For a scan on a GPU, the means by which the text was copied there: threads through pinned memory, or the GPU itself. Empty
        otherwise.
    crossings
        Bytes copied between host and GPU for this read.
    files
        The counts of each file, if several were read, in order. The counts above are their sums.
    end
        For a batch of a scan, its end, to be passed to `scan_csv` as ``resume``. None otherwise.
    inferred_from
        ``"all"``: types are inferred from the whole text. ``"first"``: types are those of a scan's first batch, and other values
        are faults.
    notes
        Arguments of the call that change nothing, such as ``low_memory``, with the reason.
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
    notes: tuple[str, ...] = ()

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
        return _remade, (
            known | {"renamed": dict(self.renamed), "seconds": dict(self.seconds)},
        )  # read-only views cannot be pickled

    def __str__(self) -> str:
        skipped = self.skipped
        replaced = f"strings with U+FFFD for undecodable bytes: {self.replaced:_}; " if self.replaced else ""
        lines = [f"{len(self.files):_} files"] if self.files else []
        lines += [
            f"{self.bytes:_} bytes, {self.records:_} records = {self.rows:_} rows + {self.rejected:_} rejected + "
            f"{skipped.total:_} skipped ({skipped})",
            f"faults: {self.faults:_}; {replaced}passes over the text: {self.passes}",
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
            lines.append(f"not read, after the last row: {self.unread_bytes:_} bytes")
        lines += [f"renamed {old} to {new!r}" for old, new in self.renamed.items()]
        lines += self.notes
        return "\n".join(lines + [f"  {column}" for column in self.columns])


def _remade(known: dict[str, Any]) -> Report:
    return Report(**known)
