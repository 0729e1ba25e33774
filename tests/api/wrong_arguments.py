"""The calls that get arguments of every wrong kind: all of `headrace.__all__` and the methods of its classes."""

from __future__ import annotations

import inspect
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

from wrong_values import FOLDER, TEXT

import headrace


@dataclass(frozen=True)
class Call:
    """A callable, and arguments that are right, made anew for each call. No `parameters` are those of the signature."""

    name: str
    function: Callable[..., object]
    right: Callable[[], dict[str, Any]]
    parameters: tuple[str, ...] = ()

    def tried(self) -> tuple[str, ...]:
        """Names of the parameters."""
        kinds = inspect.Parameter
        shape = inspect.signature(self.function).parameters.values()
        own = tuple(one.name for one in shape if one.kind not in (kinds.VAR_KEYWORD, kinds.VAR_POSITIONAL))
        return self.parameters or own

    def run(self, wrong: dict[str, object]) -> object:
        """The call with some arguments replaced."""
        given = {**self.right(), **wrong}
        shape = inspect.signature(self.function).parameters
        names = [name for name, one in shape.items() if one.kind is inspect.Parameter.POSITIONAL_ONLY]
        positional = [given.pop(name) for name in names]
        return self.function(*positional, **given)


class Hang(BaseException):
    """A call that took too long."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """A block that is ended after a time."""

    def stop(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


PATHS = {"path_or_file", "path", "target"}
OTHER_NAMES = {
    "columns": r"\bschema\b",
    "key": "column|row|table|slice",
    "low": "range|splitters",
    "high": "range",
    "edges": "splitters|in none of the 3 buckets|in none of the 2 buckets",
    "name": "type",
    "m": "buckets|parts",
    "schema": "names are given",
    "target": "cannot write",
    "rows": "row numbers?",
    "sorter": "rows|row numbers?",
    "bins": "keys|sorted_keys",
    "x": "items",
    "mains": r"\bmain\b",
    "deltas": r"\bdelta\b",
}
"""Names of a parameter in messages besides its own: `key` is the text in brackets, and edges are checked by a later call."""
LONGEST_MESSAGE = 1200


def fault_of(error: BaseException | None, parameters: tuple[str, ...]) -> str:
    """Return the fault in the outcome of a call; empty if the outcome is a documented one."""
    if error is None:
        return ""
    said = str(error)
    if isinstance(error, headrace.HeadraceError):
        if len(said) > LONGEST_MESSAGE:
            return f"the message is too long: {said[:300]!r}"
        if not isinstance(error, headrace.OptionError):
            return ""
        names = "|".join(rf"\b{name}\b|{OTHER_NAMES.get(name, name)}" for name in parameters)
        return "" if re.search(names, said, re.IGNORECASE) else f"no argument is named: {said!r}"
    if isinstance(error, TypeError) and any(name in said for name in parameters):
        return ""
    if isinstance(error, OSError) and {"source", *PATHS} & set(parameters):
        return ""
    return f"{type(error).__name__}: {said[:300]}"


def outcome(call: Call, wrong: dict[str, object], seconds: float = 20) -> BaseException | None:
    """Return the error of a call, or None."""
    try:
        with limited(seconds):
            call.run(wrong)
    except (Exception, Hang) as error:  # noqa: BLE001  which error it is, is what is asked
        return error
    return None


def plain_calls() -> list[Call]:
    """Calls that need nothing but Python."""
    functions = {
        "identity": {"m": 4},
        "bits": {"low": 0, "high": 4},
        "even": {"low": 0, "high": 10, "m": 4},
        "splitters": {"edges": [0, 1, 5]},
        "modulo": {"m": 4},
        "hash": {"m": 4},
        "where": {"predicate": headrace.key < 3},
        "computed": {"m": 4, "expression": headrace.key % 4},
    }
    return [
        Call("read_csv", headrace.read_csv, lambda: {"source": TEXT}),
        Call(
            "scan_csv",
            lambda **given: headrace.scan_csv(**given).read(),
            lambda: {"source": TEXT},
            parameters_of(headrace.scan_csv),
        ),
        Call("sniff_csv", headrace.sniff_csv, lambda: {"source": TEXT}),
        Call("write_csv", headrace.write_csv, lambda: {"table": table()}),
        Call("Context", headrace.Context, dict),
        Call("Device", headrace.Device, dict),
        Call("Device.parse", headrace.Device.parse, lambda: {"device": "cpu"}),
        Call("DataType", headrace.DataType, lambda: {"name": "int64"}),
        Call("Dialect", headrace.Dialect, dict),
        Call("Position", headrace.Position, dict),
        Call("Scan", headrace.Scan, dict),
        Call("Table", headrace.Table, lambda: {"columns": {"a": table()["a"]}}),
        Call("Table[]", lambda key: table()[key], lambda: {"key": "a"}),
        of_method("Table.to", table, {"device": "cpu"}),
        Call("Table.select", lambda columns: table().select(columns), lambda: {"columns": ["a"]}),
        Call("Table.drop", lambda columns: table().drop(columns), lambda: {"columns": ["a"]}),
        of_method("Table.rename", table, {"names": {"a": "x"}}),
        of_method("Table.head", table, {"n": 1}),
        of_method("Table.tail", table, {"n": 1}),
        of_method("Table.iter_rows", table, {"named": True}),
        Call("Table.equals", lambda other: table().equals(other), lambda: {"other": table()}),
        of_method("Table.write_csv", table, {}),
        of_method("Table.filter", table, {"expression": headrace.col("a") > 1}),
        of_method("Table.take", table, {"rows": [0]}),
        Call("concat", headrace.concat, lambda: {"tables": [table(), table()]}),
        Call("col", headrace.col, lambda: {"name": "a"}),
        Call("Scan.write_csv", lambda path_or_file=None: headrace.scan_csv(TEXT).write_csv(path_or_file), dict),
        of_method("Column.slice", lambda: table()["a"], {"start": 0, "length": 1}),
        of_method("Column.compact", lambda: headrace.read_csv(TEXT, strings="view")["b"], {}),
        of_method("Column.to", lambda: table()["a"], {"device": "cpu"}),
        Call("Column[]", lambda key: table()["a"][key], lambda: {"key": 0}),
        Call("Column", lambda **given: headrace.Column(**given).to_pylist(), parts_of_column, tuple(parts_of_column())),
        Call("Scan.select", lambda columns: headrace.scan_csv(TEXT).select(columns).read(), lambda: {"columns": ["a"]}),
        Call(
            "Scan.where",
            lambda expression: headrace.scan_csv(TEXT).where(expression).read(),
            lambda: {"expression": headrace.col("a") > 1},
        ),
        Call(
            "Scan.sink",
            lambda target: callable(target) or headrace.scan_csv(TEXT).sink(target),
            lambda: {"target": lambda batch: None},
        ),
        Call("Scan.limit", lambda records: headrace.scan_csv(TEXT).limit(records).read(), lambda: {"records": 1}),
        of_method("Scan.timed", lambda: headrace.scan_csv(TEXT), {}),
        of_method("Scan.fetched", lambda: headrace.scan_csv(TEXT), {}),
        *(Call(f"buckets.{name}", getattr(headrace.buckets, name), given.copy) for name, given in functions.items()),
    ]


def library_calls() -> list[Call]:
    """Calls that need other libraries, with right arguments that need none."""
    return [
        of_method("Table.to_arrow", table, {}),
        of_method("Table.to_pandas", table, {}),
        of_method("Table.write_parquet", table, {"path": f"{FOLDER.name}/t.parquet"}),
        of_method("Scan.write_parquet", lambda: headrace.scan_csv(TEXT), {"path": f"{FOLDER.name}/t.parquet"}),
        Call("Table.from_arrow", headrace.Table.from_arrow, lambda: {"data": table()}),
        of_method("Table.to_duckdb", table, {}),
        of_method("Scan.to_duckdb", lambda: headrace.scan_csv(TEXT), {}),
        of_method("Table.partition", numbers, {"by": "a", "buckets": headrace.buckets.modulo(3)}),
        of_method("Table.partition_by_hash", table, {"columns": ["a"], "n": 4}),
        of_method("Table.unique", table, {}),
        of_method("Table.value_counts", table, {}),
        of_method("Table.lookup", table, {"other": table(), "on": "a"}),
        Call("Store", headrace.Store, lambda: {"schema": {"a": "int64"}}),
        of_method("Store.append", store, {"source": b"a,b,c\n2,x,2.5\n"}),
        of_method("Store.update", store, {"source": b"a,c\n1,2\n"}),
        Call(
            "Store.update where",
            lambda where, values: store().update(where=where, values=values),
            lambda: {"where": headrace.col("a") > 0, "values": {"b": "y"}},
        ),
        of_method("Store.delete", store, {"keys": [1]}),
        of_method("Store.ingest", store, {"scan": headrace.scan_csv(b"a,b,c\n3,x,2.5\n")}),
        of_method("Store.lookup", store, {"keys": [1]}),
        of_method("Store.range", store, {"low": 1, "high": 2}),
        of_method("Store.table", store, {}),
        of_method("Store.sql", store, {"query": "from store"}),
        of_method("Column.__array__", lambda: table()["a"], {}),
        *dictionary_calls(),
    ]


def dictionary_calls() -> list[Call]:
    """Calls of `headrace.dictionary`."""
    own = headrace.dictionary

    def column() -> headrace.Column:
        return numbers()["a"]

    def encoded() -> own.EncodedColumn:  # type: ignore[name-defined]
        return own.encode(column())

    return [
        Call("dictionary.encode", own.encode, lambda: {"column": column()}),
        Call("dictionary.distinct_values", own.distinct_values, lambda: {"column": column()}),
        Call("dictionary.decode", own.decode, lambda: {"column": encoded()}),
        Call("dictionary.merge", own.merge, lambda: {"main": encoded(), "delta": column()}),
        Call("dictionary.filtered", own.filtered, lambda: {"column": encoded(), "keep": [True, False]}),
        Call("dictionary.merge_columns", own.merge_columns, lambda: {"mains": {"a": encoded()}, "deltas": {"a": column()}}),
        Call("dictionary.merge_dictionaries", own.merge_dictionaries, lambda: {"main": column(), "delta": column()}),
        Call("dictionary.pack", own.pack, lambda: {"codes": [0, 1, 1], "bits": 1}),
        Call("dictionary.unpack", own.unpack, lambda: {"words": own.pack([0, 1, 1], 1), "bits": 1, "count": 3}),
    ]


def array_calls(keys: Callable[[], object], mask: Callable[[], object]) -> list[Call]:
    """Calls of array functions, with right arguments of some library."""
    h = headrace
    splitters = [0, 2, 5]
    return [
        Call("sort", h.sort, lambda: {"keys": keys()}),
        Call("argsort", h.argsort, lambda: {"keys": keys()}),
        Call("sort_pairs", h.sort_pairs, lambda: {"keys": keys(), "values": keys()}),
        Call("sort_pairs of columns", h.sort_pairs, lambda: {"keys": numbers()["a"], "values": [numbers()["b"]]}),
        Call("is_sorted", h.is_sorted, lambda: {"keys": keys()}),
        Call("top_k", h.top_k, lambda: {"keys": keys(), "k": 2}),
        Call("histogram", h.histogram, lambda: {"keys": keys()}),
        Call("bucket_counts", h.bucket_counts, lambda: {"keys": keys()}),
        Call("bucket_counts bucket", h.bucket_counts, lambda: {"keys": keys(), "bucket": h.key % 7}),
        Call("bucket_counts splitters", h.bucket_counts, lambda: {"keys": keys(), "splitters": splitters}),
        Call("bincount", h.bincount, lambda: {"x": keys()}),
        Call("find", h.find, lambda: {"text": b"abab", "pattern": b"ab"}),
        Call("count", h.count, lambda: {"text": b"abab", "pattern": b"ab"}),
        Call("find_first", h.find_first, lambda: {"text": b"abab", "pattern": b"ab"}),
        Call("contains", h.contains, lambda: {"text": b"abab", "pattern": b"ab"}),
        Call("Pattern", h.Pattern, lambda: {"pattern": b"ab"}),
        Call("replace", h.replace, lambda: {"text": b"abab", "pattern": b"ab", "replacement": b"c"}),
        Call("find_in_column", h.find_in_column, lambda: {"column": table()["b"], "pattern": b"ab"}),
        Call("count_in_column", h.count_in_column, lambda: {"column": table()["b"], "pattern": b"ab"}),
        Call("contains_in_column", h.contains_in_column, lambda: {"column": table()["b"], "pattern": b"ab"}),
        Call("find_first_in_column", h.find_first_in_column, lambda: {"column": table()["b"], "pattern": b"ab"}),
        Call("match", h.match, lambda: {"text": b"abab", "dfa": h.compile_regex("ab")}),
        Call("count_matches", h.count_matches, lambda: {"text": b"abab", "dfa": h.compile_regex("ab")}),
        Call("compile_regex", h.compile_regex, lambda: {"pattern": "ab"}),
        Call("Dfa", h.Dfa, lambda: {"class_of": bytes(256), "transitions": [b"\0"], "accepting": [0]}),
        Call("find_any", h.find_any, lambda: {"text": b"abab", "patterns": [b"ab"]}),
        Call("count_any", h.count_any, lambda: {"text": b"abab", "patterns": [b"ab"]}),
        Call("find_any_in_column", h.find_any_in_column, lambda: {"column": table()["b"], "patterns": [b"ab"]}),
        Call(
            "record_contains",
            lambda pattern, ignore_case=False: h.record_contains(pattern, ignore_case=ignore_case),
            lambda: {"pattern": "ab"},
        ),
        Call("PatternSet", h.PatternSet, lambda: {"patterns": [b"ab"]}),
        Call("HashMap", h.HashMap, lambda: {"key_type": "uint32", "value_type": "float64"}),
        Call("HashSet", h.HashSet, lambda: {"key_type": "uint32"}),
        Call("HashMultiMap", h.HashMultiMap, lambda: {"key_type": "uint32", "value_type": "float64"}),
        of_method("HashMap.upsert", lambda: h.HashMap("int64", "int64"), {"keys": [1, 2, 3, 4], "values": [1, 2, 3, 4]}),
        of_method("HashMap.find", lambda: h.HashMap("int64", "int64"), {"keys": [1, 2, 3, 4]}),
        of_method(
            "HashMap.apply",
            lambda: h.HashMap("int64", "int64"),
            {"operations": ["find", "sum", "erase", "insert"], "keys": [1, 2, 3, 4], "values": [1, 2, 3, 4]},
        ),
        of_method("HashSet.insert", lambda: h.HashSet("int64"), {"keys": [1, 2, 3, 4]}),
        of_method("HashMultiMap.find_all", lambda: h.HashMultiMap("int64", "int64"), {"keys": [1, 2, 3, 4]}),
        Call("SortedMap", h.SortedMap, lambda: {"key_type": "int64"}),
        of_method("SortedMap.update", lambda: h.SortedMap("uint32", "uint32"), {"keys": keys(), "values": keys()}),
        of_method("SortedMap.find", filled_map, {"keys": keys()}),
        of_method("SortedMap.successor", filled_map, {"keys": keys()}),
        of_method("SortedMap.range", filled_map, {"lows": keys(), "highs": keys()}),
        Call("unique", h.unique, lambda: {"items": keys()}),
        Call("searchsorted", h.searchsorted, lambda: {"sorted_keys": [1, 2, 4], "keys": [2, 3]}),
        Call("digitize", h.digitize, lambda: {"x": keys(), "bins": splitters}),
        Call("take", h.take, lambda: {"items": keys(), "rows": [0, 1]}),
        Call("cumsum", h.cumsum, lambda: {"x": keys()}),
        Call("cumulative_sum", h.cumulative_sum, lambda: {"x": keys()}),
        Call("multisplit", h.multisplit, lambda: {"keys": keys(), "buckets": h.buckets.modulo(3)}),
        Call(
            "multisplit even",
            lambda low, high, m: h.multisplit(keys(), h.buckets.even(low, high, m)),
            lambda: {"low": 0, "high": 10, "m": 4},
        ),
        Call(
            "multisplit splitters", lambda edges: h.multisplit(keys(), h.buckets.splitters(edges)), lambda: {"edges": splitters}
        ),
        Call("scan", h.scan, lambda: {"items": keys()}),
        Call("reduce", h.reduce, lambda: {"items": keys()}),
        Call("select", h.select, lambda: {"items": keys(), "mask": mask()}),
    ]


def table() -> headrace.Table:
    return headrace.read_csv(TEXT)


def store() -> headrace.Store:
    found = headrace.Store(schema={"a": "int64", "b": "string", "c": "float64"}, key="a")
    found.append(b"a,b,c\n1,x,2.5\n")
    return found


def filled_map() -> headrace.SortedMap:
    found = headrace.SortedMap("uint32", "uint32")
    found.insert([1, 2, 3], [10, 20, 30])
    return found


def numbers() -> headrace.Table:
    return headrace.read_csv(b"a,b\n1,2.5\n3,4.5\n")


def parameters_of(function: Callable[..., object]) -> tuple[str, ...]:
    kinds = inspect.Parameter
    return tuple(name for name, one in inspect.signature(function).parameters.items() if one.kind is not kinds.VAR_KEYWORD)


def parts_of_column() -> dict[str, Any]:
    column = table()["a"]
    return {one.name: getattr(column, one.name) for one in fields(column)}


def of_method(name: str, owner: Callable[[], object], right: dict[str, Any]) -> Call:
    """A method of what `owner` makes, called by its arguments' names."""
    kind, _, method = name.partition(".")

    def function(**given: object) -> object:
        return getattr(owner(), method)(**given)

    return Call(name, function, right.copy, parameters_of(getattr(getattr(headrace, kind), method))[1:])
