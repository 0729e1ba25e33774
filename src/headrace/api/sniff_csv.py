"""`sniff_csv`: how a delimited text is written, proposed from a bounded sample of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal

from headrace.api.csv_options import CsvOptions, parse_options
from headrace.api.propose import Wishes, propose
from headrace.api.sniffed import OPTIONS, Sniffed
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.core.options import Given
from headrace.sources.open import OpenSource, Readable, SourceLike, open_source
from headrace.structure.sample import DEFAULT_SAMPLE_BYTES

AUTO = "auto"
"""An option that is to be found."""


def sniff_csv(
    source: SourceLike,
    *,
    sep: str | bytes = AUTO,
    quote_char: str | bytes | None = AUTO,
    double_quote: bool = True,
    lenient_quotes: bool | Literal["auto"] = "auto",
    escape_char: str | bytes | None = AUTO,
    comment: str | bytes | None = AUTO,
    lineterminator: str | bytes | None = AUTO,
    skip_initial_space: bool | Literal["auto"] = "auto",
    skip_blank_lines: bool = True,
    header: bool | Literal["auto"] = "auto",
    skip_rows: int | Literal["auto"] = "auto",
    sample_bytes: int = DEFAULT_SAMPLE_BYTES,
    context: Context | None = None,
) -> Sniffed:
    """Propose how a text is written, with the evidence and what the proposal would leave out.

    Only the beginning of the source and three windows of 16 KB from further on are read, so that it takes as long for a large
    file as for a small one.

    Parameters
    ----------
    source
        Path, bytes or file object. A file object has to be able to seek, and stands afterwards where it stood; only its
        beginning is looked at.
    sep, quote_char, lenient_quotes, escape_char, comment, lineterminator, skip_initial_space, header, skip_rows
        As in `read_csv`; ``"auto"`` to find it. What is given is not questioned.
    double_quote, skip_blank_lines
        As in `read_csv`.
    sample_bytes
        Bytes of the beginning to look at.
    context
        Instruction set; None for the default.

    Returns
    -------
    Sniffed
        ``read_csv(source, **sniffed.options)`` reads what it proposes; ``print(sniffed)`` tells why.

    Raises
    ------
    EmptyInputError
        The sample holds no record.
    OptionError
        Given options contradict each other, or the source is no source.
    SourceError, FileNotFoundError
        The source cannot be read, or is no text.

    Notes
    -----
    Every likely combination of separator, quote, comment prefix and escape reads the sample; its score is the product of how
    regular the records are and how much their fields look like values. Of equals the more usual one is proposed: comma
    before tab, semicolon, bar, others; double quotes; no escape; no comment.

    Examples
    --------
    >>> import headrace
    >>> sniffed = headrace.sniff_csv(b"exported by hand\\ncity;founded\\nRome;-753\\nOslo;1048\\n")
    >>> sniffed.sep, sniffed.header, sniffed.skipped
    (';', True, ((1, 'exported by hand'),))
    >>> sniffed.schema["founded"]
    'int64'
    """
    given = {name: value for name, value in locals().items() if name not in ("source", "sample_bytes", "context")}
    with _beginning(source, sample_bytes) as opened:
        return propose(opened, wishes_of(given), sample_bytes=sample_bytes, context=context or Context())


def wishes_of(values: Mapping[str, object]) -> Wishes:
    """What a caller said of the options that can be found; ``"auto"`` says nothing."""
    said = {name: value for name, value in values.items() if not isinstance(value, str) or value != AUTO}
    names = {"quote_char": "quote", "escape_char": "escape", "lineterminator": "line_end", "lenient_quotes": "lenient"}
    dialect = {names.get(name, name): value for name, value in said.items() if name not in ("header", "skip_rows")}
    lines = Given(said).whole("skip_rows") if "skip_rows" in said else None
    return Wishes(dialect, said.get("header"), lines)  # type: ignore[arg-type]


def sniff_rest(
    source: OpenSource, values: Mapping[str, object], defaults: Mapping[str, object], options: CsvOptions
) -> tuple[Sniffed, CsvOptions]:
    """A proposal for a read of `source`, and the read's options with it: what has its default is to be found, the rest stays.

    Lines to skip are not proposed where the caller names the header by its index, which counts from the first line.
    """
    known = {name: values[name] for name in (*OPTIONS, "skip_blank_lines") if values[name] != defaults[name]}
    if options.extent.header is not None:
        known |= {"skip_rows": options.extent.skip_rows, "header": True}
    wishes = replace(wishes_of(known), header_records=options.extent.header)
    sniffed = propose(source, wishes, context=options.context)
    found = {name: value for name, value in sniffed.options.items() if name not in known}
    return sniffed, parse_options({**values, **found})


@contextmanager
def _beginning(source: object, sample_bytes: int) -> Iterator[OpenSource]:
    """`source` open; of a file object its beginning."""
    if not isinstance(source, Readable):
        with open_source(source) as opened:
            yield opened
        return
    if not getattr(source, "seekable", lambda: False)():
        raise OptionError("sniff_csv would use up a stream that cannot seek; read_csv(..., dialect='auto') reads it as a whole")
    place = source.tell()  # type: ignore[attr-defined]
    try:
        beginning = source.read(sample_bytes)  # type: ignore[call-arg]
    finally:
        source.seek(place)  # type: ignore[attr-defined]
    with open_source(beginning.encode() if isinstance(beginning, str) else beginning) as opened:
        yield opened
