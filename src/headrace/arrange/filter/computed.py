"""Computes columns from expressions of columns in host memory, and columns of one literal."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from headrace import _native
from headrace.arrange.filter.column_layout import described_column
from headrace.arrange.filter.literals import quantity_of
from headrace.arrange.filter.operands import is_beyond, rounded_in, signed_float
from headrace.arrange.filter.program import CompiledValue, compiled_value
from headrace.arrange.gather.take import take_rows
from headrace.columns.column import Column
from headrace.columns.traits import TRAITS
from headrace.columns.types import DataType
from headrace.core.buffer import copy_of
from headrace.core.context import Context
from headrace.core.errors import MissingDependencyError, OptionError, shown
from headrace.core.expressions.column_expression import ColumnExpression
from headrace.core.expressions.operators import plain

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "computed columns") from None

_ARRAYS = {"i64": "<i8", "u64": "<u8", "f32": "<f4", "f64": "<f8", "truth": "|u1"}
_DECIMAL_BYTES = 16


def computed_column(columns: Mapping[str, Column], expression: ColumnExpression, type_: DataType, context: Context) -> Column:
    """Return the values of an expression of numbers or conditions as a column of a type. A null has zeros as its value.

    Integers must be in the range of the type, and floats have its width, or become wider. Integers become float64.

    Raise OptionError if the expression has values of another type, or integers outside of its range. Raise UnknownColumnError
    if there is no such column.

    >>> from headrace import DataType, col, read_csv
    >>> columns = read_csv(b"a\\n1\\n2\\n").columns
    >>> computed_column(columns, col("a") * 3, DataType("int8"), Context()).to_pylist()
    [3, 6]
    """
    compiled = compiled_value(expression, {name: column.type for name, column in columns.items()}, type_)
    length = len(next(iter(columns.values())))
    if compiled.domain == "null":
        return literal_column(None, type_, length)
    values, valid = _evaluated(columns, compiled, length, context)
    if TRAITS[type_.name].family == "integer":
        _check_range(values, valid, type_)
    values[~valid] = 0
    bits = np.packbits(values, bitorder="little") if type_.name == "bool" else values.astype(f"<{TRAITS[type_.name].struct}")
    nulls = length - int(np.count_nonzero(valid))
    validity = copy_of(np.packbits(valid, bitorder="little")) if nulls else None
    return Column(type_, length, nulls, copy_of(bits), validity)


def literal_column(value: object, type_: DataType, length: int, threads: int = 1) -> Column:
    """Return a column of one value; None is null.

    Raise OptionError if the type does not have the value.

    >>> from headrace import DataType
    >>> literal_column("2024-01-31", DataType("date32"), 2).to_pylist()
    [datetime.date(2024, 1, 31), datetime.date(2024, 1, 31)]
    """
    traits = TRAITS[type_.name]
    value = plain(value)
    nulls, validity = (1, copy_of(b"\0")) if value is None else (0, None)
    if type_.name == "null":
        if value is not None:
            raise OptionError(f"{type_} does not have the value {shown(value)}")
        return Column(type_, length, length, copy_of(b""))
    data = b"" if value is None else _bytes_of(value, type_)
    if traits.family in ("string", "binary"):
        offsets = copy_of(struct.pack(f"<2{traits.struct}", 0, len(data)))
        one = Column(type_, 1, nulls, copy_of(data), validity, offsets)
    else:
        one = Column(type_, 1, nulls, copy_of(data or bytes(-(-type_.bits // 8))), validity)
    return take_rows(one, np.zeros(length, np.uint64), threads)


def _evaluated(columns: Mapping[str, Column], compiled: CompiledValue, length: int, context: Context) -> tuple[Any, Any]:
    """Return values of a program as an array, and whether each is not null."""
    program, held = compiled.program, list[Any]()
    described = b"".join(described_column(columns[name], held) for name in program.columns)
    values: Any = np.empty(length, _ARRAYS[compiled.domain])
    valid: Any = np.empty(length, np.uint8)
    results = values.ctypes.data, valid.ctypes.data, values.itemsize
    given = program.steps, described, program.constants, program.step_count, program.depth
    _native.compute_rows(given, length, results, context.isa, context.thread_count)
    return values, valid.view(bool)


def _check_range(values: Any, valid: Any, type_: DataType) -> None:
    limits = np.iinfo(type_.name)
    there = values[valid]
    if len(there):
        for value in (int(there.min()), int(there.max())):
            if not limits.min <= value <= limits.max:
                raise OptionError(f"{type_} does not have the value {value} of the expression")


def _bytes_of(value: Any, type_: DataType) -> bytes:
    """Return a value of Python in Arrow's form."""
    traits = TRAITS[type_.name]
    wrong = OptionError(f"{type_} does not have the value {shown(value)}")
    if traits.family == "bool":
        if not isinstance(value, bool):
            raise wrong
        return bytes([value])
    if traits.family in ("string", "binary"):
        if not isinstance(value, str if traits.family == "string" else bytes):
            raise wrong
        try:
            return value.encode() if isinstance(value, str) else bytes(value)
        except UnicodeEncodeError:
            raise wrong from None
    try:
        found = quantity_of(traits.family, type_.unit, type_.scale, type_.tz is not None, str(type_)).literal(value)
    except OptionError:
        raise wrong from None
    if traits.family == "float":
        if is_beyond(found, f"f{type_.bits}"):
            raise wrong
        return struct.pack(f"<{traits.struct}", rounded_in(signed_float(found, value), f"f{type_.bits}"))
    return _integer_bytes(found, type_, wrong)


def _integer_bytes(value: Fraction | float, type_: DataType, wrong: OptionError) -> bytes:
    if not isinstance(value, Fraction) or value.denominator != 1:
        raise wrong
    if type_.name == "decimal128":
        if abs(value) >= 10 ** (type_.precision or 0):
            raise wrong
        return int(value).to_bytes(_DECIMAL_BYTES, "little", signed=True)
    try:
        return struct.pack(f"<{TRAITS[type_.name].struct}", int(value))
    except struct.error:
        raise wrong from None
