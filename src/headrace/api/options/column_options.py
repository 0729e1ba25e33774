"""Lists the options of columns: which ones there are, and what their texts mean."""

from headrace.api.options import parsers
from headrace.api.options.option import Flag, Option
from headrace.api.options.parsers import or_none
from headrace.core.options import flag, texts
from headrace.encode.texts import FORMS

COLUMN_OPTIONS = (
    Option(
        "names",
        default=None,
        parse=parsers.unchecked,
        help="names of the columns, for a text without a header or instead of it; or new names of some columns",
        aliases=("column_names",),
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
        aliases=("usecols", "include_columns"),
        flags=(Flag("--columns", "names", metavar="A,B,...", help="names of the columns to read, in this order", default="all"),),
    ),
    Option("schema", default=None, parse=parsers.field_types, help="types of all columns"),
    Option(
        "dtypes",
        default=None,
        parse=parsers.dtypes,
        help="types of some columns, or one type for all, e.g. string; the others are inferred",
        aliases=("dtype", "column_types", "schema_overrides", "types"),
        flags=(Flag("--dtypes", "types", metavar="NAME=TYPE,..."),),
    ),
    Option(
        "infer_schema",
        default=True,
        parse=flag,
        help="infer the types that are not given",
        flags=(Flag("--no-infer", "off", help="columns without a given type are strings"),),
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
    ),
    Option(
        "null_values",
        default=("",),
        parse=parsers.or_default(parsers.null_texts, (b"",)),
        help="texts that mean null",
        aliases=("na_values", "nullstr", "null"),
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
        aliases=("quoted_strings_can_be_null", "allow_quoted_nulls"),
        flags=(Flag("--quoted-null", "on"),),
    ),
    Option(
        "true_values",
        default=("true", "True", "TRUE"),
        parse=parsers.or_default(texts, (b"true", b"True", b"TRUE")),
        help="texts that mean true",
        flags=(Flag("--true", "texts", metavar="TEXT", help="text that means true; repeat for several"),),
    ),
    Option(
        "false_values",
        default=("false", "False", "FALSE"),
        parse=parsers.or_default(texts, (b"false", b"False", b"FALSE")),
        help="texts that mean false",
        flags=(Flag("--false", "texts", metavar="TEXT", help="text that means false; repeat for several"),),
    ),
    Option(
        "decimal",
        default=".",
        parse=parsers.number_mark,
        help="decimal point",
        aliases=("decimal_point", "decimal_separator"),
        flags=(Flag("--decimal", metavar="CHAR", default="."),),
    ),
    Option(
        "thousands",
        default=None,
        parse=or_none(parsers.number_mark),
        help="separator of groups of three digits",
        aliases=("thousands_separator",),
        flags=(Flag("--thousands", metavar="CHAR", default="none"),),
    ),
    Option(
        "date_format",
        default=None,
        parse=parsers.date_format,
        help="format of dates and times, e.g. %d.%m.%Y, for all columns or by column",
        aliases=("dateformat", "timestamp_parsers"),
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
    ),
    Option(
        "row_index_name",
        default=None,
        parse=parsers.index_name,
        help="name of a first column with the index of each row's record",
        flags=(Flag("--row-index", metavar="NAME"),),
    ),
    Option(
        "row_index_offset",
        default=0,
        parse=parsers.row_offset,
        help="index of the first record",
        flags=(Flag("--row-index-offset", "integer", metavar="N", default="0"),),
    ),
)
