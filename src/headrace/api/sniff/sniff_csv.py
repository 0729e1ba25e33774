"""`sniff_csv`: how a delimited text is written, proposed from a bounded sample of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from headrace.api.options.csv_options import CsvOptions, Keywords, parse_one, parse_options, source_options
from headrace.api.options.table import DEFAULTS
from headrace.api.sniff.propose import Wishes, propose
from headrace.api.sniffed import OPTIONS, POLICIES, Sniffed
from headrace.core.context import Context, context_of
from headrace.core.errors import EmptyInputError, OptionError, shown
from headrace.core.options import flag, positive
from headrace.sources.compressed import CompressionName
from headrace.sources.find_files import list_sources
from headrace.sources.open import OpenSource, SourceLike, open_beginning
from headrace.sources.reopen import ReopenedSource
from headrace.structure.sample import DEFAULT_SAMPLE_BYTES

AUTO = "auto"
"""An option that is to be found."""


def sniff_csv(
    source: SourceLike | Iterable[SourceLike],
    *,
    sep: str | bytes = AUTO,
    quote_char: str | bytes | None = AUTO,
    double_quote: bool = True,
    lenient_quotes: bool | Literal["auto"] = "auto",
    strict_quotes: bool = False,
    escape_char: str | bytes | None = AUTO,
    comment: str | bytes | None = AUTO,
    lineterminator: str | bytes | None = AUTO,
    skip_initial_space: bool | Literal["auto"] = "auto",
    skip_blank_lines: bool = True,
    header: bool | Literal["auto"] = "auto",
    skip_rows: int | Literal["auto"] = "auto",
    compression: CompressionName | Literal["infer"] | None = "infer",
    encoding: str | None = None,
    glob: bool = True,
    sample_bytes: int = DEFAULT_SAMPLE_BYTES,
    context: Context | None = None,
) -> Sniffed:
    """Propose how a text is written, with the evidence and what the proposal would leave out.

    Only the beginning of the source and three windows of 16 KB from further on are read, so that it takes as long for a large
    file as for a small one; of a compressed one only the beginning is.

    Parameters
    ----------
    source
        Path, bytes or file object; or several, as a list or a pattern, of which the first that holds a record counts. A file
        object has to be able to seek, and stands afterwards where it stood; only its beginning is looked at. Of a stream
        that cannot, such as standard input, pass the first bytes: ``sys.stdin.buffer.peek()`` leaves them to be read.
    sep, quote_char, lenient_quotes, escape_char, comment, lineterminator, skip_initial_space, header, skip_rows
        As in `read_csv`; ``"auto"`` to find it. What is given is not questioned.
    double_quote, strict_quotes, skip_blank_lines, compression, encoding, glob
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
    NoMatchError
        A pattern matches no file.
    MissingDependencyError
        A package that the source is decompressed with is not installed.

    Notes
    -----
    Every likely combination of separator, quote, comment prefix and escape reads the sample; its score is the product of how
    regular the records are and how much their fields look like values. A whole time, date, address or link outweighs its parts.
    A dialect that leaves lines out counts half if another one reads every line. Of equals the more usual one is proposed: comma
    before tab, semicolon, bar, others; double quotes; no escape; no comment.

    The proposal has read its own sample. Records of another width get policies (``short_records="null"``; ``long_records`` is
    ``"widen"`` if most records are too long, else ``"truncate"``), malformed quotes ``lenient_quotes=True`` or no quotes. Titles,
    pairs and padded lines before the table are preamble, notes after it a footer if the sample is the whole text. Two records of
    names, groups over names or names over units, are joined: ``header=(0, 1)``.

    Examples
    --------
    >>> import headrace
    >>> sniffed = headrace.sniff_csv(b"exported by hand\\ncity;founded\\nRome;-753\\nOslo;1048\\n")
    >>> sniffed.sep, sniffed.header, sniffed.skipped
    (';', True, ((1, 'exported by hand'),))
    >>> sniffed.schema["founded"]
    'int64'
    """
    given: dict[str, object] = {
        "sep": sep,
        "quote_char": quote_char,
        "double_quote": double_quote,
        "lenient_quotes": lenient_quotes,
        "strict_quotes": strict_quotes,
        "escape_char": escape_char,
        "comment": comment,
        "lineterminator": lineterminator,
        "skip_initial_space": skip_initial_space,
        "skip_blank_lines": skip_blank_lines,
        "header": header,
        "skip_rows": skip_rows,
    }
    context = context_of(context)
    forms = {"compression": parse_one("compression", compression), "encoding": encoding, "encoding_errors": "replace"}
    options = source_options(forms, context)
    several = list_sources(source, glob=flag("glob", glob), hive=False)
    wishes = wishes_of(given)
    sample_bytes = positive("sample_bytes", sample_bytes)

    def sniff(one: object) -> Sniffed:
        with open_beginning(one, options, sample_bytes) as opened:
            return propose(opened, wishes, sample_bytes=sample_bytes, context=context)

    if several is None:
        return sniff(source)
    names = [str(one) if isinstance(one, str | os.PathLike) else shown(one) for one in several]
    return _first_with_content([(name, partial(sniff, one)) for name, one in zip(names, several, strict=True)])


def _first_with_content(sniffs: Sequence[tuple[str, Callable[[], Sniffed]]]) -> Sniffed:
    """The proposal for the first of several sources, each with its name, that holds a record."""
    for number, (name, sniff) in enumerate(sniffs, 1):
        try:
            sniffed = sniff()
        except EmptyInputError:
            continue
        which = f"{name!r}, number {number} of {len(sniffs)}" + (", the first that holds a record" if number > 1 else "")
        return replace(sniffed, evidence=(which, *sniffed.evidence))
    raise EmptyInputError(f"none of {len(sniffs)} sources holds a record; nothing can be said of how they are written")


def wishes_of(values: Mapping[str, object]) -> Wishes:
    """What a caller said of the options that can be found; ``"auto"`` says nothing."""
    said = {name: value for name, value in values.items() if not isinstance(value, str) or value != AUTO}
    others = ("header", "skip_rows", *POLICIES)
    dialect = {name: _encoded(value) for name, value in said.items() if name not in others}
    lines = parse_one("skip_rows", said["skip_rows"]) if "skip_rows" in said else None
    header = flag("header", said["header"]) if "header" in said else None
    return Wishes(dialect, header, lines)


def _encoded(value: object) -> object:
    """A text as the bytes that a `Dialect` keeps; what cannot be encoded stays as it is, for `Dialect` to refuse."""
    try:
        return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    except UnicodeEncodeError:
        return value


def sniff_rest(
    source: OpenSource,
    values: Keywords,
    options: CsvOptions,
    *,
    whole: bool = True,
) -> tuple[Sniffed | None, CsvOptions]:
    """A proposal for a read of `source`, and the read's options with it: what has its default is to be found, the rest stays.

    Lines to skip are not proposed where the caller names the header by its index, which counts from the first line; policies for
    records not where `on_error` is given. A text without records leaves all as it is, and the read says what that means.
    """
    known = {name: values[name] for name in (*OPTIONS, "skip_blank_lines") if values[name] != DEFAULTS[name]}
    if options.extent.header is not None:
        known |= {"skip_rows": options.extent.skip_rows, "header": True}
    wishes = replace(
        wishes_of(known),
        header_records=options.extent.header,
        columns=None if options.schema.names is None else len(options.schema.names),
        policies=_open_policies(values, whole=whole),
    )
    try:
        sniffed = propose(source, wishes, context=options.context)
    except EmptyInputError:
        return None, options
    found = {name: value for name, value in sniffed.options.items() if name not in known}
    settled = parse_options({**values, **found})
    if "header" in found:
        settled = replace(settled, schema=replace(settled.schema, reason=sniffed.header_reason))
    return sniffed, settled


def _open_policies(values: Keywords, *, whole: bool) -> tuple[str, ...]:
    """The policies that may be proposed; a footer only of a text that is read as a `whole`."""
    open_ones = [name for name in POLICIES if values[name] == DEFAULTS[name]]
    if values["on_error"] != DEFAULTS["on_error"]:
        open_ones = [name for name in open_ones if name not in ("short_records", "long_records")]
    return tuple(name for name in open_ones if whole or name != "skip_footer")


def sniff_files(files: Sequence[ReopenedSource], values: Keywords, options: CsvOptions) -> tuple[Sniffed | None, CsvOptions]:
    """`sniff_rest` for several sources: the first that holds a record says how all are written.

    A footer is not proposed for several: records at the end of another file may be its data.

    Raises
    ------
    OptionError
        Lines are to be left out in front of the first, but not as many in front of another: they may be its data.
    """
    settled: list[CsvOptions] = []

    def sniff(file: ReopenedSource) -> Sniffed:
        with file.opened() as opened:
            sniffed, found = sniff_rest(opened, values, options, whole=len(files) == 1)
        if sniffed is None:
            raise EmptyInputError(f"{file.name} holds no record")
        settled.append(found)
        return sniffed

    try:
        sniffed = _first_with_content([(file.name, partial(sniff, file)) for file in files])
    except EmptyInputError:
        return None, options
    if sniffed.skip_rows != options.extent.skip_rows:
        _check_preambles(files, sniffed, options)
    return sniffed, settled[0]


def _check_preambles(files: Sequence[ReopenedSource], first: Sniffed, options: CsvOptions) -> None:
    known = {name: value for name, value in first.options.items() if name != "skip_rows"}
    known["header"] = bool(first.header)
    for file in files:
        with file.opened() as opened:
            try:
                other = propose(opened, wishes_of(known), context=options.context)
            except EmptyInputError:
                continue
        if other.skip_rows != first.skip_rows:
            raise OptionError(
                f"{file.name} seems to have {other.skip_rows} lines in front of its table, and other files {first.skip_rows}; "
                "give skip_rows"
            )
