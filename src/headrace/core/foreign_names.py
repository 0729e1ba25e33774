"""Answers for attributes that tables, scans, columns and conditions have in other libraries: an alias, or what to use instead.

A name that is here under another name works. For any other name of pandas, Polars, PyArrow or DuckDB, the error names the
conversion after which it works. Only attributes that are not found come here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from headrace.core.errors import OptionError

ValueT = TypeVar("ValueT")

_NONE: Mapping[str, Any] = {}
_NOUNS = {
    **{name: name.lower() for name in ("Table", "Scan", "Column", "Store")},
    **dict.fromkeys(("HashMap", "HashMultiMap", "SortedMap"), "map"),
    "HashSet": "set",
    "Schema": "schema",
    "Columns": "mapping of columns",
}


class ForeignNames:
    """Base of the classes that answer names of other libraries."""

    __slots__ = ()

    if not TYPE_CHECKING:  # mypy and editors know the names of this package alone

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or hasattr(type(self), name):  # the latter is a property that raised
                return object.__getattribute__(self, name)
            return foreign_attribute(self, name)


class NamedItems(Mapping[str, ValueT], ForeignNames):
    """A read-only mapping from the names of columns, in order.

    >>> named = NamedItems({"a": 1})
    >>> named == {"a": 1}, named
    (True, {'a': 1})
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, ValueT]) -> None:
        self._items = items

    def __getitem__(self, name: str) -> ValueT:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(dict(self._items))

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._items))

    def __or__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        return {**self, **other} if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        return {**other, **self} if isinstance(other, Mapping) else NotImplemented

    def copy(self) -> dict[str, ValueT]:
        """Return a new dict of the same items."""
        return dict(self._items)


class Columns(NamedItems[ValueT]):
    """The columns of a table by name."""

    __slots__ = ()


class Schema(NamedItems[ValueT]):
    """The types of a table's columns by name. It equals a mapping, or a schema of PyArrow, of the same names and types."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        names, types = getattr(other, "names", None), getattr(other, "types", None)
        if isinstance(names, list) and isinstance(types, list):  # a schema of PyArrow, whose names are in an order
            return names == list(self) and list(self.values()) == types
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]


def foreign_attribute(thing: Any, name: str) -> Any:
    """Return the attribute that `name`, a word of another library, means.

    Raise AttributeError if there is none. The message says what to use, if the name is one of another library.
    """
    kind = type(thing).__name__
    alias = ALIASES.get(kind, _NONE).get(name)
    if alias is not None:
        return getattr(thing, alias) if isinstance(alias, str) else alias(thing)
    use = ADVICE.get(kind, _NONE).get(name) or _converted(kind, name)
    if kind == "Table" and name in thing.columns:
        use = f"table[{name!r}]"
    noun = _NOUNS.get(kind, "condition")
    raise AttributeError(f"a {noun} has no {name}: use {use}" if use else f"{kind!r} object has no attribute {name!r}")


def way_to_table(value: object) -> str:
    """Return the end of an error message that says how a table is made of a value of another kind; empty if that is unknown.

    >>> way_to_table({"a": [1]})
    '; polars.DataFrame(data) or pyarrow.table(data) makes a table of it'
    """
    name = type(value).__name__
    if name == "LazyFrame":
        return "; pass the frame that collect() returns"
    if name == "Series":
        return "; pass series.to_frame()"
    if name == "ndarray":
        return "; pandas.DataFrame(data, columns=names) makes a table of it"
    is_rows = isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)
    if isinstance(value, Mapping):
        return "; polars.DataFrame(data) or pyarrow.table(data) makes a table of it"
    return "; polars.DataFrame(data) makes a table of it" if is_rows else ""


def _converted(kind: str, name: str) -> str:
    """Return the expressions of other libraries that have this name; empty if there are none."""
    return " or ".join(f"{form}.{name}(...)" for form, names in ELSEWHERE.get(kind, _NONE).items() if name in names)


def _dictionary(table: Any) -> Callable[..., Any]:
    def to_dict(orient: str = "dict", *, as_series: bool = True) -> Any:
        if orient == "records":
            return table.to_pylist()
        if orient == "list" or not as_series:
            return table.to_pydict()
        raise OptionError("to_dict() returns lists: use to_pydict(), or to_pandas().to_dict(...) for other forms")

    return to_dict


def _tuples(table: Any) -> Callable[..., Any]:
    def itertuples(index: bool = True, name: str | None = "Pandas") -> Any:
        if index or name is not None:
            raise OptionError("itertuples() has no index and no names: pass index=False, name=None, or use iter_rows()")
        return table.iter_rows()

    return itertuples


def _renamed(table: Any) -> Callable[..., Any]:
    def rename_columns(names: Any) -> Any:
        if not isinstance(names, Mapping) and len(names) != table.num_columns:
            raise OptionError(f"names has {len(names)} names, and the table has {table.num_columns} columns")
        return table.rename(names if isinstance(names, Mapping) else dict(zip(table.column_names, names, strict=True)))

    return rename_columns


def _without_index(method: str) -> Callable[[Any], Callable[..., Any]]:
    """Return the alias of a method that writes, with the argument `index` of pandas."""

    def alias(table: Any) -> Callable[..., Any]:
        def written(path: Any = None, *, index: bool = False, **options: Any) -> Any:
            if index:
                raise OptionError("a table has no index: pass index=False")
            return getattr(table, method)(path, **options)

        return written

    return alias


ALIASES: Mapping[str, Mapping[str, str | Callable[[Any], Any]]] = {
    "Table": {
        **dict.fromkeys(("to_arrow_table", "fetch_arrow_table"), "to_arrow"),
        **dict.fromkeys(("df", "fetchdf", "fetch_df", "to_df"), "to_pandas"),
        **dict.fromkeys(("column", "get_column"), "__getitem__"),
        "pl": "to_polars",
        "fetchnumpy": "to_numpy",
        "height": "num_rows",
        "width": "num_columns",
        "to_dicts": "to_pylist",
        "drop_columns": "drop",
        "rename_columns": _renamed,
        "slice": lambda table: lambda offset=0, length=None: table[offset : None if length is None else offset + length],
        "limit": lambda table: lambda n=5, offset=0: table[offset : offset + n],
        "is_empty": lambda table: lambda: table.num_rows == 0,
        "empty": lambda table: table.num_rows == 0,
        **dict.fromkeys(
            ("arrow", "fetch_record_batch", "to_arrow_reader"), lambda table: lambda *_: table.to_arrow().to_reader()
        ),
        "torch": "to_torch",
        **dict.fromkeys(("itercolumns", "iter_columns"), lambda table: lambda: iter(table.columns.values())),
        "get_columns": lambda table: lambda: list(table.columns.values()),
        "to_series": lambda table: lambda index=0: table[index],
        **dict.fromkeys(("rows", "fetchall"), lambda table: lambda *, named=False: list(table.iter_rows(named=named))),
        "itertuples": _tuples,
        "to_dict": _dictionary,
        "to_csv": _without_index("write_csv"),
        "to_parquet": _without_index("write_parquet"),
    },
    "Scan": {
        **dict.fromkeys(("collect", "read_all", "to_table"), "read"),
        "filter": "where",
        "head": "limit",
        "sink_csv": "write_csv",
        "sink_parquet": "write_parquet",
        "to_batches": "batches",
        "iter_batches": "batches",
        "collect_schema": lambda scan: lambda: scan.schema,
        "read_next_batch": lambda scan: scan.batches().__next__,
        "read_pandas": lambda scan: lambda: scan.read().to_pandas(),
        "first": lambda scan: lambda: scan.limit(1),
    },
    "Columns": {name: lambda columns: lambda: list(columns) for name in ("to_list", "tolist")},
    "Schema": {"len": lambda schema: lambda: len(schema)},
    "Column": {"to_list": "to_pylist", "tolist": "to_pylist", "combine_chunks": lambda column: lambda: column},
    "ColumnExpression": {
        **dict.fromkeys(("isnull", "isna"), "is_null"),
        **dict.fromkeys(("notnull", "notna", "is_valid"), "is_not_null"),
        "isin": "is_in",
        "is_between": "between",
    },
    "TextConditions": {"startswith": "starts_with", "endswith": "ends_with"},
}  # names of other libraries by class: the attribute here, or a function of the object that returns it

_SLICE = "a slice such as table[0:2], table.head(n) or table.tail(n)"
_CONDITION = "table.filter(headrace.col('price') > 2)"

_COMPUTED = "table.to_polars(), which computes new values; conditions here select rows"

_OF_MAPS = {
    "keys": "map.items().keys",
    "values": "map.items().values",
    **dict.fromkeys(("pop", "remove", "discard", "delete"), "map.erase(keys)"),
    "copy": "map.snapshot()",
}
_OF_HASHES = {**_OF_MAPS, "flush": "map.compact()", **dict.fromkeys(("nbytes", "memory", "size"), "map.statistics()")}
_OF_KEYS = {**_OF_HASHES, **dict.fromkeys(("find_all", "erase_all"), "headrace.HashMultiMap, which has several values for a key")}

ADVICE: Mapping[str, Mapping[str, str]] = {
    "Table": {
        "iloc": f"{_SLICE}; table.take([2, 0]) for rows by number",
        "loc": f"{_CONDITION} for rows, table[['a', 'b']] for columns",
        "query": f"{_CONDITION} or table.to_pandas().query(...) or table.to_duckdb().query(...)",
        "where": _CONDITION,
        "row": "next(table[i:].iter_rows())",
        "fetchone": "next(table.iter_rows())",
        "fetchmany": "table.iter_rows()",
        "iterrows": "table.iter_rows(named=True)",
        "dtypes": "table.schema",
        "types": "table.schema",
        "index": "read_csv(..., row_index_name='index')",
        "set_index": "table.to_pandas().set_index(...)",
        "values": "table.to_numpy()",
        "collect": "the table itself, or scan_csv(...) for batches",
        "lazy": "scan_csv(...), or table.to_polars().lazy()",
        "info": "table.schema and table.report",
        "show": "print(table)",
        "astype": "read_csv(..., dtypes={'a': 'int32'})",
        "cast": "read_csv(..., dtypes={'a': 'int32'})",
        "null_count": "table['a'].null_count",
        "nbytes": "table.to_arrow().nbytes",
        "estimated_size": "table.to_arrow().nbytes",
        **dict.fromkeys(("append", "concat", "extend", "vstack", "union_all"), "headrace.concat([table, other])"),
        **dict.fromkeys(("copy", "clone"), "the table itself, which nothing changes"),
        "T": "table.to_pandas().T",
        "size": "table.num_rows and table.num_columns",
        "sink": "table.write_parquet(path) or table.write_csv(path)",
        "field": "table.schema['a']",
        "description": "table.schema",
        "alias": "table.to_duckdb().alias",
        "record_batch": "table.to_arrow().to_reader()",
        **dict.fromkeys(("fetch_df_chunk", "fetch_arrow_reader"), "scan_csv(...).batches()"),
    },
    "Scan": {
        "columns": "list(scan.schema)",
        "names": "list(scan.schema)",
        "tail": "scan.read().tail(n)",
        "dtypes": "scan.schema",
        **dict.fromkeys(("shape", "count", "num_rows", "height"), "scan.read().shape, or scan.sink(path).rows"),
        "fetch": "scan.limit(n).read()",
        "filter_rows": "scan.where(...)",
        "get_chunk": "next(scan.batches())",
    },
    "Columns": {**dict.fromkeys(("names", "str", "map", "isin", "get_loc"), "list(table.columns)")},
    "Schema": {
        "names": "list(table.schema)",
        **dict.fromkeys(("types", "dtypes"), "list(table.schema.values())"),
        **dict.fromkeys(("field", "field_by_name"), "table.schema['a']"),
        "get_field_index": "list(table.schema).index('a')",
        **dict.fromkeys(("to_python", "to_arrow", "metadata"), "table.to_arrow().schema"),
    },
    "Column": {
        "dtype": "column.type",
        "as_py": "column.to_pylist()",
        "item": "column[0]",
        **dict.fromkeys(("chunks", "num_chunks", "chunk"), "the column itself, which has one chunk"),
        **dict.fromkeys(("notna", "notnull", "is_valid", "is_not_null"), "len(column) - column.null_count"),
        **dict.fromkeys(("nunique", "n_unique"), "len(set(column.to_pylist()))"),
        **dict.fromkeys(("to_cupy", "values_host"), "column.to_numpy(), or cupy.asarray(column) on a GPU"),
        **dict.fromkeys(("len", "size"), "len(column)"),
        "shape": "(len(column),)",
        "name": "the names of table.columns",
        "nbytes": "pyarrow.array(column).nbytes",
        "to_arrow": "pyarrow.array(column)",
        "to_pandas": "pandas.Series(column.to_numpy())",
        **dict.fromkeys(("to_polars", "to_series"), "polars.Series(column)"),
        **dict.fromkeys(("head", "limit", "iloc"), "a slice such as column[0:2]"),
        "tail": "a slice such as column[-2:]",
        **dict.fromkeys(("take", "gather"), "table.take(rows)[name]"),
        "filter": "table.filter(headrace.col(name) > 2)",
        "dt": "polars.Series(column).dt",
        "fetchall": "column.to_pylist()",
        "isna": "headrace.col(name).is_null() in table.filter(...), or column.null_count",
        "isnull": "headrace.col(name).is_null() in table.filter(...), or column.null_count",
        "is_null": "headrace.col(name).is_null() in table.filter(...), or column.null_count",
        "isin": "headrace.col(name).is_in([...]) in table.filter(...)",
        "is_in": "headrace.col(name).is_in([...]) in table.filter(...)",
        "between": "headrace.col(name).between(...) in table.filter(...)",
        "str": "headrace.col(name).str in table.filter(...)",
        "apply": "[f(value) for value in column.to_pylist()]",
        "map": "[f(value) for value in column.to_pylist()]",
        "cast": "read_csv(..., dtypes={name: 'int32'})",
        "astype": "read_csv(..., dtypes={name: 'int32'})",
    },
    "ColumnExpression": {
        "cast": "read_csv(..., dtypes={name: 'int32'})",
        "alias": "table.rename({'a': 'b'})",
        **dict.fromkeys(("is_nan", "isnan"), "col('a') != col('a'), which is true for NaN alone"),
        "is_not_nan": "col('a') == col('a'), which is false for NaN alone",
        "not_": "~condition",
        **dict.fromkeys(("and_", "or_"), "condition & other, condition | other"),
        **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), "the operators == != < <= > >="),
        **dict.fromkeys(("dt", "abs", "round", "floor", "ceil", "sum", "mean", "min", "max", "sort"), _COMPUTED),
    },
    "TextConditions": dict.fromkeys(
        ("lower", "upper", "len", "len_chars", "len_bytes", "to_lowercase", "to_uppercase", "strip", "match", "replace"),
        _COMPUTED,
    ),
    "HashMap": {
        "get": "map.find(keys), which has values and a mask of the keys that are there",
        **dict.fromkeys(("update", "put"), "map.insert(keys, values)"),
        **_OF_KEYS,
    },
    "HashSet": {
        **dict.fromkeys(("add", "update"), "map.insert(keys)"),
        **_OF_KEYS,
        "keys": "map.items()",
        "find": "map.contains(keys)",
    },
    "HashMultiMap": {
        **dict.fromkeys(("get", "find"), "map.find_all(keys)"),
        **dict.fromkeys(("add", "update", "put"), "map.insert(keys, values)"),
        **dict.fromkeys(("replace", "upsert"), "map.erase_all(keys), then map.insert(keys, values)"),
        **_OF_HASHES,
    },
    "SortedMap": {
        "get": "map.find(keys), which has values and a mask of the keys that are there",
        **dict.fromkeys(("add", "put"), "map.insert(keys, values)"),
        **dict.fromkeys(("bisect", "bisect_left", "bisect_right"), "map.count(low, high), or map.successor(keys)"),
        "irange": "map.range(lows, highs)",
        **dict.fromkeys(("upsert", "replace"), "map.insert(keys, values), which replaces the values of keys"),
        **dict.fromkeys(("compact", "flush"), "map.cleanup()"),
        "statistics": "map.level_sizes and map.nbytes",
        **_OF_MAPS,
    },
    "Store": {
        "get": "store.lookup(key).rows",
        "columns": "store.schema",
        **dict.fromkeys(("num_rows", "count", "shape"), "len(store)"),
        **dict.fromkeys(("insert", "add", "write"), "store.append(rows)"),
        "upsert": "Store(..., on_duplicate='replace'), then store.append(rows)",
        **dict.fromkeys(("add_column", "add_columns", "with_columns"), "store.alter(add={name: type})"),
        **dict.fromkeys(("drop_column", "drop_columns"), "store.alter(drop=[name])"),
        **dict.fromkeys(("rename", "rename_column"), "store.alter(rename={name: new_name})"),
        **dict.fromkeys(("cast", "alter_column", "alter_columns"), "store.alter(widen={name: type})"),
        **{name: f"store.table().{name}(...)" for name in ("filter", "head", "select", "to_arrow", "to_pandas", "to_polars")},
        **dict.fromkeys(("query", "execute"), "store.sql(query)"),
        **dict.fromkeys(("remove", "drop"), "store.delete(keys)"),
    },
}  # names of other libraries by class, and what to use instead

_FRAMES = {
    "table.to_pandas()": "agg aggregate apply assign corr count cumsum describe diff drop_duplicates dropna duplicated explode "
    "fillna groupby interpolate isna isnull join max mean median melt memory_usage merge min mode nlargest notna nsmallest "
    "nunique pipe pivot pivot_table plot quantile rank reindex replace reset_index resample rolling round sample shift "
    "sort_index sort_values stack std sum to_excel to_feather to_json to_records to_sql transform transpose var",
    "table.to_polars()": "describe drop_nulls explode fill_nan fill_null glimpse group_by group_by_dynamic "
    "hstack item join join_asof max mean median min n_unique partition_by pivot sample sort sql std sum top_k unpivot "
    "upsample var with_columns with_row_index write_excel write_ipc write_json write_ndjson",
    "table.to_arrow()": "add_column append_column combine_chunks flatten get_total_buffer_size group_by join set_column sort_by "
    "to_batches to_reader unify_dictionaries",
    "table.to_duckdb()": "aggregate count create create_view describe distinct except_ insert_into intersect join max "
    "mean median min order project set_alias sort sql_query sum to_table to_view union",
}  # everyday methods of other libraries' tables, by the conversion

_LAZY = (
    "cast collect_async describe drop drop_nulls explain explode fill_null group_by inspect join join_asof last lazy max mean "
    "median min pipe rename show_graph slice sort sql std sum unique unpivot var with_columns with_row_index sink_ipc "
    "sink_ndjson"
)
_ARRAY = "all any argmax argmin argsort cumsum max mean min prod reshape round std sum var view"
_SERIES = "arg_sort describe drop_nulls fill_null is_duplicated median mode quantile sort top_k unique value_counts"

ELSEWHERE: Mapping[str, Mapping[str, frozenset[str]]] = {
    "Table": {form: frozenset(names.split()) for form, names in _FRAMES.items()},
    "Scan": {"scan.to_polars()": frozenset(_LAZY.split())},
    "Column": {"column.to_numpy()": frozenset(_ARRAY.split()), "polars.Series(column)": frozenset(_SERIES.split())},
    "ColumnExpression": {},
    "TextConditions": {},
}  # names by class and by the expression that has them

OF_PACKAGE: Mapping[str, str] = {
    **dict.fromkeys(("read_table", "read_fwf"), "read_csv(source, sep='\\t'), or dialect='auto'"),
    **dict.fromkeys(("read_csv_batched", "open_csv"), "scan_csv(source).batches()"),
    **dict.fromkeys(("read_csv_auto", "from_csv_auto"), "read_csv(source, dialect='auto')"),
    **dict.fromkeys(("DataFrame", "Series", "array", "asarray", "from_arrow", "from_pandas"), "Table.from_arrow(data)"),
    **dict.fromkeys(("len", "count_star"), "len(table), or scan.read().num_rows"),
    **dict.fromkeys(("concat_tables", "vstack"), "concat([table, other])"),
    **dict.fromkeys(("CSVWriter", "to_csv"), "write_csv(table, path), or scan.sink(path)"),
    **dict.fromkeys(("lit", "when"), "col('a') == value in table.filter(...)"),
    **dict.fromkeys(("unique_values", "unique_counts", "unique_inverse", "unique_all"), "headrace.array_api"),
    "read_tsv": "read_csv(source, sep='\\t')",
    "read_parquet": "Table.from_arrow(pyarrow.parquet.read_table(path))",
    **dict.fromkeys(
        ("read_json", "read_ndjson", "read_excel", "read_ipc", "read_feather"), "polars, and Table.from_arrow(frame)"
    ),
    **dict.fromkeys(("loadtxt", "genfromtxt"), "read_csv(source, sep=' ', header=False, comment='#').to_numpy()"),
    "merge": "table.lookup(other) and table.take(rows)",
    "sql": "table.to_duckdb().query('t', query), or Store.sql(query)",
    **dict.fromkeys(
        ("ReadOptions", "ParseOptions", "ConvertOptions", "WriteOptions"), "those of pyarrow.csv, or this package's options"
    ),
}  # functions of other libraries that this package does not have, and what to use instead


def no_function(name: str) -> str:
    """Return the message for a name that the package does not have."""
    use = OF_PACKAGE.get(name)
    return f"module 'headrace' has no attribute {name!r}" + (f": use {use}" if use else "")
