"""Raw delimited data to typed columns, massively parallel, with the same answer everywhere.

>>> import headrace
>>> headrace.read_csv(b"a,b\\n1,x\\n")["a"].to_pylist()
[1]
"""

from headrace._native import release_unused_memory
from headrace.api.read_csv import read_csv
from headrace.api.report import Report
from headrace.api.sniff_csv import sniff_csv
from headrace.api.sniffed import Sniffed
from headrace.api.table import Table
from headrace.api.write_csv import write_csv
from headrace.arrange.expression import Expression, key
from headrace.arrange.histogram import histogram
from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.device_array import DeviceArray
from headrace.core.errors import (
    EmptyInputError,
    HeadraceError,
    MemoryLimitError,
    MissingDependencyError,
    NoMatchError,
    OptionError,
    ParseError,
    SourceError,
    UnsupportedDeviceError,
)
from headrace.core.scan import reduce, scan
from headrace.core.select import select
from headrace.structure.dialect import Dialect

__version__ = "0.1.0"

__all__ = [
    "Column",
    "Context",
    "DataType",
    "Device",
    "DeviceArray",
    "Dialect",
    "EmptyInputError",
    "Expression",
    "HeadraceError",
    "MemoryLimitError",
    "MissingDependencyError",
    "NoMatchError",
    "OptionError",
    "ParseError",
    "Report",
    "Sniffed",
    "SourceError",
    "Table",
    "UnsupportedDeviceError",
    "__version__",
    "histogram",
    "key",
    "read_csv",
    "reduce",
    "release_unused_memory",
    "scan",
    "select",
    "sniff_csv",
    "write_csv",
]
