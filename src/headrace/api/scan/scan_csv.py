"""Defines `scan_csv`, which reads a delimited text of any size batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from headrace.api.read.csv_options import ALIASES, parse_options
from headrace.api.read.read_csv import read_csv
from headrace.api.report import Position
from headrace.api.scan.scan import Scan
from headrace.api.scan.scan_parts import BatchCut
from headrace.api.scan.scan_state import ScanRequest
from headrace.api.sniff.sniff_csv import AUTO, sniff_files
from headrace.columns.date_format import DateFormatLike
from headrace.columns.plan.load_plan import Progress
from headrace.columns.schema import DTypesLike, SchemaLike
from headrace.core.context import Context, context_of
from headrace.core.device import Device
from headrace.core.errors import OptionError
from headrace.core.options import choice, flag, integer, positive, renamed, resolve_aliases
from headrace.sources.find_files import list_sources
from headrace.sources.kinds.gpu_array import is_on_gpu, text_on_gpu
from headrace.sources.open import SourceLike

_BATCH_BYTES, _THREAD_BYTES, _GPU_BATCH_BYTES = 64 << 20, 16 << 20, 256 << 20
_MAX_BATCH_BYTES = 512 << 20
_BATCHES_IN_LIMIT = 8
"""Batches whose text fits in the memory limit. Values may take several times the bytes of their text, and two batches may exist
at once."""


def scan_csv(
    source: SourceLike | Iterable[SourceLike],
    *,
    batch_bytes: int | None = None,
    memory_limit: int | None = None,
    infer: Literal["all", "first"] = "all",
    resume: Position | int | None = None,
    to: Device | str | None = None,
    device: Device | str | None = None,
    dialect: Literal["auto"] | None = None,
    sep: str | bytes = ",",
    header: bool | Literal["infer"] | int | Sequence[int] = "infer",
    names: Sequence[str] | None = None,
    columns: Sequence[str | int] | None = None,
    schema: SchemaLike | None = None,
    dtypes: DTypesLike | None = None,
    infer_schema: bool = True,
    shrink: bool = False,
    strings: Literal["plain", "view", "dictionary"] = "plain",
    null_values: str | Iterable[str] | Mapping[str | int, str | Iterable[str]] = ("",),
    quoted_null: bool = False,
    true_values: str | Iterable[str] = ("true", "True", "TRUE"),
    false_values: str | Iterable[str] = ("false", "False", "FALSE"),
    decimal: str = ".",
    thousands: str | None = None,
    date_format: DateFormatLike = None,
    dayfirst: bool = False,
    quote_char: str | bytes | None = '"',
    double_quote: bool = True,
    lenient_quotes: bool = False,
    strict_quotes: bool = False,
    escape_char: str | bytes | None = None,
    comment: str | bytes | None = None,
    lineterminator: str | bytes | None = None,
    skip_initial_space: bool = False,
    skip_blank_lines: bool = True,
    skip_rows: int = 0,
    skip_rows_after_header: int = 0,
    n_rows: int | None = None,
    skip_footer: int = 0,
    short_records: Literal["null", "error", "reject"] | None = None,
    long_records: Literal["error", "truncate", "collect", "widen", "reject"] | None = None,
    row_index_name: str | None = None,
    row_index_offset: int = 0,
    compression: Literal["infer", "gzip", "zstd", "bz2", "xz", "lz4"] | None = "infer",
    encoding: str | None = None,
    encoding_errors: Literal["strict", "replace"] = "strict",
    on_error: Literal["raise", "null", "reject"] = "raise",
    glob: bool = True,
    union_by_name: bool = False,
    include_file_paths: str | None = None,
    hive_partitioning: bool | Literal["auto"] = "auto",
    context: Context | None = None,
    threads: int | None = None,
    chunk_bytes: int | None = None,
    progress: Progress | None = None,
    **aliases: object,
) -> Scan:
    """Read a delimited text of any size as a sequence of tables, in bounded memory. Nothing is read before it is requested.

    Accepts every `read_csv` option except ``shrink``. Options apply to the whole text: concatenating the batches gives the table
    that `read_csv` returns, wherever the batch boundaries are. A record belongs to the batch that contains its first byte,
    however long it is.

    Parameters
    ----------
    source
        As for `read_csv`. Files are read in pieces. Compressed files, file objects and pipes are decompressed and decoded on a
        thread of their own, a few MB ahead. A source that can be read only once is copied to a temporary file if types are
        inferred from all of it. With `skip_footer`, `lenient_quotes` or ``long_records="widen"``, the text of such a source is
        kept in memory, as in `read_csv`. For a GPU, three batches of its text are in memory.
    batch_bytes
        Bytes of text in a batch; None for 16 MB a thread, from 64 to 256 MB, on a GPU 256 MB, or less under a `memory_limit`.
    memory_limit
        Largest size of one batch's columns, in bytes. A batch that would be larger, or that does not fit in GPU memory, is made
        smaller. It replaces the context's limit.
    infer
        ``"all"``: types are inferred from the whole text, which is read twice: once for the types that are not given, and then
        for the rows. A text of one batch is read once. ``"first"``: the types of the first batch are used as if they had been
        given. A later value that does not fit is a fault, handled as `on_error` says; ``report.inferred_from`` is then
        ``"first"``. A batch whose records are all rejected can be the first.
    resume
        Position at which to begin: the ``end`` of a batch's report, or the first byte of a record. Header and types are not
        affected.
    to
        Device of the batches; None for `device`, or for the GPU whose memory contains the text. With ``device="cuda",
        to="cpu"``, each batch is converted on the GPU and copied to the host while the next is converted. The copy is in pinned
        memory, which is reused once the batch is released.
    **aliases
        All other options, as for `read_csv`, also under the names that other readers use.

    Returns
    -------
    Scan
        See `Scan.batches`, `Scan.select`, `Scan.limit`, `Scan.report`; an Arrow stream, and a context manager.

    Raises
    ------
    OptionError
        As for `read_csv`, here or when the scan begins.

    Examples
    --------
    >>> import headrace
    >>> scan = headrace.scan_csv(b"n\\n1\\n2\\n3\\n", batch_bytes=4)
    >>> [batch["n"].to_pylist() for batch in scan.batches()]
    [[1], [2, 3]]
    >>> scan.report.rows
    3
    """
    given = dict(locals())
    for name in ("source", "aliases", "batch_bytes", "memory_limit", "infer", "resume", "to"):
        del given[name]
    defaults = read_csv.__kwdefaults__ or {}
    values = resolve_aliases(given, aliases, ALIASES, defaults)
    if flag("shrink", values["shrink"]):
        raise OptionError("scan_csv cannot shrink types, which needs all values; pass smaller types as dtypes")
    choice("infer", infer, ("all", "first"))
    if memory_limit is not None:
        values["context"] = replace(context_of(values["context"]), memory_limit=memory_limit)
    options = parse_options(values, defaults)
    if options.context.device.kind == "cpu" and is_on_gpu(source):
        options = replace(options, context=replace(options.context, device=text_on_gpu(source).device))
    with renamed({"device": "to"}):
        target = None if to is None else Device.parse(to)
    sources = list_sources(source, glob=options.files.glob, hive=options.files.hive_partitioning is True)
    several = sources is not None or options.files.wanted
    if not several:
        options = replace(options, files=replace(options.files, hive_partitioning=False))
    return Scan(
        ScanRequest(
            sources=sources or [source],  # type: ignore[list-item]
            several=several,
            options=options,
            sniff=partial(sniff_files, values=values, defaults=defaults) if values["dialect"] == AUTO else None,
            cut=BatchCut(_batch_bytes(batch_bytes, options.context)),
            infer=infer,
            resume=_position(resume),
            to=target,
        )
    )


def _position(resume: object) -> Position | None:
    if resume is None or isinstance(resume, Position):
        return resume
    byte = integer("resume", resume, "the end of a batch (a Position) or a byte, from 0 on", 0)
    return Position(byte) if byte else None


def _batch_bytes(given: int | None, context: Context) -> int:
    if given is not None:
        return min(positive("batch_bytes", given), _MAX_BATCH_BYTES)
    usual = _GPU_BATCH_BYTES
    if context.device.kind == "cpu":
        usual = min(max(_BATCH_BYTES, _THREAD_BYTES * context.thread_count), _GPU_BATCH_BYTES)
    return usual if context.memory_limit is None else max(min(usual, context.memory_limit // _BATCHES_IN_LIMIT), 1)
