"""Lists the options of columns: which ones there are, and what their texts mean."""

from headrace.api.options import parsers
from headrace.api.options.option import Flag, Option
from headrace.api.options.parsers import or_none
from headrace.api.options.word import option, translated, when
from headrace.core.options import flag, texts
from headrace.encode.texts import FORMS

COLUMN_OPTIONS = (
    Option(
        "names",
        default=None,
        parse=parsers.unchecked,
        help="names of the columns, for a text without a header or instead of it; or new names of some columns",
        words=(option("names", "pandas", "duckdb", "cudf"), option("column_names", "pyarrow", "duckdb")),
        flags=(
            Flag(
                "--names", "names", metavar="A,B,...", help="names of the columns, for a text without a header or instead of it"
            ),
        ),
    ),
    Option(
        "columns",
        default=None,
        parse=parsers.columns,
        help="names or positions of the columns to read, in this order",
        words=(
            option("columns", "polars", "duckdb", meaning="names or positions; a mapping of names to types is `schema`"),
            option("usecols", "pandas", "cudf", meaning="in the given order; a set, in the order of the text"),
            option("include_columns", "pyarrow"),
        ),
        flags=(Flag("--columns", "names", metavar="A,B,...", help="names of the columns to read, in this order", default="all"),),
    ),
    Option(
        "schema",
        default=None,
        parse=parsers.field_types,
        help="types of all columns",
        words=(option("schema", "polars", "duckdb", meaning="a `pyarrow.Schema`, a mapping, or types in order"),),
    ),
    Option(
        "dtypes",
        default=None,
        parse=parsers.dtypes,
        help="types of some columns, or one type for all, e.g. string; the others are inferred",
        words=(
            option("dtypes", "polars", "duckdb"),
            option("dtype", "pandas", "duckdb", "cudf"),
            option("column_types", "pyarrow", "duckdb"),
            option("schema_overrides", "polars"),
            option("types", "duckdb"),
        ),
        flags=(Flag("--dtypes", "types", metavar="NAME=TYPE,..."),),
    ),
    Option(
        "infer_schema",
        default=True,
        parse=flag,
        help="infer the types that are not given",
        flags=(Flag("--no-infer", "off", help="columns without a given type are strings"),),
        words=(
            option("infer_schema", "polars"),
            translated("all_varchar", "duckdb", by=when(True, infer_schema=False), meaning="`True` is `infer_schema=False`"),
        ),
    ),
    Option(
        "shrink",
        default=False,
        parse=flag,
        help="give each inferred column the smallest type that holds it",
        flags=(Flag("--shrink", "on"),),
    ),
    Option(
        "strings",
        default="plain",
        parse=parsers.one_of(*FORMS),
        help="form of inferred string columns",
        choices=tuple(FORMS),
        flags=(Flag("--strings", "choice", default="plain"),),
        words=(
            translated(
                "auto_dict_encode", "pyarrow", by=when(True, strings="dictionary"), meaning="`True` is `strings='dictionary'`"
            ),
        ),
    ),
    Option(
        "null_values",
        default=("",),
        parse=parsers.or_default(parsers.null_texts, (b"",)),
        help="texts that mean null",
        words=(
            option("null_values", "polars", "pyarrow", meaning="replaces the default; numbers are taken as their text"),
            option("na_values", "pandas", "duckdb", "cudf", meaning="replaces the default; numbers are taken as their text"),
            option("nullstr", "duckdb"),
            option("null", "duckdb"),
            translated("na_filter", "pandas", "cudf", by=when(False, null_values=()), meaning="`False` is `null_values=()`"),
        ),
        flags=(
            Flag(
                "--null",
                "texts",
                metavar="TEXT",
                help="text that means null; repeat for several; they replace the default",
                default="the empty field, ''",
            ),
        ),
    ),
    Option(
        "quoted_null",
        default=False,
        parse=flag,
        help="a quoted field may be null too",
        words=(option("quoted_strings_can_be_null", "pyarrow"), option("allow_quoted_nulls", "duckdb")),
        flags=(Flag("--quoted-null", "on"),),
    ),
    Option(
        "true_values",
        default=("true", "True", "TRUE"),
        parse=parsers.or_default(texts, (b"true", b"True", b"TRUE")),
        help="texts that mean true",
        flags=(Flag("--true", "texts", metavar="TEXT", help="text that means true; repeat for several"),),
        words=(option("true_values", "pandas", "pyarrow", "cudf", meaning="replaces the default"),),
    ),
    Option(
        "false_values",
        default=("false", "False", "FALSE"),
        parse=parsers.or_default(texts, (b"false", b"False", b"FALSE")),
        help="texts that mean false",
        flags=(Flag("--false", "texts", metavar="TEXT", help="text that means false; repeat for several"),),
        words=(option("false_values", "pandas", "pyarrow", "cudf", meaning="replaces the default"),),
    ),
    Option(
        "decimal",
        default=".",
        parse=parsers.number_mark,
        help="decimal point",
        words=(
            option("decimal", "pandas", "duckdb", "cudf"),
            option("decimal_point", "pyarrow"),
            option("decimal_separator", "duckdb"),
            translated("decimal_comma", "polars", by=when(True, decimal=","), meaning="`True` is `decimal=','`"),
        ),
        flags=(Flag("--decimal", metavar="CHAR", default="."),),
    ),
    Option(
        "thousands",
        default=None,
        parse=or_none(parsers.number_mark),
        help="separator of groups of three digits",
        words=(option("thousands", "pandas", "duckdb", "cudf"), option("thousands_separator")),
        flags=(Flag("--thousands", metavar="CHAR", default="none"),),
    ),
    Option(
        "date_format",
        default=None,
        parse=parsers.date_format,
        help="format of dates and times, e.g. %d.%m.%Y, for all columns or by column",
        words=(
            option("date_format", "pandas", "duckdb", meaning="`'ISO8601'` is the default"),
            option("dateformat", "duckdb"),
            option("timestamp_parsers", "pyarrow"),
        ),
        flags=(
            Flag(
                "--date-format",
                "formats",
                metavar="[NAME=]FORMAT",
                help="format of dates and times, e.g. %d.%m.%Y, for all columns or for one; "
                "repeat for several: the first that fits the whole text counts",
            ),
        ),
    ),
    Option(
        "dayfirst",
        default=False,
        parse=flag,
        help="31/01/2024, 31-01-2024 and 31.01.2024 are dates too",
        flags=(Flag("--dayfirst", "on"),),
        words=(option("dayfirst", "pandas", "cudf"),),
    ),
    Option(
        "row_index_name",
        default=None,
        parse=parsers.index_name,
        help="name of a first column with the index of each row's record",
        flags=(Flag("--row-index", metavar="NAME"),),
        words=(option("row_index_name", "polars"),),
    ),
    Option(
        "row_index_offset",
        default=0,
        parse=parsers.row_offset,
        help="index of the first record",
        flags=(Flag("--row-index-offset", "integer", metavar="N", default="0"),),
        words=(option("row_index_offset", "polars"),),
    ),
)
