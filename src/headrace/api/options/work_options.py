"""Lists the options of the work: how much is read, on which device, and what faults do."""

from typing import get_args

from headrace.api.options import parsers
from headrace.api.options.keywords import OnError
from headrace.api.options.option import Flag, Option
from headrace.api.options.parsers import or_none
from headrace.api.options.word import option, translated, when, zero_is_none
from headrace.core.context import context_of
from headrace.core.device import parse_device
from headrace.core.options import positive

WORK_OPTIONS = (
    Option(
        "n_rows",
        default=None,
        parse=or_none(parsers.count),
        help="greatest number of records to read",
        words=(option("n_rows", "polars"), option("nrows", "pandas", "cudf")),
        flags=(Flag("--n-rows", "integer", metavar="N", default="all"),),
    ),
    Option(
        "on_error",
        default="raise",
        parse=parsers.one_of(*get_args(OnError)),
        help="at a fault: stop (raise), make the field null (null), or reject the record (reject)",
        choices=get_args(OnError),
        flags=(Flag("--on-error", "choice", default="raise"),),
        words=(translated("store_rejects", "duckdb", by=when(True, on_error="reject"), meaning="`True` is `on_error='reject'`"),),
    ),
    Option(
        "max_rejects",
        default=None,
        parse=or_none(parsers.count),
        help="greatest number of faults that rejects lists, in each file or batch; all are counted",
        words=(option("rejects_limit", "duckdb", meaning="`0` is no limit", convert=zero_is_none),),
        flags=(Flag("--max-rejects", "integer", metavar="N", default="all"),),
    ),
    Option(
        "device", default=None, parse=or_none(parse_device), help="device that reads the text and has the table, e.g. cpu or cuda"
    ),
    Option(
        "context",
        default=None,
        parse=lambda _, value: context_of(value),
        help="threads, memory limit and instruction set, as a Context",
    ),
    Option(
        "threads",
        default=None,
        parse=or_none(positive),
        help="greatest number of threads",
        words=(
            option("n_threads", "polars"),
            translated("use_threads", "pyarrow", by=when(False, threads=1), meaning="`False` is `threads=1`"),
            translated("parallel", "duckdb", by=when(False, threads=1), meaning="`False` is `threads=1`"),
        ),
        flags=(Flag("--threads", "integer", metavar="N", default="all cores"),),
    ),
    Option(
        "chunk_bytes",
        default=None,
        parse=or_none(positive),
        help="bytes of text that a thread takes at a time",
        words=(option("block_size", "pyarrow"), option("bytes_per_thread", "cudf")),
        flags=(Flag("--chunk-bytes", "integer", metavar="N"),),
    ),
    Option(
        "progress",
        default=None,
        parse=or_none(parsers.progress),
        help="function that is called about every 0.1 s with the bytes done and the bytes in all",
    ),
)
