"""Lists the wrong arguments that each parameter accepts: by hand, from the documentation.

All other arguments must be refused: a value that is silently taken for another gives wrong results.
"""

from __future__ import annotations

NONE = {"none"}
NO_BYTE = {"none", "false", "empty text", "empty bytes"}
NUMBERS = {
    *("zero", "one", "minus one", "huge", "hugely negative", "2**63", "float", "whole float", "float64"),
    *("list of numbers", "pair", "mixed pair", "set"),
}
FLAG = {"true", "false", "numpy bool"}
FROM_ZERO = {"zero", "one", "int64"}
FROM_ONE = {"one", "int64"}
CONTEXT = {"none", "context"}
BYTES = {"bytes", "text", "surrogate", "nul", "text True", "text None", "numpy text"}
"""Arguments that a separator accepts: digits may be one in a `Dialect`, where no header is inferred."""
NAMES = {"text", "nul", "digits", "text True", "text None", "long text", "numpy text"}
NULL = {"empty bytes", "bytes", "empty text", *NAMES}
SEVERAL = {
    *NULL,
    *("empty list", "list of texts", "empty tuple", "empty set", "set of texts"),
    *("array of texts", "array of bytes", "empty array", "table"),
}
"""Texts of words; a table is an iterator of its columns' names."""
POSITIONS = {"empty list", "empty tuple", "list of numbers", "pair", "range"}
INTEGERS = {"array of int64", "array of uint32"}
KEYS = {*INTEGERS, "array of float64", "read-only array", "unaligned array"}
SORTED = {*KEYS, "array of float16", "array of bool", "array of dates"}
ANY_LENGTH = {"array of other length", "empty array"}
COPIED = {"array of big endian", "array with gaps", "array backwards"}
"""Arrays that are copied first."""
LISTS = {"list of numbers", "pair", "range"}
EMPTY_LISTS = {"empty list", "empty tuple"}
FLOATS = {"array of float64", "array of float16", "pair of nan"}
ENCODED = {
    *(*KEYS, *ANY_LENGTH, *COPIED, *LISTS, *EMPTY_LISTS, "column", "pair of nan", "list of none", "list of texts"),
    *("array of bool", "array of texts", "array of dates"),
}
"""Values of one dimension that are columns of one type."""
STORE_KEYS = {
    *("zero", "one", "minus one", "int64", "array of int64", "array of uint32", "read-only array", "unaligned array"),
    *(*LISTS, *EMPTY_LISTS, *COPIED, "array of other length"),
}
SCALARS = {
    *("true", "false", "zero", "one", "minus one", "2**63", "float", "whole float", "nan", "inf"),
    *("int64", "float64", "numpy bool", "array of no dimension"),
}
SHAPES = {"array of two dimensions", "array of three dimensions"}
ONE_DIMENSION = {
    *INTEGERS,
    *FLOATS,
    *COPIED,
    *LISTS,
    *EMPTY_LISTS,
    *ANY_LENGTH,
    "array of bool",
    "read-only array",
    "unaligned array",
}
HASH_KEYS = {"array of int64", "array with gaps", "array backwards", "read-only array", "unaligned array"} | {
    *LISTS,
    *EMPTY_LISTS,
    "array of other length",
}
ONE_KEY = {"zero", "one", "minus one", "whole float", "float64", "int64", "array of no dimension"}
"""Keys of maps of int64. Arrays of other types are refused."""
ANY_SHAPE = {*ONE_DIMENSION, *SHAPES, "nested list"}
TYPE = {"none", "type", "dtype"}
EVERYTHING = {"everything"}
"""Bytes are a text whatever they hold; other tests are about them."""

TAKES: dict[str, set[str]] = {
    "source": EVERYTHING,
    "text": {"empty bytes", "bytes", "bytearray", "memoryview"},
    "pattern": {"bytes", "bytearray", "memoryview"},
    "replacement": {"empty bytes", "bytes", "bytearray", "memoryview"},
    "overlapping": FLAG,
    "ignore_case": FLAG,
    "device": {"none", "device"},
    "to": {"none", "device"},
    "dialect": {*NONE, "dialect"},
    "sep": {*BYTES, "digits"},
    "quote_char": NO_BYTE,
    "escape_char": NO_BYTE,
    "comment": {"none", *BYTES, "digits"},
    "lineterminator": {"none", *BYTES, "digits"},
    "plain_nan": FLAG,
    "line_end": {"none", *BYTES, "digits"},
    "header": {"none", "true", "false", *FROM_ZERO, "list of numbers", "pair", "range"},
    "names": NONE | {"empty dict"},
    "columns": {"none", *POSITIONS, "empty set", "set", "set of texts"},
    "schema": NONE,
    "dtypes": {"none", "empty dict", "empty list", "empty tuple"},
    "null_values": {"none", *SEVERAL, "empty dict", *NUMBERS},
    "true_values": {"none", *SEVERAL},
    "false_values": {"none", *SEVERAL} - {"text True"},
    "thousands": NONE,
    "date_format": {"none", "empty dict"},
    "n_rows": {"none", *FROM_ZERO},
    "skip_rows": {*FROM_ZERO, "range"},
    "skip_rows_after_header": FROM_ZERO,
    "skip_footer": FROM_ZERO,
    "max_rejects": {"none", *FROM_ZERO},
    "short_records": NONE,
    "long_records": NONE,
    "row_index_name": {"none", "empty text", *NAMES},
    "row_index_offset": {*FROM_ZERO, "minus one"},
    "compression": NONE,
    "encoding": NONE,
    "include_file_paths": {"none", "true", "false", *NAMES},
    "hive_partitioning": {"false"},
    "context": CONTEXT,
    "threads": {"none", *FROM_ONE},
    "chunk_bytes": {"none", *FROM_ONE},
    "progress": {"none", "class", "own class", "lambda"},
    "batch_bytes": {"none", *FROM_ONE},
    "memory_limit": {"none", *FROM_ONE},
    "resume": {"none", *FROM_ZERO},
    "sample_bytes": FROM_ONE,
    "table": {"table"},
    "path_or_file": {"none", "text", "surrogate", "digits", "text True", "text None", "numpy text"},
    "null": NULL,
    "strategy": NONE,
    "method": NONE,
    "out": NONE,
    "range": NONE,
    "splitters": NONE,
    "bucket": {"none", "expression"},
    "buckets": {"bucket function"},
    "k": FROM_ZERO,
    "m": FROM_ONE,
    "n": FROM_ONE,
    "low": FROM_ZERO,
    "high": FROM_ONE,
    "predicate": {"expression"},
    "expression": {"expression"},
    "isa": {"empty text"},
    "index": FROM_ZERO,
    "unit": NONE,
    "tz": NONE,
    "precision": NONE,
    "scale": NONE,
    "byte": FROM_ZERO,
    "record": FROM_ZERO,
    "file": FROM_ZERO,
    "earlier": FROM_ZERO,
    "connection": NONE,
    "records": FROM_ZERO,
    "dtype": TYPE,
    "axis": {"none", "zero", "minus one"},
    "weights": {"none", *ONE_DIMENSION} - {*LISTS, *EMPTY_LISTS, *ANY_LENGTH, "pair of nan"},
    "minlength": FROM_ZERO,
    "target": {"class", "own class", "lambda"},
}
"""Accepted arguments by the parameter's name."""
TAKES |= dict.fromkeys(
    ("infer_schema", "shrink", "quoted_null", "dayfirst", "double_quote", "lenient_quotes", "strict_quotes"), FLAG
)
TAKES |= {"escape_sequences": {"false"}}
TAKES |= dict.fromkeys(
    ("skip_initial_space", "skip_blank_lines", "glob", "union_by_name", "include_missing_columns", "strip", "views"), FLAG
)
TAKES |= dict.fromkeys(
    ("descending", "total_order", "largest", "exclusive", "include_initial", "return_index", "return_inverse"), FLAG
)
TAKES |= dict.fromkeys(("return_counts", "sorted"), FLAG)
TAKES |= {"stable": {"none", *FLAG}, "density": {"none", *FLAG}, "right": FLAG}

TAKES_IN: dict[str, set[str]] = {
    "scan_csv.shrink": {"false"},
    "sniff_csv.header": FLAG,
    "write_csv.quote_char": NONE,
    "write_csv.escape_char": NONE,
    "write_csv.quoting": {"zero", "one"},
    "sniff_csv.quote_char": NONE,
    "sniff_csv.escape_char": NONE,
    "Dialect.quote_char": NONE,
    "Dialect.escape_char": NONE,
    "Dialect.escape_sequences": FLAG,
    "sniff_csv.escape_sequences": FLAG,
    "sniff_csv.comment": NONE,
    "write_csv.header": FLAG,
    "write_csv.line_end": BYTES - {"surrogate"} | {"digits"},
    "Context.device": {"device"},
    "Device.parse.device": {"device"},
    "Table.to.device": {"device"},
    "Column.to.device": {"device"},
    "Table.columns": {"empty dict"},
    "Table.select.columns": {*POSITIONS, *FROM_ZERO, "minus one"},
    "Table.drop.columns": {*POSITIONS, *FROM_ZERO, "minus one"},
    "Table.rename.names": {"empty dict"},
    "Table.rename.columns": NONE,
    "Table.head.n": {*FROM_ZERO, "minus one"},
    "Table.tail.n": {*FROM_ZERO, "minus one"},
    "Table.iter_rows.named": FLAG,
    "Table.equals.other": {"table"},
    "Table.to_pandas.dtype_backend": NONE,
    "Table.from_arrow.data": {"table"},
    "Table.write_parquet.path": NAMES - {"nul", "long text"} | {"surrogate"},
    "Scan.write_parquet.path": NAMES - {"nul", "long text"} | {"surrogate"},
    "Table.rejects": {"none", "table"},
    "Table.report": {"none", "lambda"},
    "Table[].key": {*FROM_ZERO, "minus one", "empty list", "list of numbers"},
    "Table.partition_by_hash.columns": {"set of texts"},
    "concat.ignore_index": FLAG,
    "Column[].key": {*FROM_ZERO, "minus one"},
    "Column.slice.start": FROM_ZERO,
    "Column.slice.length": FROM_ZERO,
    "Column.compact.threads": FROM_ONE,
    "Column.__array__.dtype": {"none", "class", "own class", "float64"},
    "Column.__array__.copy": {"none", "true", "numpy bool"},
    "Column.type": {"type"},
    "Column.length": FROM_ZERO,
    "Column.null_count": {*FROM_ZERO, "minus one"},
    "Column.validity": NONE,
    "Column.offsets": NONE,
    "Column.offset": {"zero"},
    "Column.data": {"empty tuple"},
    "Column.dictionary": {"none", "column"},
    "Scan.select.columns": {*POSITIONS, *FROM_ZERO, "minus one"},
    "sort.kind": NONE,
    "argsort.kind": NONE,
    "col.name": {"empty text", "surrogate", "half surrogate", "digits", *NAMES},
    "Table.filter.expression": set(),
    "Table.take.rows": {*LISTS, *EMPTY_LISTS, "empty array", "array of big endian"},
    "Scan.where.expression": set(),
    "sort.keys": {*SORTED, *ANY_SHAPE, "column"},
    "sort.out": {"none", "array of uint32"},
    "argsort.keys": {*SORTED, *ANY_SHAPE, "column"},
    "argsort.dtype": {"type", "dtype"},
    "argsort.out": {"none", "array of int64"},
    "sort_pairs.keys": {*SORTED, *COPIED},
    "sort_pairs.stable": FLAG,
    "sort_pairs of columns.stable": FLAG,
    "sort_pairs.values": {*SORTED, *COPIED, "empty list", "empty tuple"},
    "sort_pairs of columns.keys": {"list of numbers", "pair", "pair of nan"},
    "sort_pairs of columns.values": {"empty list", "empty tuple", "array of two dimensions", "array of three dimensions"},
    "is_sorted.keys": {*SORTED, *ONE_DIMENSION, "column"},
    "top_k.keys": {*SORTED, *ANY_SHAPE} - {*EMPTY_LISTS, "nested list", "empty array"},
    "top_k.stable": FLAG,
    "histogram.keys": {*ANY_SHAPE, *SCALARS} - {"nan", "inf", "pair of nan", "2**63", "unaligned array"},
    "histogram.bins": {*ONE_DIMENSION, "one", "int64"}
    - {*EMPTY_LISTS, "pair of nan", "array of bool", "array backwards", "empty array"},
    "histogram.range": {"none", "list of numbers", "pair"},
    "histogram.weights": {"none", *ONE_DIMENSION, "array of two dimensions"} - {*LISTS, *EMPTY_LISTS, *ANY_LENGTH, "pair of nan"},
    "bucket_counts.keys": {*KEYS, *LISTS, *COPIED, "array of other length"} - {"array of float64"},
    "bucket_counts.splitters": {"none", "range", *INTEGERS, "array of other length", "array with gaps", "read-only array"},
    "bucket_counts bucket.keys": {"array of uint32"},
    "bucket_counts splitters.bucket": NONE,
    "bucket_counts splitters.keys": {*ONE_DIMENSION} - {"array of float16", "array of bool"},
    "bucket_counts splitters.splitters": {
        "none",
        "range",
        *INTEGERS,
        "array of other length",
        "array with gaps",
        "read-only array",
    },
    "SortedMap.key_type": {"dtype"},
    "SortedMap.value_type": {"none", "dtype"},
    "SortedMap.cleanup_at": {"none", "huge", "2**63", "float", "inf"},
    "SortedMap.update.keys": {"array of uint32"},
    "SortedMap.update.values": {"array of uint32"},
    "SortedMap.update.deletes": {"none", "true", "false", "array of bool"},
    "SortedMap.find.keys": {"zero", "one", "whole float", "int64", "float64", "array of uint32", *LISTS, *EMPTY_LISTS},
    "SortedMap.successor.keys": {"zero", "one", "whole float", "int64", "float64", "array of uint32", *LISTS, *EMPTY_LISTS},
    "SortedMap.successor.inclusive": FLAG,
    "SortedMap.range.lows": {"array of uint32"},
    "SortedMap.range.highs": {"array of uint32"},
    "bincount.x": ONE_DIMENSION - {*FLOATS, "unaligned array"},
    "Table.unique.columns": {"none", "set of texts"},
    "Table.unique.subset": {"none", "set of texts"},
    "Table.value_counts.columns": {"none", "set of texts"},
    "Table.value_counts.name": {
        *("empty text", "text", "nul", "digits", "text True", "text None", "long text", "numpy text"),
    },
    "Table.lookup.other": {"table"},
    "Table.lookup.on": {"set of texts"},
    "Store.path": {"none", "text", "surrogate", "digits", "text True", "text None", "numpy text"},
    "Store.schema": set(),
    "Store.key": NONE,
    "Store.on_duplicate": NONE,
    "Store.sync_seconds": {"zero", "one", "huge", "2**63", "float", "whole float", "inf", "int64", "float64"},
    "Store.read_only": {"false"},
    "Store.merge_rows": {"none", "one", "int64"},
    "Store.merge_bytes": {"none", "one", "int64"},
    "Store.merge_ratio": {"none", "one", "float", "whole float", "int64", "float64"},
    "Store.merge_seconds": {"none", "one", "float", "whole float", "int64", "float64"},
    "Store.ingest.atomic": FLAG,
    "Store.update.where": NONE,
    "Store.update.values": NONE,
    "Store.delete.keys": STORE_KEYS,
    "Store.lookup.keys": STORE_KEYS,
    "Store.range.low": {"zero", "one", "minus one", "int64"},
    "Store.range.high": {"zero", "one", "minus one", "int64"},
    "Store.table.columns": {"none", "empty list", "empty tuple"},
    "dictionary.encode.column": ENCODED,
    "dictionary.encode.method": set(),
    "dictionary.distinct_values.column": ENCODED,
    "dictionary.distinct_values.method": set(),
    "dictionary.decode.rows": {"none", "slice", *EMPTY_LISTS, "empty array", "array of big endian"},
    "dictionary.merge.delta": {
        *("column", "array of int64", "read-only array", "unaligned array", "array of other length", "array with gaps"),
        *(*LISTS, "array backwards"),
    },
    "dictionary.merge.keep": {"none", "array of bool"},
    "dictionary.merge_columns.keep": {"none", "array of bool"},
    "dictionary.merge_dictionaries.main": {"column"},
    "dictionary.merge_dictionaries.delta": {"column"},
    "dictionary.merge_dictionaries.method": set(),
    "dictionary.pack.codes": {*EMPTY_LISTS, "empty array", "array of big endian"},
    "dictionary.pack.bits": FROM_ONE,
    "dictionary.unpack.bits": FROM_ZERO,
    "dictionary.unpack.count": FROM_ZERO,
    "HashMap.key_type": {"type", "dtype"},
    "HashMap.value_type": {"type", "dtype"},
    "HashMap.capacity": {"zero", "one", "int64"},
    "HashMap.seed": {"zero", "one", "2**63", "int64"},
    "HashSet.key_type": {"type", "dtype"},
    "HashSet.capacity": {"zero", "one", "int64"},
    "HashSet.seed": {"zero", "one", "2**63", "int64"},
    "HashMultiMap.key_type": {"type", "dtype"},
    "HashMultiMap.value_type": {"type", "dtype"},
    "HashMultiMap.capacity": {"zero", "one", "int64"},
    "HashMultiMap.seed": {"zero", "one", "2**63", "int64"},
    "HashMap.upsert.keys": HASH_KEYS - {*LISTS, *EMPTY_LISTS, *ANY_LENGTH},
    "HashMap.upsert.values": HASH_KEYS - {*LISTS, *EMPTY_LISTS, *ANY_LENGTH},
    "compile_regex.pattern": {"empty bytes", "bytes", "bytearray", "memoryview", "empty text", *NAMES} - {"long text"},
    "Dfa.accepting": {*EMPTY_LISTS, "empty set", "empty array", "array of big endian"},
    "Dfa.accepting_at_line_end": {*EMPTY_LISTS, "empty set", "empty array", "array of big endian"},
    "Dfa.start": {"zero"},
    "Dfa.line_start": {"none", "zero"},
    "HashMap.find.keys": HASH_KEYS | ONE_KEY,
    "HashMap.apply.keys": HASH_KEYS - {*LISTS, *EMPTY_LISTS, *ANY_LENGTH},
    "HashMap.apply.values": HASH_KEYS - {*LISTS, *EMPTY_LISTS, *ANY_LENGTH},
    "HashSet.insert.keys": HASH_KEYS | ONE_KEY,
    "HashMultiMap.find_all.keys": HASH_KEYS | ONE_KEY,
    "unique.items": {*ANY_SHAPE, *SCALARS, "array of dates"},
    "unique.equal_nan": {"true", "numpy bool"},
    "searchsorted.sorted_keys": ONE_DIMENSION,
    "searchsorted.keys": {*ANY_SHAPE, *SCALARS},
    "searchsorted.sorter": {"none", *LISTS, *EMPTY_LISTS, "array of big endian", "empty array"},
    "searchsorted.right": {"none", *FLAG},
    "digitize.x": {*ANY_SHAPE, *SCALARS},
    "digitize.bins": ONE_DIMENSION - {"array of bool"},
    "take.items": {*ANY_SHAPE, "array of structures", "array of dates"} - {*EMPTY_LISTS, "empty array", "nested list"},
    "take.rows": {*INTEGERS, *LISTS, *EMPTY_LISTS, "array of big endian", "array backwards", "empty array", "read-only array"}
    | {"array of three dimensions"},
    "take.axis": {"zero", "minus one"},
    "cumsum.x": {*ANY_SHAPE, *SCALARS},
    "cumulative_sum.x": ONE_DIMENSION,
    "multisplit.keys": {*KEYS, *LISTS, *COPIED, "array of structures", "array of other length"} - {"array of float64"},
    "multisplit.values": {*SORTED, *COPIED, "none", "empty list", "empty tuple", "array of structures"},
    "multisplit even.low": {*FROM_ZERO, "whole float", "float64"},
    "multisplit even.high": set(),
    "multisplit even.m": set(),
    "multisplit splitters.edges": {"array of other length", "array with gaps"},
    **{
        f"{call}.pattern": {"bytes", "bytearray", "memoryview", "surrogate", "half surrogate", *NAMES}
        for call in ("find_in_column", "count_in_column", "contains_in_column", "find_first_in_column", "record_contains")
    },
    "scan.items": ANY_SHAPE,
    "reduce.items": {*ANY_SHAPE, *SCALARS},
    "select.items": {*SORTED, *COPIED},
    "select.mask": {"array of bool"},
    "buckets.even.low": EVERYTHING,
    "buckets.even.high": EVERYTHING,
    "buckets.splitters.edges": EVERYTHING,
}
"""Accepted arguments by call and parameter. The numbers of a bucket function are checked when there are keys."""


def takes(call: str, parameter: str) -> set[str]:
    """Wrong arguments that are right there."""
    own = TAKES_IN.get(f"{call}.{parameter}")
    return TAKES.get(parameter, set()) if own is None else own
