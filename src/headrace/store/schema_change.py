"""A change of a store's columns: added, dropped, renamed, or of a wider type; and its bytes in the log.

Each column after the change is one from before, or a new one, which has the same value in all rows. Rows keep their numbers. In
the main a wider type changes the dictionary alone, and a new column has a dictionary of one value, whose codes have no bits. So
the cost is that of the dictionaries and of the delta, not of the main's rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from headrace.arrange.filter.computed import literal_column
from headrace.arrange.gather.take import take_rows
from headrace.columns.as_numpy import in_memory
from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.buffer import copy_of
from headrace.core.context import Context
from headrace.core.errors import MissingDependencyError, OptionError, UnknownColumnError, shown
from headrace.store.arrow_columns import columns_of, ipc_parts
from headrace.store.dictionary import validity
from headrace.store.dictionary.encode import encode
from headrace.store.dictionary.encoded_column import EncodedColumn
from headrace.store.dictionary.items import empty_column
from headrace.store.main import ColumnReader, Main, UnreadColumns
from headrace.store.schema import check_names, fitted, parsed_schema

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None

_LENGTH_BYTES = 8
_ONE_THREAD = Context(threads=1)
_NAN, _SIGN, _FRACTION = 0x7FF << 52, 1 << 31, (1 << 23) - 1


@dataclass(frozen=True, slots=True)
class SchemaRequest:
    """The options of a caller who changes columns. Names of `drop`, `rename` and `widen` are those from before."""

    add: Mapping[str, Any]  # types of new columns by name
    defaults: Mapping[str, Any]  # literals that new columns have in the rows from before; the others have nulls
    drop: Sequence[str]  # names of the columns that go
    rename: Mapping[str, str]  # new names by name
    widen: Mapping[str, Any]  # wider types by name

    @classmethod
    def of(cls, add: Any, defaults: Any, drop: Any, rename: Any, widen: Any) -> SchemaRequest:
        """Return the request of options. Raise OptionError if one is no mapping, `drop` is no list, or there is no change."""
        drop = [drop] if isinstance(drop, str) else drop
        if not isinstance(drop, list | tuple | None):
            raise OptionError.wrong("drop", "the name of a column, several names in a list, or None", drop)
        for name, option in {"add": add, "defaults": defaults, "rename": rename, "widen": widen}.items():
            if not isinstance(option, Mapping | None):
                raise OptionError.wrong(name, "a mapping from names of columns, or None", option)
        for new in (rename or {}).values():
            if not isinstance(new, str):
                raise OptionError.wrong("rename", "a mapping of names to names", rename)
        if not (add or drop or rename or widen):
            raise OptionError("alter() needs add=, drop=, rename= or widen=")
        return cls(add or {}, defaults or {}, drop or (), rename or {}, widen or {})

    def change_of(self, schema: Mapping[str, DataType], key: Sequence[str]) -> SchemaChange:
        """Return the change of a schema; `key`: names of the columns of the key, which stay as they are.

        Raise UnknownColumnError if there is no such column. Raise OptionError if a column is one of the key, a type is not
        wider, or two columns get the same name. Raise it if a new column does not have its default, too.
        """
        for option, names in (("drop", self.drop), ("rename", self.rename), ("widen", self.widen)):
            check_names(option, names, schema)
            for name in names:
                if name in key:
                    raise OptionError(f"{option} has {shown(name)}, a column of the key, which stays; fill another store instead")
        stay = [name for name in schema if name not in self.drop]
        if not all(name in stay for name in (*self.rename, *self.widen)):
            raise OptionError("alter() drops a column that it renames or widens")
        old_names = {self.rename.get(name, name): name for name in stay}
        if len(old_names) < len(stay) or not old_names.keys().isdisjoint(self.add):
            raise OptionError("alter() gives two columns the same name")
        types = {name: self._type_of(old, schema[old]) for name, old in old_names.items()}
        types |= parsed_schema(self.add) if self.add else {}
        parsed_schema(types)  # raises for a new name that no column may have, and for no columns
        for name in self.defaults:
            if name not in self.add:
                raise UnknownColumnError(f"defaults has {shown(name)}, and add has no such column")
        return SchemaChange(types, old_names, {name: self._value_of(name, types[name]) for name in self.add})

    def _type_of(self, name: str, old: DataType) -> DataType:
        if name not in self.widen:
            return old
        new = parsed_schema({name: self.widen[name]})[name]
        if new != old and not _is_wider(old, new):
            raise OptionError(f"column {shown(name)} is of type {old}, and {new} does not have all of its values; add a column")
        return new

    def _value_of(self, name: str, type_: DataType) -> Column:
        try:
            return literal_column(self.defaults.get(name), type_, 1)
        except OptionError as error:
            raise OptionError(f"defaults of {shown(name)}: {error}") from None


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """The columns after a change, and where each of them comes from."""

    types: Mapping[str, DataType]  # name and type of each column
    old_names: Mapping[str, str]  # names of columns from before, by their present names
    added: Mapping[str, Column]  # the new columns, of one row: the value in all rows from before

    def encoded(self) -> list[bytes | memoryview]:
        """Return the parts of the record's payload: the length of a JSON object, the object, and an Arrow IPC stream."""
        columns = [{"name": name, "type": str(type_), "from": self.old_names.get(name)} for name, type_ in self.types.items()]
        text = json.dumps({"columns": columns}, ensure_ascii=False).encode()
        return [len(text).to_bytes(_LENGTH_BYTES, "little"), text, *(ipc_parts(self.added) if self.added else [])]

    @classmethod
    def decoded(cls, payload: memoryview) -> SchemaChange:
        """Return the change of a payload. Raise ValueError or another error of Python if no writer writes such a payload."""
        end = _LENGTH_BYTES + int.from_bytes(payload[:_LENGTH_BYTES], "little")
        columns = json.loads(bytes(payload[_LENGTH_BYTES:end]))["columns"]
        types = parsed_schema({column["name"]: column["type"] for column in columns})
        old_names = {column["name"]: column["from"] for column in columns if column["from"] is not None}
        added = columns_of(payload[end:]) if len(payload) > end else {}
        if len(types) < len(columns) or {name: column.type for name, column in added.items()} != {
            name: type_ for name, type_ in types.items() if name not in old_names
        }:
            raise ValueError("it gives two columns the same name, or its new columns are not those that it has")
        if any(len(column) != 1 for column in added.values()):
            raise ValueError("its new columns do not have one row")
        return cls(types, old_names, added)

    def check(self, before: Mapping[str, DataType]) -> None:
        """Raise ValueError if the columns from before do not exist, appear twice, or have a type that is not wider."""
        names = list(self.old_names.values())
        if len(set(names)) < len(names) or not before.keys() >= set(names):
            raise ValueError("it has a column from before twice, or one that the store does not have")
        for name, old in self.old_names.items():
            if before[old] != self.types[name] and not _is_wider(before[old], self.types[name]):
                raise ValueError(f"type {self.types[name]} does not have all values of {before[old]}")

    def columns(self, before: Mapping[str, Column], length: int) -> dict[str, Column]:
        """Return columns of the delta after the change; `length`: number of their rows."""
        first: Any = np.zeros(length, np.uint64)
        return {
            name: _widened(before[self.old_names[name]], type_)
            if name in self.old_names
            else take_rows(self.added[name], first, 1)
            for name, type_ in self.types.items()
        }

    def main(self, before: Main) -> Main:
        """Return a main after the change, whose columns are made at their first use. It shares the codes."""
        length, readers = len(before.rows), {}
        for name, type_ in self.types.items():
            if name in self.old_names:
                readers[name] = ColumnReader(partial(_retyped, before.reader(self.old_names[name]), type_))
            else:
                readers[name] = ColumnReader(partial(_constant, self.added[name], length))
        return replace(before, columns=UnreadColumns(readers))

    def name_of(self, name: str) -> str | None:
        """Return the present name of a column from before; None if it is dropped."""
        return next((new for new, old in self.old_names.items() if old == name), None)


def _retyped(read: Callable[[], EncodedColumn], type_: DataType) -> EncodedColumn:
    column = read()
    return replace(column, dictionary=_widened(column.dictionary, type_))


def _constant(value: Column, length: int) -> EncodedColumn:
    """Return a column that has the value of one row in all rows."""
    if not length:
        return encode(empty_column(value.type))
    one = encode(value)
    bits, nulls = validity.all_null(length) if one.null_count else validity.Validity(None, 0)
    return EncodedColumn(one.dictionary, one.words, length, nulls, bits)


def _is_wider(old: DataType, new: DataType) -> bool:
    """Return whether a type has each value of another one, in the same order."""
    if old.is_numeric and new.is_numeric:
        is_rounded = old.bits == new.bits and new.name.startswith("float")  # NumPy takes int64 to float64 for safe
        return bool(np.can_cast(old.name, new.name, "safe")) and not is_rounded
    if old.name == new.name == "decimal128":
        return old.scale == new.scale and (old.precision or 0) < (new.precision or 0)
    return new.name == f"large_{old.name}"


def _widened(column: Column, type_: DataType) -> Column:
    """Return a column in a wider type. Distinct values remain distinct, and in their order."""
    if type_.name == "decimal128":
        return replace(column, type=type_)
    if (column.type.name, type_.name) != ("float32", "float64"):
        return fitted({"": column}, {"": type_}, _ONE_THREAD)[""]
    values = in_memory(column)
    with np.errstate(invalid="ignore"):
        wide, bits = values.astype("f8"), values.view("u4").astype("u8")
    nans = np.isnan(values)  # a conversion makes them quiet, so that two become one
    wide.view("u8")[nans] = (bits[nans] & _SIGN) << 32 | _NAN | (bits[nans] & _FRACTION) << 29
    return replace(column, type=type_, values=copy_of(wide))
