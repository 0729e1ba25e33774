"""Reads delimited text into typed columns, in parallel on CPUs and GPUs, with the same result on each device.

>>> import headrace
>>> headrace.read_csv(b"a,b\\n1,x\\n")["a"].to_pylist()
[1]
"""

from headrace.core.process.imports import delay_forks_and_exit_during_imports, import_module, import_native

TYPE_CHECKING = False  # that of `typing`, whose import takes a third of the start of a command
if TYPE_CHECKING:
    from headrace import array_api as array_api
    from headrace import dictionary as dictionary
    from headrace import structure as structure
    from headrace.api.concat import concat
    from headrace.api.read.read_csv import read_csv
    from headrace.api.report import Position, Report
    from headrace.api.scan.scan import Scan
    from headrace.api.scan.scan_csv import scan_csv
    from headrace.api.sniff.sniff_csv import sniff_csv
    from headrace.api.sniffed import Sniffed
    from headrace.api.store.snapshot import StoreSnapshot
    from headrace.api.store.store import Store
    from headrace.api.table import Table
    from headrace.arrange.bucket import functions as buckets
    from headrace.arrange.gather.take import take
    from headrace.arrange.histogram.histogram import bucket_counts
    from headrace.arrange.multisplit.multisplit import multisplit
    from headrace.arrange.search.bincount import bincount
    from headrace.arrange.search.binning import histogram
    from headrace.arrange.search.searchsorted import digitize, searchsorted
    from headrace.arrange.search.unique import unique
    from headrace.arrange.sort.sort import argsort, is_sorted, sort, sort_pairs, top_k
    from headrace.arrays.device_array import DeviceArray
    from headrace.columns.column import Column
    from headrace.columns.types import DataType
    from headrace.core.buffer import release_unused_memory
    from headrace.core.caches import clear_caches
    from headrace.core.context import Context
    from headrace.core.device import Device
    from headrace.core.errors import (
        EmptyInputError,
        HeadraceError,
        MemoryLimitError,
        MissingDependencyError,
        NoMatchError,
        OptionError,
        OutOfRangeError,
        ParseError,
        SourceError,
        UnknownColumnError,
        UnsupportedDeviceError,
    )
    from headrace.core.expressions.column_expression import ColumnExpression, col
    from headrace.core.expressions.expression import Expression, key
    from headrace.export.text.write_csv import write_csv
    from headrace.gpu.kernels.source import include_path
    from headrace.index.hash_map.hash_map import HashMap
    from headrace.index.hash_map.hash_multi_map import HashMultiMap
    from headrace.index.hash_map.hash_set import HashSet
    from headrace.index.hash_map.operations import MapOperation
    from headrace.index.sorted_map.sorted_map import MapSnapshot, SortedMap
    from headrace.primitives.cumulative import cumsum, cumulative_sum
    from headrace.primitives.scan import reduce, scan
    from headrace.primitives.select import select
    from headrace.query.find.find import contains, count, find, find_first
    from headrace.query.find.find_any import PatternHits, count_any, find_any
    from headrace.query.find.find_in_column import (
        RowHits,
        contains_in_column,
        count_in_column,
        find_first_in_column,
        find_in_column,
    )
    from headrace.query.find.pattern.pattern import Pattern
    from headrace.query.find.pattern.pattern_set import PatternSet
    from headrace.query.find.replace import replace
    from headrace.query.match.automaton.dfa import Dfa
    from headrace.query.match.match import Matches, count_matches, match
    from headrace.query.match.regex.compile_regex import compile_regex
    from headrace.structure.dialect import Dialect

_MODULES = {
    "array_api": "headrace.array_api",
    "Column": "headrace.columns.column",
    "Context": "headrace.core.context",
    "DataType": "headrace.columns.types",
    "Device": "headrace.core.device",
    "ColumnExpression": "headrace.core.expressions.column_expression",
    "DeviceArray": "headrace.arrays.device_array",
    "Dfa": "headrace.query.match.automaton.dfa",
    "Dialect": "headrace.structure.dialect",
    "EmptyInputError": "headrace.core.errors",
    "Expression": "headrace.core.expressions.expression",
    "HashMap": "headrace.index.hash_map.hash_map",
    "HashMultiMap": "headrace.index.hash_map.hash_multi_map",
    "HashSet": "headrace.index.hash_map.hash_set",
    "HeadraceError": "headrace.core.errors",
    "MapOperation": "headrace.index.hash_map.operations",
    "MapSnapshot": "headrace.index.sorted_map.sorted_map",
    "Matches": "headrace.query.match.match",
    "MemoryLimitError": "headrace.core.errors",
    "MissingDependencyError": "headrace.core.errors",
    "NoMatchError": "headrace.core.errors",
    "OptionError": "headrace.core.errors",
    "OutOfRangeError": "headrace.core.errors",
    "ParseError": "headrace.core.errors",
    "Pattern": "headrace.query.find.pattern.pattern",
    "PatternHits": "headrace.query.find.find_any",
    "PatternSet": "headrace.query.find.pattern.pattern_set",
    "Position": "headrace.api.report",
    "Report": "headrace.api.report",
    "RowHits": "headrace.query.find.find_in_column",
    "Scan": "headrace.api.scan.scan",
    "SortedMap": "headrace.index.sorted_map.sorted_map",
    "Sniffed": "headrace.api.sniffed",
    "SourceError": "headrace.core.errors",
    "Store": "headrace.api.store.store",
    "StoreSnapshot": "headrace.api.store.snapshot",
    "Table": "headrace.api.table",
    "UnknownColumnError": "headrace.core.errors",
    "UnsupportedDeviceError": "headrace.core.errors",
    "argsort": "headrace.arrange.sort.sort",
    "bincount": "headrace.arrange.search.bincount",
    "bucket_counts": "headrace.arrange.histogram.histogram",
    "buckets": "headrace.arrange.bucket.functions",
    "clear_caches": "headrace.core.caches",
    "col": "headrace.core.expressions.column_expression",
    "compile_regex": "headrace.query.match.regex.compile_regex",
    "concat": "headrace.api.concat",
    "contains": "headrace.query.find.find",
    "contains_in_column": "headrace.query.find.find_in_column",
    "count": "headrace.query.find.find",
    "count_any": "headrace.query.find.find_any",
    "count_in_column": "headrace.query.find.find_in_column",
    "count_matches": "headrace.query.match.match",
    "cumsum": "headrace.primitives.cumulative",
    "cumulative_sum": "headrace.primitives.cumulative",
    "dictionary": "headrace.dictionary",
    "digitize": "headrace.arrange.search.searchsorted",
    "find": "headrace.query.find.find",
    "find_any": "headrace.query.find.find_any",
    "find_first": "headrace.query.find.find",
    "find_first_in_column": "headrace.query.find.find_in_column",
    "find_in_column": "headrace.query.find.find_in_column",
    "histogram": "headrace.arrange.search.binning",
    "include_path": "headrace.gpu.kernels.source",
    "is_sorted": "headrace.arrange.sort.sort",
    "key": "headrace.core.expressions.expression",
    "match": "headrace.query.match.match",
    "multisplit": "headrace.arrange.multisplit.multisplit",
    "read_csv": "headrace.api.read.read_csv",
    "reduce": "headrace.primitives.scan",
    "release_unused_memory": "headrace.core.buffer",
    "replace": "headrace.query.find.replace",
    "scan": "headrace.primitives.scan",
    "scan_csv": "headrace.api.scan.scan_csv",
    "searchsorted": "headrace.arrange.search.searchsorted",
    "select": "headrace.primitives.select",
    "sniff_csv": "headrace.api.sniff.sniff_csv",
    "sort": "headrace.arrange.sort.sort",
    "sort_pairs": "headrace.arrange.sort.sort",
    "structure": "headrace.structure",
    "take": "headrace.arrange.gather.take",
    "top_k": "headrace.arrange.sort.sort",
    "unique": "headrace.arrange.search.unique",
    "write_csv": "headrace.export.text.write_csv",
}  # modules of the public names, imported on first use: `import headrace` takes a tenth of the time of importing all

__version__ = "0.1.0"

__all__ = [
    "Column",
    "ColumnExpression",
    "Context",
    "DataType",
    "Device",
    "DeviceArray",
    "Dfa",
    "Dialect",
    "EmptyInputError",
    "Expression",
    "HashMap",
    "HashMultiMap",
    "HashSet",
    "HeadraceError",
    "MapOperation",
    "MapSnapshot",
    "Matches",
    "MemoryLimitError",
    "MissingDependencyError",
    "NoMatchError",
    "OptionError",
    "OutOfRangeError",
    "ParseError",
    "Pattern",
    "PatternHits",
    "PatternSet",
    "Position",
    "Report",
    "RowHits",
    "Scan",
    "Sniffed",
    "SortedMap",
    "SourceError",
    "Store",
    "StoreSnapshot",
    "Table",
    "UnknownColumnError",
    "UnsupportedDeviceError",
    "__version__",
    "argsort",
    "bincount",
    "bucket_counts",
    "buckets",
    "clear_caches",
    "col",
    "compile_regex",
    "concat",
    "contains",
    "contains_in_column",
    "count",
    "count_any",
    "count_in_column",
    "count_matches",
    "cumsum",
    "cumulative_sum",
    "dictionary",
    "digitize",
    "find",
    "find_any",
    "find_first",
    "find_first_in_column",
    "find_in_column",
    "histogram",
    "include_path",
    "is_sorted",
    "key",
    "match",
    "multisplit",
    "read_csv",
    "reduce",
    "release_unused_memory",
    "replace",
    "scan",
    "scan_csv",
    "searchsorted",
    "select",
    "sniff_csv",
    "sort",
    "sort_pairs",
    "take",
    "top_k",
    "unique",
    "write_csv",
]

delay_forks_and_exit_during_imports()


def __getattr__(name: str) -> object:
    if name == "_native":  # an import statement asks for the attribute first
        return import_native()
    if name not in _MODULES:
        from headrace.core.foreign_names import no_function

        raise AttributeError(no_function(name))
    module = import_module(_MODULES[name])
    found = globals()[name] = module if name in ("array_api", "buckets", "dictionary", "structure") else getattr(module, name)
    return found


def __dir__() -> list[str]:
    """Return the public names: those of `__all__`, and of modules what Python itself sets."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
