"""Joins the options of `read_csv` and `scan_csv` to one table: the one place for names, defaults, parsers, aliases and flags.

`csv_options.parse_options` walks the table; the command's flags and docs/options.md are generated from it. ``checks/options.py``
compares it with the signature and the documentation of `read_csv`. To add an option: a row in the file of its group, its type in
`keywords.py` and the parameter in `read_csv`. A field of the same name in a group of `CsvOptions` carries it to
its place of use.
"""

from headrace.api.options.column_options import COLUMN_OPTIONS
from headrace.api.options.file_options import FILE_OPTIONS
from headrace.api.options.text_options import TEXT_OPTIONS
from headrace.api.options.work_options import WORK_OPTIONS

GROUPS = {"files": FILE_OPTIONS, "text": TEXT_OPTIONS, "columns": COLUMN_OPTIONS, "work": WORK_OPTIONS}
"""The options by group: a part of the command's help and of docs/options.md."""

OPTIONS = tuple(option for group in GROUPS.values() for option in group)

DEFAULTS: dict[str, object] = {option.name: option.default for option in OPTIONS}
"""Default of each option, by name. All are immutable."""

ALIASES = {alias: option.name for option in OPTIONS for alias in option.aliases}
"""Names that other readers use, and the options that they mean."""

MEANS_NONE = frozenset({"quote_char", "compression"})
"""Options with another default than None for which None is a value. For others, other readers write None for the default."""
