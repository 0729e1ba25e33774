"""Lists the options of the text: where records and fields begin and end."""

from __future__ import annotations

from typing import get_args

from headrace.api.options import parsers
from headrace.api.options.option import Flag, Option
from headrace.api.options.parsers import or_none
from headrace.columns.plan.row_policy import LongRecords, ShortRecords
from headrace.core.options import flag

TEXT_OPTIONS = (
    Option(
        "dialect",
        default=None,
        parse=or_none(parsers.dialect_word),
        help="auto: find the options of this group that are not given, from the text",
        choices=("auto",),
        flags=(Flag("--dialect", "choice", default="the defaults below"),),
    ),
    Option(
        "sep",
        default=",",
        parse=parsers.separator,
        help="field separator, 1 to 8 bytes",
        aliases=("delimiter", "separator", "delim"),
        flags=(Flag("--sep", "unescaped", metavar="SEP", help=r"field separator, 1 to 8 bytes; '\t' is a tab", default="comma"),),
    ),
    Option(
        "quote_char",
        default='"',
        parse=parsers.optional_byte,
        help="quoting character, one byte; None for none",
        aliases=("quotechar", "quote"),
        flags=(Flag("--quote", "none_if_empty", metavar="CHAR", help="quoting character; '' for none", default='"'),),
    ),
    Option(
        "double_quote",
        default=True,
        parse=flag,
        help="two quotes inside a quoted field stand for one",
        aliases=("doublequote",),
        flags=(Flag("--no-double-quote", "off", help="two quotes inside a quoted field do not stand for one"),),
    ),
    Option(
        "lenient_quotes",
        default=False,
        parse=flag,
        help="malformed quotes are text",
        flags=(Flag("--lenient-quotes", "on"),),
    ),
    Option(
        "strict_quotes",
        default=False,
        parse=flag,
        help="a quote inside an unquoted field makes its record malformed",
        flags=(Flag("--strict-quotes", "on"),),
    ),
    Option(
        "escape_char",
        default=None,
        parse=parsers.optional_byte,
        help="escape character: the next byte is data",
        aliases=("escapechar",),
        flags=(Flag("--escape", "none_if_empty", metavar="CHAR", default="none"),),
    ),
    Option(
        "escape_sequences",
        default=False,
        parse=flag,
        help=r"after the escape character, letters stand for other bytes: \n for a line feed",
        flags=(Flag("--escape-sequences", "on"),),
    ),
    Option(
        "comment",
        default=None,
        parse=parsers.literal_text,
        help="leave out lines that begin with this prefix, 1 to 8 bytes",
        aliases=("comment_prefix",),
        flags=(Flag("--comment", "none_if_empty", metavar="PREFIX", default="none"),),
    ),
    Option(
        "lineterminator",
        default=None,
        parse=parsers.line_terminator,
        help="line terminator, 1 to 8 bytes",
        aliases=("eol_char", "new_line"),
        flags=(Flag("--line-end", "unescaped", metavar="END", default=r"\n, \r\n and \r, also mixed"),),
    ),
    Option(
        "skip_initial_space",
        default=False,
        parse=flag,
        help="leave out spaces at the start of a field",
        aliases=("skipinitialspace",),
        flags=(Flag("--skip-initial-space", "on"),),
    ),
    Option(
        "strip",
        default=False,
        parse=flag,
        help="leave out spaces around a field",
        flags=(Flag("--strip", "on"),),
    ),
    Option(
        "skip_blank_lines",
        default=True,
        parse=flag,
        help="leave out empty lines",
        aliases=("ignore_empty_lines",),
        flags=(Flag("--keep-blank-lines", "off", help="an empty line is a record of one empty field"),),
    ),
    Option(
        "header",
        default="infer",
        parse=parsers.header,
        help="the first record holds the names; or the indexes of the records that hold them",
        aliases=("has_header",),
        flags=(
            Flag("--header", "on", help="the first record holds the names", default="found from the first records"),
            Flag("--no-header", "off", help="the first record is data"),
            Flag("--header-rows", "indexes", metavar="N,...", help="indexes, from 0, of the records that hold the names"),
        ),
    ),
    Option(
        "skip_rows",
        default=0,
        parse=parsers.lines_to_skip,
        help="number of lines to leave out before the header",
        aliases=("skiprows", "skip_lines", "skip"),
        flags=(Flag("--skip-rows", "integer", metavar="N"),),
    ),
    Option(
        "skip_rows_after_header",
        default=0,
        parse=parsers.count,
        help="number of records to leave out after the header",
        aliases=("skip_rows_after_names",),
        flags=(Flag("--skip-rows-after-header", "integer", metavar="N"),),
    ),
    Option(
        "skip_footer",
        default=0,
        parse=parsers.count,
        help="number of records to leave out at the end",
        aliases=("skipfooter",),
        flags=(Flag("--skip-footer", "integer", metavar="N"),),
    ),
    Option(
        "short_records",
        default=None,
        parse=or_none(parsers.one_of(*get_args(ShortRecords))),
        help="what to do with a record of too few fields",
        choices=get_args(ShortRecords),
        flags=(Flag("--short-records", "choice", default="as --on-error"),),
    ),
    Option(
        "long_records",
        default=None,
        parse=or_none(parsers.one_of(*get_args(LongRecords))),
        help="what to do with a record of too many fields",
        choices=get_args(LongRecords),
        flags=(Flag("--long-records", "choice", default="as --on-error"),),
    ),
)
