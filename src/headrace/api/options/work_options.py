"""Lists the options of the work: how much is read, on which device, and what faults do."""

from typing import get_args

from headrace.api.options import parsers
from headrace.api.options.keywords import OnError
from headrace.api.options.option import Flag, Option
from headrace.api.options.parsers import or_none
from headrace.core.context import context_of
from headrace.core.device import parse_device
from headrace.core.options import positive

WORK_OPTIONS = (
    Option(
        "n_rows",
        default=None,
        parse=or_none(parsers.count),
        help="greatest number of records to read",
        aliases=("nrows",),
        flags=(Flag("--n-rows", "integer", metavar="N", default="all"),),
    ),
    Option(
        "on_error",
        default="raise",
        parse=parsers.one_of(*get_args(OnError)),
        help="at a fault: stop (raise), make the field null (null), or reject the record (reject)",
        choices=get_args(OnError),
        flags=(Flag("--on-error", "choice", default="raise"),),
    ),
    Option(
        "max_rejects",
        default=None,
        parse=or_none(parsers.count),
        help="greatest number of faults that rejects lists, in each file or batch; all are counted",
        aliases=("rejects_limit",),
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
        aliases=("n_threads",),
        flags=(Flag("--threads", "integer", metavar="N", default="all cores"),),
    ),
    Option(
        "chunk_bytes",
        default=None,
        parse=or_none(positive),
        help="bytes of text that a thread takes at a time",
        aliases=("block_size", "bytes_per_thread"),
        flags=(Flag("--chunk-bytes", "integer", metavar="N"),),
    ),
    Option(
        "progress",
        default=None,
        parse=or_none(parsers.progress),
        help="function that is called about every 0.1 s with the bytes done and the bytes in all",
    ),
)
