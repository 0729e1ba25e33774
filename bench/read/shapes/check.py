"""Checks answers before they are timed.

The oracle (headrace.testing.reference) reads a short text of the shape. headrace's answer must have the same types, values,
nulls, rejects and counts. The answer for the whole file is compared with each peer's.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import headrace
from bench.read.cases import Case
from bench.read.check import comparable, differences, read_reference, write_reference
from bench.read.shapes.shape import Shape, header_of, records_of
from headrace.structure.dialect import Dialect
from headrace.testing.compare import assert_same_table
from headrace.testing.forms import Forms
from headrace.testing.oracle import field_text, split
from headrace.testing.reference import ReferenceOptions, read
from headrace.testing.values import Words

PIECE_BYTES = 12 << 10
_DIALECT = ("sep", "quote_char", "double_quote", "escape_char", "escape_sequences", "comment", "skip_initial_space", "strip")
_WORDS = {"null": "null_values", "true": "true_values", "false": "false_values"}
_ORACLE = {*_DIALECT, "null_values", "true_values", "false_values", "decimal", "thousands", "date_format", "on_error"}
"""Options that the oracle knows."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome of the checks of a shape.

    `by_oracle`: whether the oracle knows the shape's options. Then it has confirmed headrace's answer for a piece.
    `errors`: the error of each reader that has one, or that is too slow to be timed.
    """

    by_oracle: bool
    errors: dict[str, str]


def oracle_options(shape: Shape) -> ReferenceOptions | None:
    """Return the oracle's options; None if it lacks one of the shape's."""
    options = dict(shape.options)
    if options.keys() - _ORACLE or shape.facts.encoding != "utf-8":
        return None
    encoded = {name: _encoded(options[name]) for name in _DIALECT if name in options}
    words = {name: tuple(word.encode() for word in options[key]) for name, key in _WORDS.items() if key in options}
    formats = (options["date_format"],) if "date_format" in options else ()
    mark = options.get("thousands")
    return ReferenceOptions(
        dialect=Dialect(**encoded),
        header=True,
        types=dict(enumerate(shape.types)) if shape.given else {},
        words=Words(**words, escape=encoded.get("escape_char") or b""),
        forms=Forms(decimal=options.get("decimal", ".").encode(), thousands=mark and mark.encode(), formats=formats),
        on_error=options.get("on_error", "raise"),
    )


def _encoded(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def piece_of(shape: Shape, size: int) -> bytes:
    """Return a header and about `size` bytes of records, or one longer record."""
    count = 1
    records = records_of(shape, count)
    while len(records) < size:
        count = max(count + 1, count * size // max(len(records), 1))
        records = records_of(shape, count)
    return header_of(shape) + records


def check_piece(shape: Shape, size: int = PIECE_BYTES) -> bool:
    """Compare headrace's answer for a piece with the oracle's. Return whether the oracle knows the shape's options.

    If quotes are malformed, the texts of the fields are compared, since only the oracle of structure repairs quotes.

    Raises
    ------
    AssertionError
        The answers differ.
    """
    piece = piece_of(shape, size)
    if shape.options.get("lenient_quotes"):
        table = headrace.read_csv(piece, **{**shape.read_options, "dtypes": "string"})
        assert list(zip(*table.to_pydict().values(), strict=True)) == _texts(piece), "texts differ"
        return True
    options = oracle_options(shape)
    if options is None:
        return False
    assert_same_table(headrace.read_csv(piece, **shape.read_options), read(piece, options))
    return True


def _texts(piece: bytes) -> list[tuple[str, ...]]:
    """Return the texts of all fields by the oracle of structure, with malformed quotes as text."""
    dialect = Dialect(lenient_quotes=True)
    records = split(piece, dialect).records[1:]
    return [tuple(field_text(piece, *field, dialect)[0].decode() for field in record.fields) for record in records]


def keep_answer(table: headrace.Table, shape: Shape, path: Path) -> int:
    """Write headrace's answer to a file for comparison, and return the bytes of its buffers.

    Raises
    ------
    ValueError
        The types are not those of the shape, or the counts of the report do not add up.
    """
    table.report.check()
    found = {name: plain_name(str(type_)) for name, type_ in table.schema.items()}
    if found != dict(shape.schema):
        wrong = next(name for name in found if found[name] != shape.schema.get(name))
        raise ValueError(f"{wrong} has type {found[wrong]}")
    arrow = pa.table(table)
    write_reference(arrow, _case(shape), path)
    return int(arrow.nbytes)


def plain_name(type_: str) -> str:
    """Return the name of a type, views and dictionaries as string."""
    return "string" if type_ == "string_view" or type_.startswith("dictionary") else type_


def check_answer(result: Any, shape: Shape, path: Path) -> str:
    """Return the first difference of a peer's answer to headrace's; "" if there is none.

    If the peer has no policy for faults and has read a column with faults as text, the policy is applied to its answer first.
    """
    table = pa.Table.from_pandas(result, preserve_index=False) if hasattr(result, "iloc") else pa.table(result)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            table = _replaced(table, name, pa.chunked_array([_with_strings(chunk) for chunk in column.chunks]))
    for i in shape.facts.as_text:
        table = _without_faults(table, f"c{i}", shape.options["on_error"])
    return differences(comparable(table, _case(shape)), read_reference(path), typed=True, rounded=False)


def _without_faults(table: pa.Table, name: str, policy: str) -> pa.Table:
    """Return a table whose texts that are no integers are null, or whose rows with such texts are left out."""
    column = table[name]
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type)):
        return table
    texts = column.cast(pa.string())
    is_number = pc.match_substring_regex(texts, "^[0-9]+$")
    if policy == "reject":
        return _replaced(table, name, texts).filter(is_number)
    return _replaced(table, name, pc.if_else(is_number, texts, None))


def _with_strings(codes: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return codes of texts with strings as their dictionary: Arrow does not decode string views."""
    return pa.DictionaryArray.from_arrays(codes.indices, codes.dictionary.cast(pa.string()))


def _replaced(table: pa.Table, name: str, column: Any) -> pa.Table:
    """Return a table with another column of a name."""
    return table.set_column(table.column_names.index(name), name, column)


def _case(shape: Shape) -> Case:
    return Case(shape.name, dict(shape.schema))
