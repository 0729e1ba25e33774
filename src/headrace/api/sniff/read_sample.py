"""Reads a sample by a proposal, to check the proposal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headrace import _native
from headrace.api.load.reading import load_plan, prepare, table_columns
from headrace.api.options.csv_options import CsvOptions, FilesOptions
from headrace.columns.column import Column
from headrace.columns.infer.sniff import POINT, Marks
from headrace.columns.load.load import load
from headrace.columns.plan.load_plan import ValueOptions
from headrace.columns.plan.row_policy import RowOptions
from headrace.columns.records.data_range import DataRangeOptions
from headrace.columns.schema import SchemaOptions
from headrace.core.context import Context
from headrace.core.errors import EmptyInputError, ParseError
from headrace.sources.open import OpenSource, SourceOptions
from headrace.structure.dialect import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The columns of a sample, or the reason why it cannot be read."""

    columns: Mapping[str, Column] = field(default_factory=dict)
    """Columns by name, with inferred types."""
    fault: str = ""
    """The reason why records or the header are refused; empty if none are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOptions:
    """The options by which a sample is read.

    `extent`: the records of the table.
    `rows`: policies for records of another width.
    """

    dialect: Dialect
    extent: DataRangeOptions
    rows: RowOptions


def read_sample(text: bytes, by: SampleOptions, context: Context, marks: Marks = POINT) -> Reading:
    """Read a text by these options. Texts that cannot be decoded are null and not faults, because no proposal changes them."""
    options = CsvOptions(
        dialect=by.dialect,
        schema=SchemaOptions(header=by.extent.header is not None),
        values=ValueOptions(on_error="null", marks=marks.codes),
        extent=by.extent,
        rows=by.rows,
        row_index=None,
        source=SourceOptions(),
        files=FilesOptions(),
        context=context,
        chunk_bytes=None,
    )
    source = OpenSource(_native.Source.from_bytes(text), "<sample>")
    try:
        prepared = prepare(source, options)
        loaded = load(source, by.dialect, load_plan(source, prepared, options))
    except (ParseError, EmptyInputError) as error:
        return Reading(fault=str(error))
    refused = loaded.counts["rejected"]
    fault = f"{refused} of its records are refused" if refused else ""
    return Reading(columns=dict(table_columns(prepared, loaded, options)), fault=fault)
