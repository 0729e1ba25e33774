"""What `sniff_csv` proposes, and what speaks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sniffed:
    """A proposal of how a text is written; `options` are those for `read_csv`.

    Parameters
    ----------
    sep, quote_char, double_quote, lenient_quotes, strict_quotes, escape_char, comment, skip_initial_space
        As in `read_csv`.
    lineterminator
        What `read_csv` is to be told: None for any of LF, CR LF and CR.
    line_ends
        Those that the sample has, e.g. ``("\\r\\n",)``.
    header
        Whether the first record after `skip_rows` holds names; or the indexes of the records whose names are joined.
    header_reason
        Why that is so, in words.
    skip_rows
        Lines in front of the table: the preamble.
    short_records, long_records
        Policies for records of another width, if the sample has such; else None.
    skip_footer
        Records after the table, if the sample is the whole text.
    schema
        Name to type of each column, as `read_csv` would infer them from the sample alone.
    skipped
        What `skip_rows`, `comment` and `skip_footer` leave out of the sample: number of the line from 1, and its text.
    null_values
        Words that seem to mean null: without them a column would be no text. They are not in `options`, which hold for all
        columns.
    agreement
        0 to 1: share of the sample's records that have the steady number of fields and well-formed quotes; the smaller of the
        beginning's and the windows'.
    evidence
        Why, in lines to read.
    sample_bytes
        Bytes looked at.
    """

    sep: str
    quote_char: str | None
    double_quote: bool
    lenient_quotes: bool
    strict_quotes: bool
    escape_char: str | None
    comment: str | None
    lineterminator: str | None
    skip_initial_space: bool
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

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.schema)

    @property
    def options(self) -> dict[str, object]:
        """Keywords for `read_csv`; policies only where the sample needs them."""
        values = {name: getattr(self, name) for name in (*OPTIONS, *POLICIES)}
        return {name: value for name, value in values.items() if name in OPTIONS or value}

    def __str__(self) -> str:
        chosen = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        columns = [f"  {name if name.isprintable() else repr(name)}: {kind}" for name, kind in self.schema.items()]
        return "\n".join([chosen, *self.evidence, *columns])


POLICIES = ("short_records", "long_records", "skip_footer")
"""Options of `read_csv` that are proposed where the sample needs them."""

OPTIONS = (
    "sep",
    "quote_char",
    "double_quote",
    "lenient_quotes",
    "strict_quotes",
    "escape_char",
    "comment",
    "lineterminator",
    "skip_initial_space",
    "header",
    "skip_rows",
)
"""Options of `read_csv` that are proposed."""
