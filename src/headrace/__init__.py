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
    from headrace.query.find.find_any_in_column import PatternRowHits, find_any_in_column
    from headrace.query.find.find_in_column import (
        RowHits,
        contains_in_column,
        count_in_column,
        find_first_in_column,
        find_in_column,
    )
    from headrace.query.find.pattern.pattern import Pattern
    from headrace.query.find.pattern.pattern_set import PatternSet
    from headrace.query.find.record_condition import RecordCondition, record_contains
    from headrace.query.find.replace import replace
    from headrace.query.match.automaton.dfa import Dfa
    from headrace.query.match.match import Matches, count_matches, match
    from headrace.query.match.regex.compile_regex import compile_regex
    from headrace.structure.dialect import Dialect

_NAMES = {
    "api.concat": "concat",
    "api.read.read_csv": "read_csv",
    "api.report": "Position Report",
    "api.scan.scan": "Scan",
    "api.scan.scan_csv": "scan_csv",
    "api.sniff.sniff_csv": "sniff_csv",
    "api.sniffed": "Sniffed",
    "api.store.snapshot": "StoreSnapshot",
    "api.store.store": "Store",
    "api.table": "Table",
    "arrange.bucket.functions": "buckets",
    "arrange.gather.take": "take",
    "arrange.histogram.histogram": "bucket_counts",
    "arrange.multisplit.multisplit": "multisplit",
    "arrange.search.bincount": "bincount",
    "arrange.search.binning": "histogram",
    "arrange.search.searchsorted": "digitize searchsorted",
    "arrange.search.unique": "unique",
    "arrange.sort.sort": "argsort is_sorted sort sort_pairs top_k",
    "array_api": "array_api",
    "arrays.device_array": "DeviceArray",
    "columns.column": "Column",
    "columns.types": "DataType",
    "core.buffer": "release_unused_memory",
    "core.caches": "clear_caches",
    "core.context": "Context",
    "core.device": "Device",
    "core.errors": "EmptyInputError HeadraceError MemoryLimitError MissingDependencyError NoMatchError "
    "OptionError OutOfRangeError ParseError SourceError UnknownColumnError UnsupportedDeviceError",
    "core.expressions.column_expression": "ColumnExpression col",
    "core.expressions.expression": "Expression key",
    "dictionary": "dictionary",
    "export.text.write_csv": "write_csv",
    "gpu.kernels.source": "include_path",
    "index.hash_map.hash_map": "HashMap",
    "index.hash_map.hash_multi_map": "HashMultiMap",
    "index.hash_map.hash_set": "HashSet",
    "index.hash_map.operations": "MapOperation",
    "index.sorted_map.sorted_map": "MapSnapshot SortedMap",
    "primitives.cumulative": "cumsum cumulative_sum",
    "primitives.scan": "reduce scan",
    "primitives.select": "select",
    "query.find.find": "contains count find find_first",
    "query.find.find_any": "PatternHits count_any find_any",
    "query.find.find_any_in_column": "PatternRowHits find_any_in_column",
    "query.find.find_in_column": "RowHits contains_in_column count_in_column find_first_in_column find_in_column",
    "query.find.pattern.pattern": "Pattern",
    "query.find.pattern.pattern_set": "PatternSet",
    "query.find.record_condition": "RecordCondition record_contains",
    "query.find.replace": "replace",
    "query.match.automaton.dfa": "Dfa",
    "query.match.match": "Matches count_matches match",
    "query.match.regex.compile_regex": "compile_regex",
    "structure": "structure",
    "structure.dialect": "Dialect",
}  # public names by module, imported on first use: `import headrace` takes a tenth of the time of importing all
_MODULES = {name: f"headrace.{module}" for module, names in _NAMES.items() for name in names.split()}

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
    "PatternRowHits",
    "PatternSet",
    "Position",
    "RecordCondition",
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
    "find_any_in_column",
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
    "record_contains",
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
