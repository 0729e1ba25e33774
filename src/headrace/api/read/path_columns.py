"""Creates columns from the paths of files: hive partitions, and the paths themselves."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from headrace.api.load.column_order import index_name, text_columns
from headrace.api.load.reading import load_plan, prepare
from headrace.api.options.csv_options import CsvOptions, FilesOptions
from headrace.columns.buffers.load_result import Evidence
from headrace.columns.column import Column
from headrace.columns.load.load import load
from headrace.columns.plan.row_policy import RowOptions
from headrace.columns.records.data_range import DataRangeOptions
from headrace.columns.schema import FirstRecord, SchemaOptions
from headrace.columns.types import DataType, parse_type
from headrace.core.errors import OptionError, ParseError
from headrace.sources.find_files import partitions
from headrace.sources.open import SourceOptions, open_source
from headrace.structure.dialect import LINES

Partitions = Mapping[str, Sequence[str | None]]  # mapping from key to the value of each file; None is null


def find_partitions(
    names: Sequence[str], firsts: Sequence[FirstRecord | None], options: CsvOptions
) -> tuple[Partitions, SchemaOptions, Sequence[object] | None]:
    """Return the partitions in the paths of files, and the options of the files' own columns, without those of partitions.

    The third result is ``columns=``, if it names a partition, the column of paths or the row index; otherwise None.

    `firsts`: the first record of each file. A column that it names belongs to the file, and is not a partition.
    """
    found = partitions(names, options.files.hive_partitioning)
    own = {text for first in firsts if first for text in first.fields}
    header_texts = {text.decode("utf-8", "surrogateescape") for text in own}
    elsewhere = found.keys() - header_texts
    schema, dtypes = options.schema.schema, options.schema.dtypes
    if isinstance(schema, Mapping):
        schema = {name: given for name, given in schema.items() if name not in elsewhere}
    if isinstance(dtypes, Mapping):
        dtypes = {name: given for name, given in dtypes.items() if name not in elsewhere}
    last = [key for key in (*found, options.files.include_file_paths) if key is not None and key not in header_texts]
    columns, asked = text_columns(options.schema.columns, index_name(options), last)
    if not found and asked is None:
        return found, options.schema, None
    return found, replace(options.schema, schema=schema, dtypes=dtypes, columns=columns), asked


def without_own(found: Partitions, names: Sequence[str], options: CsvOptions) -> Partitions:
    """Return the partitions whose keys are not columns of the files; `names` are those of the files.

    Raise OptionError if ``hive_partitioning=True``, and a key is a column of the files; or the column of paths has the name
    of another column.
    """
    both = [key for key in found if key in names]
    if both and options.files.hive_partitioning:
        raise OptionError(
            f"{both[0]!r} is a column of the files and a key in their paths; pass hive_partitioning=False to keep the files' own"
        )
    path_column = options.files.include_file_paths
    if path_column is not None and (path_column in names or path_column in found):
        raise OptionError(f"include_file_paths: there is already a column {path_column!r}; choose another name")
    return {key: values for key, values in found.items() if key not in both}


def path_texts(
    found: Partitions, names: Sequence[str], options: CsvOptions
) -> Iterator[tuple[str, Sequence[str | None], DataType | None]]:
    """Yield name, text of each file, and given type of every column from the paths."""
    yield from ((key, found[key], given) for key, given in zip(found, _declared_types(list(found), options.schema), strict=True))
    if options.files.include_file_paths:
        yield options.files.include_file_paths, names, parse_type("string")


def _declared_types(names: list[str], options: SchemaOptions) -> list[DataType | None]:
    """Return the types that schema and dtypes give to these columns."""
    given: dict[object, object] = {}
    for types in (options.schema, options.dtypes):
        given |= types if isinstance(types, Mapping) else {}
    default = None if options.infer_schema else parse_type("string")
    return [parse_type(given[name]) if name in given else default for name in names]


def column_of_texts(
    name: str, texts: Sequence[str | None], wanted: DataType | None, options: CsvOptions
) -> tuple[Column, Evidence | None]:
    """Return texts as a column of the wanted type, or of the type that is inferred from them as from the fields of a file."""
    data = "".join(_as_field(text) + "\n" for text in texts).encode("utf-8", "backslashreplace").decode()
    own = CsvOptions(
        source=SourceOptions(),
        dialect=LINES,
        schema=SchemaOptions(header=False, names=[name], dtypes=None if wanted is None else {name: wanted}),
        values=replace(
            options.values, forms=options.values.forms.dates_alone(name), quoted_null=False, on_error="raise", shrink=False
        ),
        extent=DataRangeOptions(),
        rows=RowOptions(),
        row_index=None,
        files=FilesOptions(),
        context=options.context,
        chunk_bytes=None,
    )
    with open_source(io.StringIO(data)) as opened:
        try:
            loaded = load(opened, own.dialect, load_plan(opened, prepare(opened, own), own))
        except ParseError as error:
            raise OptionError(f"{name!r} in a path is {error.text!r}, which is not of type {error.expected}") from None
    column = loaded.columns[0]
    if column is None:
        raise ValueError("the only column is one to read")
    return column, loaded.evidence[0]


def _as_field(text: str | None) -> str:
    if text is None:
        return ""
    return '"' + text.replace('"', '""') + '"' if text == "" or any(symbol in text for symbol in '",\r\n') else text
