"""Lists the shapes: name, generator, types, goal, and options."""

from __future__ import annotations

from bench.read.shapes import dates, domains, layouts, numbers, texts
from bench.read.shapes.shape import Facts, Goal, Shape

_INT, _REAL, _BOOL, _TEXT = "int64", "float64", "bool", "string"
_DATE, _TIME, _UTC = "date32", "timestamp[us]", "timestamp[us, UTC]"
_NARROW = (_INT, _TEXT, _REAL)
_TAB = {"sep": "\t", "quote_char": None}
_QUOTES, _BREAKS = Facts(quotes=True), Facts(quotes=True, breaks=True)
_MILLIS = "%Y-%m-%d %H:%M:%S%.f"

NUMBERS = (
    Shape("three columns of 4-digit integers, int32", numbers.four_digits, ("int32",) * 3, Goal(5, 900), given=True),
    Shape("one column, one digit a record", numbers.one_digit, (_INT,), Goal(5, 300)),
    Shape("eight columns from -99 to 99", numbers.small_negatives, (_INT,) * 8),
    Shape("integers of 18 digits", numbers.eighteen_digits, (_INT,) * 3, Goal(3, 350)),
    Shape("integers of 1 to 18 digits", numbers.mixed_magnitudes, (_INT,) * 4),
    Shape("unsigned integers of 64 bits", numbers.unsigned_hashes, ("uint64",) * 2),
    Shape("hexadecimal integers 0x1f3a", numbers.hexadecimal, (_INT,) * 3),
    Shape("integers with + or leading zeros", numbers.padded, (_INT,) * 3, given=True),
    Shape("thousands, 1,234,567", numbers.thousands, (_INT,) * 3, options={"sep": ";", "thousands": ","}),
    Shape("six columns of prices", numbers.prices, (_REAL,) * 6, Goal(5, 500)),
    Shape("four columns 0.123456, float32", numbers.unit_floats, ("float32",) * 4, Goal(5, 600), given=True),
    Shape("decimal128(12, 2)", numbers.money, ("decimal128(12, 2)",) * 4, Goal(5, 350), given=True),
    Shape("floats of 17 digits", numbers.full_floats, (_REAL,) * 3, Goal(2.5, 300)),
    Shape("floats with exponents", numbers.exponents, (_REAL,) * 4, Goal(2.5, 300)),
    Shape("floats with nan and inf in 10 %", numbers.special_floats, (_REAL,) * 3),
    Shape("decimal comma, separator ;", numbers.decimal_comma, (_REAL,) * 5, Goal(5, 350), options={"sep": ";", "decimal": ","}),
    Shape("booleans true and false", numbers.booleans, (_BOOL,) * 6, Goal(4, 350)),
    Shape(
        "booleans Y and N", numbers.yes_and_no, (_BOOL,) * 4, given=True, options={"true_values": ["Y"], "false_values": ["N"]}
    ),
    Shape("zeros and ones, 30 columns", numbers.flags, (_INT,) * 30),
    Shape("NULL in 60 % of integers", numbers.mostly_null, (_INT,) * 5, options={"null_values": ["NULL"]}),
    Shape("-999 for null in 30 % of integers", numbers.missing_codes, (_INT,) * 5, options={"null_values": ["-999"]}),
    Shape("NA in 30 % of integers", numbers.null_words, (_INT,) * 5, Goal(4, 350), options={"null_values": ["NA"]}),
    Shape("half of the fields empty", numbers.empty_fields, (_INT,) * 12),
    Shape("machine learning: label, 30 floats", domains.features, (_INT, *(_REAL,) * 30)),
)

DATES = (
    Shape(
        "timestamps with microseconds and Z; YYYY-MM-DD hh:mm:ss", dates.timestamps, (_UTC, _TIME), Goal(3, 350),
    ),
    Shape("timestamps to the minute", dates.minutes, (_TIME,) * 2, facts=Facts(formats={_TIME: "%Y-%m-%d %H:%M"})),
    Shape("timestamps with offsets", dates.offsets, (_UTC,) * 2, facts=Facts(formats={_UTC: "%Y-%m-%dT%H:%M:%S%z"})),
    Shape("four columns of ISO dates", dates.iso_dates, (_DATE,) * 4),
    Shape(
        "US dates, %m/%d/%Y %I:%M:%S %p", dates.us_times, (_TIME,) * 2, Goal(4, 300),
        options={"date_format": "%m/%d/%Y %I:%M:%S %p"}, facts=Facts(formats={_TIME: "%m/%d/%Y %I:%M:%S %p"}),
    ),
    Shape(
        "dates with names of months", dates.month_names, (_DATE,) * 3,
        options={"date_format": "%d %b %Y"}, facts=Facts(formats={_DATE: "%d %b %Y"}),
    ),
    Shape(
        "dates like 01.02.2020", dates.points, (_DATE,) * 4,
        options={"date_format": "%d.%m.%Y"}, facts=Facts(formats={_DATE: "%d.%m.%Y"}),
    ),
    Shape("times of day", dates.clock_times, ("time64[us]",) * 2),
    Shape("durations", dates.durations, ("duration[us]",) * 2, given=True),
    Shape("time series: nanoseconds, three floats", dates.nanoseconds, (_INT, *(_REAL,) * 3)),
    Shape(
        "trades: symbol, time, price, size", dates.ticks, (_TEXT, _TIME, _REAL, _INT, _TEXT),
        facts=Facts(formats={_TIME: _MILLIS}),
    ),
)  # fmt: skip

TEXTS = (
    Shape("ASCII words, three columns", texts.words, (_TEXT,) * 3, Goal(5, 500)),
    Shape("ASCII words as views", texts.words, (_TEXT,) * 3, options={"strings": "view"}),
    Shape("one column of words", texts.one_word, (_TEXT,)),
    Shape("50,000 identifiers as dictionaries", texts.identifiers, (_TEXT,) * 2, options={"strings": "dictionary"}),
    Shape("categories as dictionaries", texts.categories, (_TEXT,) * 3, options={"strings": "dictionary"}),
    Shape("Cyrillic words", texts.cyrillic, (_TEXT,) * 3, Goal(3, 300)),
    Shape("a non-ASCII letter in 5 % of records", texts.accents, (_TEXT,) * 3, Goal(4, 280)),
    Shape("Chinese words", texts.han, (_TEXT,) * 2),
    Shape("messages with emoji", texts.emoji, (_TEXT, _INT)),
    Shape("Latin-1", texts.latin_1, (_TEXT,) * 3, options={"encoding": "latin-1"}, facts=Facts(encoding="latin-1")),
    Shape("UTF-16", layouts.narrow, _NARROW, options={"encoding": "utf-16"}, facts=Facts(encoding="utf-16-le")),
    Shape("skewed lengths", texts.skewed_lengths, (_INT, _TEXT)),
    Shape("fields of 4 KB", texts.paragraphs, (_INT, _TEXT), Goal(5, 400)),
    Shape("fields of 300 KB to 1 MB", texts.megabytes, (_INT, _TEXT)),
    Shape("texts of 18 KB in 1 % of short records", texts.rare_pages, (_INT, _TEXT), facts=_QUOTES),
    Shape("UUIDs", texts.uuids, (_TEXT,) * 2),
    Shape("digests of 64 hexadecimal digits", texts.digests, (_TEXT, _INT)),
    Shape("base64", texts.base64_fields, (_INT, _TEXT)),
    Shape("URLs", texts.urls, (_TEXT, _INT)),
    Shape("postal addresses", texts.addresses, (_INT, _TEXT, _TEXT, _TEXT, _TEXT), facts=_QUOTES),
    Shape("IPv6 addresses and ports", texts.ipv6, (_TEXT, _INT, _TEXT)),
    Shape("amounts with currency, percent and units", texts.amounts, (_INT, _TEXT, _TEXT, _TEXT)),
    Shape("mail and IPv4 addresses", texts.contacts, (_TEXT, _TEXT, _INT)),
    Shape("all fields quoted", texts.all_quoted, (_INT, _TEXT, _TEXT, _REAL), Goal(10, 350), facts=_QUOTES),
    Shape(
        "all fields quoted, spaces after separators", texts.all_quoted_spaced, (_INT, _TEXT, _TEXT, _REAL), Goal(1.5, 200),
        options={"skip_initial_space": True}, facts=_QUOTES,
    ),
    Shape(
        "all fields quoted, padded", texts.all_quoted_padded, (_INT, _TEXT, _TEXT, _REAL),
        options={"strip": True}, facts=_QUOTES,
    ),
    Shape("every fifth record with a quoted comma", texts.quoted_commas, _NARROW, Goal(5, 300), facts=_QUOTES),
    Shape("JSON in quotes, every quote doubled", texts.json_doubled, (_INT, _TEXT), Goal(10, 300), facts=_QUOTES),
    Shape(
        "JSON in quotes, backslashes", texts.json_escaped, (_INT, _TEXT),
        options={"escape_char": "\\", "double_quote": False}, facts=_QUOTES,
    ),
    Shape("JSON without quotes, tabs", texts.json_bare, (_INT, _TEXT), options=_TAB),
    Shape("line breaks in quotes", texts.line_breaks, (_INT, _TEXT), Goal(10, 350), facts=_BREAKS),
    Shape(
        "CR LF, also in quotes", texts.carriage_returns, (_INT, _TEXT), facts=Facts(quotes=True, breaks=True, line_end="\r\n")
    ),
)  # fmt: skip

LAYOUTS = (
    Shape("CR LF", layouts.narrow, _NARROW, Goal(5, 350), facts=Facts(line_end="\r\n")),
    Shape("separated by tabs", layouts.separated("\t"), _NARROW, options=_TAB),
    Shape("separator of two bytes", layouts.separated("||"), _NARROW, options={"sep": "||"}),
    Shape("table of bars: number, words, price, date", layouts.bars, (_INT, _TEXT, _REAL, _DATE), options={"sep": "|"}),
    Shape("columns padded with spaces", layouts.aligned, _NARROW, Goal(1.5, 200), options={"strip": True}),
    Shape(
        "PostgreSQL's COPY", layouts.copied, (_INT, _TEXT, _TEXT, _TIME), Goal(1.5, 200),
        options=_TAB | {"escape_char": "\\", "escape_sequences": True, "null_values": ["\\N"]},
    ),
    Shape(
        "comments with quotes before every tenth record", layouts.quoted_comments, _NARROW,
        options={"comment": "#"}, facts=_QUOTES,
    ),
    Shape("comments before every tenth record", layouts.comments, _NARROW, options={"comment": "#"}),
    Shape("blank lines before every tenth record", layouts.blank_lines, _NARROW),
    Shape("40 columns of one digit", layouts.integers(40, 10), (_INT,) * 40),
    Shape("200 columns of integers", layouts.integers(200), (_INT,) * 200, Goal(5, 300)),
    Shape("2,000 columns of prices", layouts.prices(2000), (_REAL,) * 2000, Goal(4, 150)),
    Shape("2,000 columns of words", layouts.words(2000), (_TEXT,) * 2000),
    Shape("100 columns of short answers", layouts.answers, (_TEXT,) * 100),
    Shape("eight columns without a value", layouts.without_values, (_TEXT,) * 8),
    Shape("300 columns, 97 % empty", layouts.sparse, (_INT,) * layouts.SPARSE_COLUMNS),
    Shape(
        "1 % of a column does not convert, null", layouts.faults(0.01), (_INT, _INT, _REAL), Goal(3, 150),
        given=True, options={"on_error": "null"}, facts=Facts(as_text=(1,)),
    ),
    Shape(
        "1 % of a column does not convert, reject", layouts.faults(0.01), (_INT, _INT, _REAL), Goal(3, 150),
        given=True, options={"on_error": "reject"}, facts=Facts(as_text=(1,)),
    ),
    Shape(
        "10 % of a column does not convert, null", layouts.faults(0.1), (_INT, _INT, _REAL), Goal(2.5, 100),
        given=True, options={"on_error": "null"}, facts=Facts(as_text=(1,)),
    ),
    Shape(
        "0.01 % of a column does not convert, null", layouts.faults(0.0001), (_INT, _INT, _REAL), Goal(3, 250),
        given=True, options={"on_error": "null"}, facts=Facts(as_text=(1,)),
    ),
    Shape("5 % short records", layouts.short_records, (_INT,) * 3, Goal(2.5, 250), options={"short_records": "null"}),
    Shape(
        "stray quotes in 4 % of records", layouts.stray_quotes, (_INT, _TEXT),
        options={"lenient_quotes": True, "on_error": "null"}, facts=_QUOTES,
    ),
)  # fmt: skip

DOMAINS = (
    Shape("web log", domains.web_log, (*(_TEXT,) * 4, _INT, _INT, _TEXT), options={"sep": " "}, facts=_QUOTES),
    Shape(
        "application log", domains.application_log, (_TIME, _TEXT, _TEXT, _INT, _TEXT), options=_TAB,
        facts=Facts(formats={_TIME: _MILLIS}),
    ),
    Shape("geometry: polygons in WKT", domains.polygons, (_INT, _TEXT), facts=_QUOTES),
    Shape("geometry: points", domains.points, (_REAL, _REAL, _TEXT, _TEXT)),
    Shape("genomics: variants", domains.variants, (_TEXT, _INT, *(_TEXT,) * 3, _REAL, *(_TEXT,) * 6), options=_TAB),
    Shape("genomics: reads of 150 bases", domains.sequences, (_TEXT, _INT, _INT, _TEXT, _TEXT), options=_TAB),
    Shape("genomics: intervals", domains.intervals, (_TEXT, _INT, _INT, _TEXT, _INT, _TEXT), options=_TAB),
    Shape("orders: numbers, dates, comment", domains.orders, (_INT,) * 3 + (_REAL,) * 2 + (_TEXT, _DATE, _DATE, _TEXT)),
    Shape(
        "mixed: a column of each kind", domains.mixed, (_INT, _REAL, _REAL, _BOOL, _DATE, _TIME, _TEXT, _TEXT, _TEXT, _INT),
        facts=_QUOTES,
    ),
    Shape("every type", domains.every_type, domains.EVERY_TYPE, given=True),
)  # fmt: skip

SHAPES = {shape.name: shape for shape in (*NUMBERS, *DATES, *TEXTS, *LAYOUTS, *DOMAINS)}
"""Shapes by name."""
