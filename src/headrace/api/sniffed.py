"""Defines `Sniffed`, the proposal of `sniff_csv` with its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headrace.api.options.table import DEFAULTS
from headrace.api.options.text_options import TEXT_OPTIONS
from headrace.structure.dialect import DialectOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Sniffed(DialectOptions[str]):
    """A proposal of how a text is written. `Sniffed.options` are the keywords for `read_csv`.

    Parameters
    ----------
    sep, quote_char, lineterminator
        As in `read_csv`, and so are the other options of a dialect; a `lineterminator` of None is any of LF, CR LF and CR.
    line_ends
        Line terminators that occur in the sample, e.g. ``("\\r\\n",)``.
    header
        Whether the first record after `skip_rows` holds the names; or the indexes of the records whose names are joined.
    header_reason
        The reason, in words.
    skip_rows
        Number of lines before the table: the preamble.
    short_records, long_records
        Policies for records of another width. None if the sample has no such records.
    skip_footer
        Number of records after the table. 0 if the sample is not the whole text.
    decimal
        Decimal point of the numbers. `options` has it only if it is a comma.
    thousands
        Mark between thousands. None if no number shows one.
    schema
        Mapping from name to type of each column, as `read_csv` infers them from the sample alone.
    skipped
        Lines of the sample that `skip_rows`, `comment` and `skip_footer` leave out: number from 1, and text.
    null_values
        Words that seem to mean null, because a column is text only for their sake. If there are any, `options` has
        ``null_values="auto"``.
    agreement
        Share, 0 to 1, of the sample's records that have the usual number of fields and well-formed quotes. The smaller one of
        that of the beginning and that of the windows.
    evidence
        The reasons, as lines of text.
    sample_bytes
        Number of bytes read.
    """

    line_ends: tuple[str, ...]
    header: bool | tuple[int, ...]
    skip_rows: int
    short_records: str | None
    long_records: str | None
    skip_footer: int
    schema: Mapping[str, str]
    skipped: tuple[tuple[int, str], ...]
    null_values: tuple[str, ...]
    agreement: float
    evidence: tuple[str, ...]
    sample_bytes: int
    header_reason: str = ""
    decimal: str = "."
    thousands: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self.schema)

    @property
    def options(self) -> dict[str, object]:
        """Keywords for `read_csv`; `strip`, policies, marks and ``null_values="auto"`` only if the sample needs them.

        Options of a dialect that no text shows are kept as they were given, unless that is their default.
        """
        values = {name: getattr(self, name) for name in (*OPTIONS, *SELDOM, *POLICIES)}
        values["null_values"] = "auto" if self.null_values else ()
        values |= {"decimal": "" if self.decimal == "." else self.decimal, "thousands": self.thousands}
        given = {name: getattr(self, name) for name in GIVEN if getattr(self, name) != DEFAULTS[name]}
        return {name: value for name, value in values.items() if name in OPTIONS or value} | given

    def __str__(self) -> str:
        chosen = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        columns = [f"  {name if name.isprintable() else repr(name)}: {kind}" for name, kind in self.schema.items()]
        return "\n".join([chosen, *self.evidence, *columns])


POLICIES = ("short_records", "long_records", "skip_footer")
"""Options of `read_csv` that are proposed only if the sample needs them."""

OPTIONS = tuple(option.name for option in TEXT_OPTIONS if option.is_always_proposed)
"""Options of `read_csv` that are always proposed."""

SELDOM = tuple(option.name for option in TEXT_OPTIONS if option.is_found and not option.is_always_proposed)
"""Options of `read_csv` that are proposed only if they are set."""

GIVEN = tuple(name for name in DialectOptions.names() if name not in (*OPTIONS, *SELDOM))
"""Options of a dialect that are given, and not proposed."""
