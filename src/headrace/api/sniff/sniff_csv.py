"""Proposes how delimited text is written, from a bounded sample: `sniff_csv`, and ``read_csv(dialect="auto")``."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from headrace.api.options.csv_options import CsvOptions, Keywords, parse_one, parse_options, source_options
from headrace.api.options.keywords import AUTO
from headrace.api.options.table import ALIASES, DEFAULTS, MEANS_NONE
from headrace.api.options.text_options import TEXT_OPTIONS
from headrace.api.sniff.propose import Wishes, propose
from headrace.api.sniffed import OPTIONS, POLICIES, Sniffed
from headrace.core.context import Context, context_of
from headrace.core.errors import EmptyInputError, OptionError, shown
from headrace.core.options import assign_aliases, flag, positive, refuse_doubles
from headrace.sources.find_files import list_sources
from headrace.sources.open import OpenSource, SourceLike, open_beginning
from headrace.sources.reopen import ReopenedSource
from headrace.structure.dialect import Dialect
from headrace.structure.sample import DEFAULT_SAMPLE_BYTES


def sniff_csv(
    source: SourceLike | Iterable[SourceLike],
    *,
    sample_bytes: int = DEFAULT_SAMPLE_BYTES,
    context: Context | None = None,
    **options: Any,
) -> Sniffed:
    """Propose how a text is written, with the evidence, and with the lines that the proposal leaves out.

    Only the beginning of the source and three windows of 16 KB further on are read, so large files take no longer than small
    ones. Of a compressed source only the beginning is read.

    Parameters
    ----------
    source
        A path, bytes or a file object; or several sources, as a list or a pattern, of which the first that holds a record
        decides. A file object must be seekable; its position does not change, and only its beginning is read. For a stream that
        is not seekable, such as standard input, pass the first bytes: ``sys.stdin.buffer.peek()`` does not consume them.
    sample_bytes
        Size of the sample from the beginning, in bytes.
    context
        Its instruction set is used. None for the default.
    **options
        As in `read_csv`: options of the dialect, `header`, `skip_rows`, `compression`, `encoding` and `glob`. Options that are
        given are kept, the others are found (``"auto"``), except those with another default in ``help(headrace.sniff_csv)``.

    Returns
    -------
    Sniffed
        The proposal: ``read_csv(source, **sniffed.options)`` reads by it, and ``print(sniffed)`` shows the reasons.

    Raises
    ------
    EmptyInputError
        The sample holds no record.
    OptionError
        Options contradict each other, or the source is of a type that cannot be read.
    SourceError, FileNotFoundError
        The source cannot be read, or is not text.
    NoMatchError
        No file matches a pattern.
    MissingDependencyError
        The package that decompresses the source is not installed.

    Notes
    -----
    Every likely combination of separator, quote, comment prefix and escape reads the sample. Its score is the product of two
    values: how regular the records are, and how much their fields look like values. A whole time, date, address or link scores
    higher than its parts. The score of a dialect that leaves lines out is halved if another dialect reads every line. At equal
    scores the more usual dialect is proposed: comma before tab, semicolon, bar and others; double quotes; no escape; no comment.
    Words between single spaces are columns if every record has as many, at least three, and a column holds values.

    A proposal is checked by a read of its own sample, and gets the options that the read needs.

    - Records of another width: ``short_records="null"``; ``long_records`` is ``"widen"`` if most records are too long, else
      ``"truncate"``.
    - Fields padded before separators, or after closing quotes: ``strip=True``.
    - Malformed quotes: ``lenient_quotes=True``, or no quotes.
    - Numbers like ``1.234,56`` or ``1,234.56``: `decimal` and `thousands`. Numbers with ``+`` may be telephones, and between
      commas ``"52.123,13"`` may be a pair, unless another one is like ``"12,50"``. A column of ``1.234`` and ``2.125`` alone may
      have decimal points, so the marks are not proposed beside it. With ``950`` among them it has thousands.
    - Numbers like ``1,5`` between semicolons or tabs: ``decimal=","``, unless a column has numbers with a point or commas
      between thousands (``1,234,567``). A column of ``1,234`` alone may have thousands, and one of ``2,1`` and ``2,10`` may have
      pairs, so it stays text.
    - Marks and words for null are looked for in the first 10,000 columns.
    - Titles, pairs and padded lines before the table are a preamble. Notes after it are a footer if the sample is the whole
      text.
    - Two records of names (groups over names, or names over units) are joined: ``header=(0, 1)``.

    Examples
    --------
    >>> import headrace
    >>> sniffed = headrace.sniff_csv(b"exported by hand\\ncity;founded\\nRome;-753\\nOslo;1048\\n")
    >>> sniffed.sep, sniffed.header, sniffed.skipped
    (';', True, ((1, 'exported by hand'),))
    >>> sniffed.schema["founded"]
    'int64'
    """
    values = _with_defaults(options)
    context = context_of(context)
    forms = {"compression": parse_one("compression", values.pop("compression")), "encoding": values.pop("encoding")}
    source_forms = source_options(forms | {"encoding_errors": "replace"}, context)
    several = list_sources(source, glob=flag("glob", values.pop("glob")), hive=False)
    wishes = wishes_of(values)
    sample_bytes = positive("sample_bytes", sample_bytes)

    def sniff(one: object) -> Sniffed:
        with open_beginning(one, source_forms, sample_bytes) as opened:
            return propose(opened, wishes, sample_bytes=sample_bytes, context=context)

    if several is None:
        return sniff(source)
    names = [str(one) if isinstance(one, str | os.PathLike) else shown(one) for one in several]
    return _first_with_content(names, [partial(sniff, one) for one in several])


_FOUND = frozenset(option.name for option in TEXT_OPTIONS if option.is_found)
_DEFAULTS = {
    name: AUTO if name in _FOUND else DEFAULTS[name]
    for name in (*Dialect.names(), "header", "skip_rows", "compression", "encoding", "glob")
}  # defaults of the options of `read_csv` that `sniff_csv` takes


def _with_defaults(options: Mapping[str, object]) -> Keywords:
    refuse_doubles(options, ALIASES, MEANS_NONE)
    for name in options:
        if ALIASES.get(name, name) not in _DEFAULTS:
            raise OptionError.unknown("option", name, _DEFAULTS, "help(headrace.sniff_csv)")
    others = options.keys() - _DEFAULTS.keys()
    values = {**_DEFAULTS, **{name: value for name, value in options.items() if name not in others}}
    if not others:
        return values
    from headrace.api.options.translate import renamed  # not needed by calls with the names of this package

    meanings = [meaning for name in options if name in others and (meaning := renamed(name, options[name])) is not None]
    return assign_aliases(values, meanings, _DEFAULTS)


def _full_signature() -> inspect.Signature:
    """Return the signature of `sniff_csv` with its options in place of ``**options``."""
    signature = inspect.signature(sniff_csv)
    *own, _ = signature.parameters.values()
    others = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in _DEFAULTS.items()]
    return signature.replace(parameters=[*own, *others])


sniff_csv.__signature__ = _full_signature()  # type: ignore[attr-defined]


def _first_with_content(names: Sequence[str], sniffs: Sequence[Callable[[], Sniffed]]) -> Sniffed:
    """Return the proposal for the first source that holds a record; `sniffs`: a function for each name."""
    for number, (name, sniff) in enumerate(zip(names, sniffs, strict=True), 1):
        try:
            sniffed = sniff()
        except EmptyInputError:
            continue
        which = f"{name!r}, number {number} of {len(sniffs)}" + (", the first that holds a record" if number > 1 else "")
        return replace(sniffed, evidence=(which, *sniffed.evidence))
    raise EmptyInputError(f"none of the {len(sniffs)} sources holds a record, so there is nothing to sniff")


def wishes_of(values: Mapping[str, object]) -> Wishes:
    """Return the options that a caller gave; those of ``"auto"`` are left out."""
    given = {name: value for name, value in values.items() if not isinstance(value, str) or value != AUTO}
    others = ("header", "skip_rows", *POLICIES)
    dialect = {name: _encoded(value) for name, value in given.items() if name not in others}
    lines = parse_one("skip_rows", given["skip_rows"]) if "skip_rows" in given else None
    header = flag("header", given["header"]) if "header" in given else None
    return Wishes(dialect, header, lines)


def _encoded(value: object) -> object:
    """Return a text as bytes, as `Dialect` keeps it; a text that UTF-8 cannot encode stays, and `Dialect` refuses it."""
    try:
        return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    except UnicodeEncodeError:
        return value


def sniff_rest(
    source: OpenSource, values: Keywords, options: CsvOptions, *, whole: bool = True
) -> tuple[Sniffed | None, CsvOptions]:
    """Propose options for a read of `source`: those that have their defaults are found, the others are kept.

    If the caller gave the index of the header, which counts from the first line, no lines to skip are proposed. If the caller
    gave `on_error`, no policies for records are proposed. For a text without records all options stay as they are.

    `values`: options by name.
    `whole`: whether this source is the only one, so that a footer may be proposed.
    Result: the proposal, or None, and the options of the read.
    """
    known = {name: values[name] for name in {*OPTIONS, *Dialect.names()} if values[name] != DEFAULTS[name]}
    if options.extent.header is not None:
        known |= {"skip_rows": options.extent.skip_rows, "header": True}
    wishes = replace(
        wishes_of(known),
        header_records=options.extent.header,
        columns=None if options.schema.names is None else len(options.schema.names),
        policies=_open_policies(values, whole=whole),
        marks=all(values[name] == DEFAULTS[name] for name in ("decimal", "thousands")),
    )
    try:
        sniffed = propose(source, wishes, context=options.context)
    except EmptyInputError:
        return None, options
    found = {name: value for name, value in sniffed.options.items() if name not in known and values[name] == DEFAULTS[name]}
    with_found = parse_options({**values, **found}, options.notes)
    if "header" in found:
        with_found = replace(with_found, schema=replace(with_found.schema, reason=sniffed.header_reason))
    return sniffed, with_found


def _open_policies(values: Keywords, *, whole: bool) -> tuple[str, ...]:
    """Return the policies that may be proposed; a footer only if the text is the only one (`whole`)."""
    candidates = [name for name in POLICIES if values[name] == DEFAULTS[name]]
    if values["on_error"] != DEFAULTS["on_error"]:
        candidates = [name for name in candidates if name not in ("short_records", "long_records")]
    return tuple(name for name in candidates if whole or name != "skip_footer")


def sniff_files(files: Sequence[ReopenedSource], values: Keywords, options: CsvOptions) -> tuple[Sniffed | None, CsvOptions]:
    """Propose options for a read of several sources, as `sniff_rest` does; the first that holds a record decides for all.

    No footer is proposed for several sources, because records at the end of another file may be its data.

    Raise OptionError if the preambles of the files have different lengths, so that `skip_rows` could leave out data.
    """
    found_options: list[CsvOptions] = []

    def sniff(file: ReopenedSource) -> Sniffed:
        with file.opened() as opened:
            sniffed, found = sniff_rest(opened, values, options, whole=len(files) == 1)
        if sniffed is None:
            raise EmptyInputError(f"{file.name} holds no record")
        found_options.append(found)
        return sniffed

    try:
        sniffed = _first_with_content([file.name for file in files], [partial(sniff, file) for file in files])
    except EmptyInputError:
        return None, options
    if len(files) > 1 and sniffed.skip_rows != options.extent.skip_rows:
        _check_preambles(files, sniffed, options)
    return sniffed, found_options[0]


def _check_preambles(files: Sequence[ReopenedSource], first: Sniffed, options: CsvOptions) -> None:
    known = {name: value for name, value in first.options.items() if name in Dialect.names()}
    known["header"] = bool(first.header)
    for file in files:
        with file.opened() as opened:
            try:
                other = propose(opened, wishes_of(known), context=options.context)
            except EmptyInputError:
                continue
        if other.skip_rows != first.skip_rows:
            raise OptionError(
                f"{file.name} seems to have {other.skip_rows} lines before its table, and other files {first.skip_rows}; "
                "pass skip_rows"
            )
