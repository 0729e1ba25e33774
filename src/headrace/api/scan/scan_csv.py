"""Reads delimited text of any size batch by batch: `scan_csv`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Literal, Unpack

from headrace import _native
from headrace.api.options.csv_options import parse_options, resolve_names
from headrace.api.options.keywords import AUTO, CsvKeywords
from headrace.api.options.table import ALIASES, DEFAULTS, MEANS_NONE
from headrace.api.read.read_csv import read_csv
from headrace.api.report import Position
from headrace.api.scan.scan import Scan
from headrace.api.scan.scan_parts import BatchCut
from headrace.api.scan.scan_state import ScanRequest
from headrace.api.sniff.sniff_csv import sniff_files
from headrace.core.context import Context, context_of
from headrace.core.device import Device, parse_device
from headrace.core.errors import OptionError
from headrace.core.options import choice, flag, instance, integer, positive, refuse_doubles
from headrace.query.find.record_condition import RecordCondition
from headrace.sources.find_files import list_sources
from headrace.sources.kinds.gpu_array import is_on_gpu, text_on_gpu
from headrace.sources.open import SourceLike

_MIN_BATCH_BYTES, _MAX_BATCH_BYTES = 64 << 20, 256 << 20  # bytes of text of a batch by default
_BYTES_PER_THREAD = 16 << 20
_BATCH_BYTES_LIMIT = 512 << 20
_BATCHES_IN_MEMORY_LIMIT = 8
"""Share of the memory limit for the text of a batch: values may take several times its bytes, and two batches are in memory."""


def scan_csv(
    source: SourceLike | Iterable[SourceLike],
    *,
    batch_bytes: int | None = None,
    memory_limit: int | None = None,
    infer: Literal["all", "first"] = "all",
    resume: Position | int | None = None,
    to: Device | str | None = None,
    where: RecordCondition | None = None,
    **options: Unpack[CsvKeywords],
) -> Scan:
    """Read delimited text of any size as a sequence of tables, in bounded memory. Reading starts with the first batch.

    Accepts every `read_csv` option except ``shrink``. Options apply to the whole text: concatenating the batches gives the table
    that `read_csv` returns, wherever the batch boundaries fall. A record belongs to the batch that its first byte is in, however
    long it is.

    Parameters
    ----------
    source
        As for `read_csv`. Files are read in pieces. Compressed files, file objects and pipes are decompressed and decoded by a
        thread of their own, a few MB ahead. A source that can be read only once is copied to a temporary file if types are
        inferred from the whole text. `skip_footer`, `lenient_quotes` and ``long_records="widen"`` hold the text of such a
        source in memory, as in `read_csv`. On a GPU, three batches of text are in memory.
    batch_bytes
        Bytes of text in a batch, at most 512 MB. None for 16 MB a thread, but 64 to 256 MB; on a GPU 256 MB. With a memory
        limit, the default is at most an eighth of it.
    memory_limit
        Greatest number of bytes of the columns of a batch. A batch that takes more, or that does not fit into a GPU, is split.
        Takes precedence over that of `context`. None for that of `context`.
    infer
        Which part of the text the types are inferred from. ``"all"``: the whole text. It is read twice, first for the types
        that are not given, then for the rows; a text of one batch is read once. ``"first"``: the first batch with a row. Values
        of later batches that do not fit are faults, as `on_error` says; ``report.inferred_from`` says so. Batches of rejects
        alone are kept until the types are known, so that all batches have the same.
    resume
        Where to begin: the ``end`` of a batch's report, or a byte after the end of a record. The header and the types are found
        as always. None for the beginning of the text. At the end of the text there are no rows; beyond it is an error.
    to
        Device of the batches. None for `device`, or the GPU that the text lies on. With ``device="cuda", to="cpu"`` each batch
        is converted on the GPU, and copied back during the conversion of the next one. It is then in pinned memory, which is
        reused when the batch is deleted.
    where
        Condition on the bytes of a record, such as ``record_contains("error")``. Records for which it is false are dropped before
        they are parsed. They have no faults, and types do not depend on them. The dialect, the header, and the number of columns
        are found in the whole text. Rows have the positions and numbers that they have there. The report counts dropped records
        as ``skipped.where``. The text is searched on the CPU, as UTF-8 whatever its encoding. One in GPU memory without quotes
        is searched there, and only parts with hits are copied to the host. ``n_rows`` counts records of the text. For conditions
        on values, see `Scan.where`.
    **options
        All other options, as for `read_csv`, and the names that other readers use for them.

    Returns
    -------
    Scan
        An Arrow stream and a context manager; see `Scan.batches`, `Scan.select`, `Scan.limit` and `Scan.report`.

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
    refuse_doubles(options, ALIASES, MEANS_NONE)
    given = {name: value for name, value in options.items() if name in DEFAULTS}
    values, notes = resolve_names(given, {name: value for name, value in options.items() if name not in DEFAULTS})
    if flag("shrink", values["shrink"]):
        raise OptionError("scan_csv cannot shrink types, which needs all values; pass smaller types as dtypes")
    choice("infer", infer, ("all", "first"))
    if memory_limit is not None:
        values["context"] = replace(context_of(values["context"]), memory_limit=memory_limit)
    parsed = parse_options(values, notes)
    if parsed.context.device.kind == "cpu" and is_on_gpu(source):
        parsed = replace(parsed, context=replace(parsed.context, device=text_on_gpu(source).device))
    target = None if to is None else parse_device("to", to)
    sources = list_sources(source, glob=parsed.files.glob, hive=parsed.files.hive_partitioning is True)
    several = sources is not None or parsed.files.wanted
    if sources is None:
        parsed = replace(parsed, files=parsed.files.of_one())
    return Scan(
        ScanRequest(
            sources=sources or [source],  # type: ignore[list-item]
            several=several,
            options=parsed,
            sniff=partial(sniff_files, values=values) if values["dialect"] == AUTO else None,
            cut=BatchCut(_batch_bytes(batch_bytes, parsed.context)),
            infer=infer,
            resume=_position(resume),
            to=target,
            records=None
            if where is None
            else instance("where", where, RecordCondition, "a condition such as record_contains('x')"),
        )
    )


def _full_signature() -> inspect.Signature:
    """Return the signature of `scan_csv` with every option of `read_csv` in place of ``**options``."""
    signature = inspect.signature(scan_csv)
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "options"]
    others = [parameter for parameter in inspect.signature(read_csv).parameters.values() if parameter.name != "source"]
    return signature.replace(parameters=[*own, *others])


scan_csv.__signature__ = _full_signature()  # type: ignore[attr-defined]


def _position(resume: object) -> Position | None:
    if resume is None or isinstance(resume, Position):
        return resume
    byte = integer("resume", resume, "the end of a batch (a Position) or a byte, from 0 on", 0)
    return Position(byte) if byte else None


def _batch_bytes(given: int | None, context: Context) -> int:
    if given is not None:
        return min(positive("batch_bytes", given), _BATCH_BYTES_LIMIT)
    default = _MAX_BATCH_BYTES
    if context.device.kind == "cpu":
        default = min(max(_MIN_BATCH_BYTES, _BYTES_PER_THREAD * context.thread_count), _MAX_BATCH_BYTES)
    limit = _native.usable_memory() if context.memory_limit is None else context.memory_limit
    return max(min(default, limit // _BATCHES_IN_MEMORY_LIMIT), 1)
