"""Lists the options of the text: where records and fields begin and end."""

from typing import get_args

from headrace.api.options import parsers
from headrace.api.options.option import Flag, Option
from headrace.api.options.parsers import or_none
from headrace.api.options.word import option, translated, when
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
        words=(
            option("dialect", "pandas", meaning="a `csv.Dialect`, its name, or `'auto'`"),
            translated(
                "auto_detect", "duckdb", by=when(True, dialect="auto"), meaning="`True` is `dialect='auto'`, `False` the default"
            ),
        ),
    ),
    Option(
        "sep",
        default=",",
        parse=parsers.separator,
        help="field separator, 1 to 8 bytes",
        words=(
            option(
                "sep",
                "pandas",
                "duckdb",
                "cudf",
                meaning="literal, no regular expression; in place of `None` pass `dialect='auto'`",
            ),
            option("delimiter", "pandas", "pyarrow", "duckdb", "cudf"),
            option("separator", "polars", "duckdb"),
            option("delim", "duckdb"),
        ),
        flags=(Flag("--sep", "unescaped", metavar="SEP", help=r"field separator, 1 to 8 bytes; '\t' is a tab", default="comma"),),
        is_found=True,
        is_always_proposed=True,
    ),
    Option(
        "quote_char",
        default='"',
        parse=parsers.optional_byte,
        help="quoting character, one byte; None for none",
        words=(
            option("quote_char", "polars", "pyarrow", meaning="`False` and `''` are `None`"),
            option("quotechar", "pandas", "duckdb", "cudf"),
            option("quote", "duckdb"),
        ),
        flags=(Flag("--quote", "none_if_empty", metavar="CHAR", help="quoting character; '' for none", default='"'),),
        is_found=True,
        is_always_proposed=True,
    ),
    Option(
        "double_quote",
        default=True,
        parse=flag,
        help="two quotes inside a quoted field stand for one",
        words=(option("double_quote", "pyarrow"), option("doublequote", "pandas", "cudf")),
        flags=(Flag("--no-double-quote", "off", help="two quotes inside a quoted field do not stand for one"),),
        is_always_proposed=True,
    ),
    Option(
        "lenient_quotes",
        default=False,
        parse=flag,
        help="malformed quotes are text",
        flags=(Flag("--lenient-quotes", "on"),),
        is_found=True,
        is_always_proposed=True,
        words=(
            translated(
                "strict_mode",
                "duckdb",
                by=when(False, lenient_quotes=True),
                meaning="`False` is `lenient_quotes=True`, `True` the default",
            ),
        ),
    ),
    Option(
        "strict_quotes",
        default=False,
        parse=flag,
        help="a quote inside an unquoted field makes its record malformed",
        flags=(Flag("--strict-quotes", "on"),),
        is_always_proposed=True,
    ),
    Option(
        "escape_char",
        default=None,
        parse=parsers.optional_byte,
        help="escape character: the next byte is data",
        words=(option("escape_char", "pyarrow", meaning="`False` is `None`"), option("escapechar", "pandas", "duckdb")),
        flags=(Flag("--escape", "none_if_empty", metavar="CHAR", default="none"),),
        is_found=True,
        is_always_proposed=True,
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
        words=(option("comment", "pandas", "duckdb", "cudf"), option("comment_prefix", "polars")),
        flags=(Flag("--comment", "none_if_empty", metavar="PREFIX", default="none"),),
        is_found=True,
        is_always_proposed=True,
    ),
    Option(
        "lineterminator",
        default=None,
        parse=parsers.line_terminator,
        help="line terminator, 1 to 8 bytes",
        words=(option("lineterminator", "pandas", "duckdb", "cudf"), option("eol_char", "polars"), option("new_line", "duckdb")),
        flags=(Flag("--line-end", "unescaped", metavar="END", default=r"\n, \r\n and \r, also mixed"),),
        is_found=True,
        is_always_proposed=True,
    ),
    Option(
        "skip_initial_space",
        default=False,
        parse=flag,
        help="leave out spaces at the start of a field",
        words=(option("skipinitialspace", "pandas", "cudf"),),
        flags=(Flag("--skip-initial-space", "on"),),
        is_found=True,
        is_always_proposed=True,
    ),
    Option(
        "strip", default=False, parse=flag, help="leave out spaces around a field", flags=(Flag("--strip", "on"),), is_found=True
    ),
    Option(
        "skip_blank_lines",
        default=True,
        parse=flag,
        help="leave out empty lines",
        words=(
            option("skip_blank_lines", "pandas", "cudf", meaning="a line of spaces is a record, which pandas takes for blank"),
            option("ignore_empty_lines", "pyarrow"),
        ),
        flags=(Flag("--keep-blank-lines", "off", help="an empty line is a record of one empty field"),),
    ),
    Option(
        "header",
        default="infer",
        parse=parsers.header,
        help="the first record holds the names; or the indexes of the records that hold them",
        words=(
            option("header", "pandas", "duckdb", "cudf", meaning="`None` is `False`"),
            option("has_header", "polars"),
            translated(
                "autogenerate_column_names",
                "pyarrow",
                by=when(True, header=False),
                meaning="`True` is `header=False`; names are `column_1`, ...",
            ),
        ),
        flags=(
            Flag("--header", "on", help="the first record holds the names", default="found from the first records"),
            Flag("--no-header", "off", help="the first record is data"),
            Flag("--header-rows", "indexes", metavar="N,...", help="indexes, from 0, of the records that hold the names"),
        ),
        is_found=True,
        is_always_proposed=True,
    ),
    Option(
        "skip_rows",
        default=0,
        parse=parsers.lines_to_skip,
        help="number of lines to leave out before the header",
        words=(
            option("skip_rows", "polars", "pyarrow", meaning="a number of lines"),
            option("skiprows", "pandas", "duckdb", "cudf", meaning="a number; no list and no function"),
            option("skip_lines", "polars"),
            option("skip", "duckdb"),
        ),
        flags=(Flag("--skip-rows", "integer", metavar="N"),),
        is_found=True,
        is_always_proposed=True,
    ),
    Option(
        "skip_rows_after_header",
        default=0,
        parse=parsers.count,
        help="number of records to leave out after the header",
        words=(option("skip_rows_after_header", "polars"), option("skip_rows_after_names", "pyarrow")),
        flags=(Flag("--skip-rows-after-header", "integer", metavar="N"),),
    ),
    Option(
        "skip_footer",
        default=0,
        parse=parsers.count,
        help="number of records to leave out at the end",
        words=(option("skipfooter", "pandas", "cudf"),),
        flags=(Flag("--skip-footer", "integer", metavar="N"),),
    ),
    Option(
        "short_records",
        default=None,
        parse=or_none(parsers.one_of(*get_args(ShortRecords))),
        help="what to do with a record of too few fields",
        choices=get_args(ShortRecords),
        flags=(Flag("--short-records", "choice", default="as --on-error"),),
        words=(
            translated("null_padding", "duckdb", by=when(True, short_records="null"), meaning="`True` is `short_records='null'`"),
        ),
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
