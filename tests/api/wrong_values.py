"""Arguments of every wrong kind, made anew for each call."""

from __future__ import annotations

import datetime
import decimal
import fractions
import functools
import io
import os
import tempfile
from collections.abc import Callable

import headrace
from headrace import Context

FOLDER = tempfile.TemporaryDirectory()
"""Files that calls write, until the process ends."""
TEXT = b"a,b,c\n1,x,2.5\n2,y,3.5\n,,\n"


@functools.cache  # no call may change an argument, and thousands of lists are slow to make
def nested(depth: int) -> list[object]:
    made: list[object] = []
    for _ in range(depth):
        made = [made]
    return made


def itself() -> list[object]:
    made: list[object] = []
    made.append(made)
    return made


def closed_file() -> object:
    file = io.BytesIO(b"a\n1\n")
    file.close()
    return file


def plain_values() -> dict[str, Callable[[], object]]:
    """Wrong values that need nothing but Python."""
    return {
        "none": lambda: None,
        "true": lambda: True,
        "false": lambda: False,
        "zero": lambda: 0,
        "one": lambda: 1,
        "minus one": lambda: -1,
        "huge": lambda: 10**30,
        "hugely negative": lambda: -(10**30),
        "2**63": lambda: 2**63,
        "float": lambda: 1.5,
        "whole float": lambda: 1.0,
        "nan": lambda: float("nan"),
        "inf": lambda: float("inf"),
        "complex": lambda: 1j,
        "decimal": lambda: decimal.Decimal("1"),
        "fraction": lambda: fractions.Fraction(1, 2),
        "empty bytes": lambda: b"",
        "bytes": lambda: b"\xff",
        "bytearray": lambda: bytearray(b"ab"),
        "memoryview": lambda: memoryview(b"ab"),
        "strided memoryview": lambda: memoryview(b"abcd")[::2],
        "empty text": lambda: "",
        "text": lambda: "xyzzy",
        "surrogate": lambda: "\udcff",
        "half surrogate": lambda: "\ud800",
        "nul": lambda: "a\0b",
        "digits": lambda: "3",
        "text True": lambda: "True",
        "text None": lambda: "None",
        "long text": lambda: "x" * 100_000,
        "empty list": list,
        "nested list": lambda: [[[]]],
        "deep list": lambda: nested(5000),
        "list of itself": itself,
        "list of texts": lambda: ["xyzzy"],
        "list of numbers": lambda: [1, 2],
        "list of none": lambda: [None],
        "list of objects": lambda: [object()],
        "list of lists": lambda: [["x"]],
        "empty tuple": lambda: (),
        "pair": lambda: (1, 2),
        "mixed pair": lambda: (1, "x"),
        "pair of nan": lambda: (float("nan"), float("nan")),
        "empty dict": dict,
        "dict": lambda: {"xyzzy": 1},
        "dict of objects": lambda: {object(): object()},
        "dict of lists": lambda: {"a": [[]]},
        "empty set": set,
        "set": lambda: {1},
        "set of texts": lambda: {"a"},
        "range": lambda: range(3),
        "slice": lambda: slice(None, None, 2),
        "object": object,
        "class": lambda: dict,
        "own class": lambda: Context,
        "lambda": lambda: lambda *_: None,
        "generator": lambda: (i for i in range(3)),
        "ellipsis": lambda: ...,
        "not implemented": lambda: NotImplemented,
        "error": lambda: KeyError("x"),
        "module": lambda: os,
        "date": lambda: datetime.date(2020, 1, 1),
        "closed file": closed_file,
        "text file": lambda: io.StringIO("a\n1\n"),
        "table": lambda: headrace.read_csv(TEXT),
        "column": lambda: headrace.read_csv(TEXT)["a"],
        "context": lambda: Context(threads=1),
        "device": headrace.Device,
        "type": lambda: headrace.DataType("int64"),
        "dialect": headrace.Dialect,
        "expression": lambda: headrace.key % 7,
        "bucket function": lambda: headrace.buckets.modulo(3),
    }


def likely_values() -> dict[str, Callable[[], object]]:
    """Values that are right for some parameter; together with others they may contradict each other."""
    texts = [
        "'",
        ";",
        "\\",
        "#",
        "\n",
        "|",
        " ",
        "a",
        "auto",
        "infer",
        "all",
        "none",
        "null",
        "reject",
        "raise",
        "widen",
        "collect",
    ]
    texts += [
        "gzip",
        "utf-16",
        "latin-1",
        "view",
        "dictionary",
        "string",
        "int64",
        "timestamp[us, UTC]",
        "%Y-%m-%d",
        "cpu",
        "cuda",
    ]
    texts += ["sum", "min", "first", "hybrid", "digits", "block", "int32", "minimal", "string_view"]
    listed = [["a"], ["a", "b", "c"], ["a", "b"], [0], [0, 2], [-1], ["int64", "string", "float64"], ["x", "y"], ["NA", ""]]
    mapped = [
        {"a": "int64"},
        {"a": "int64", "b": "string", "c": "float64"},
        {"a": ["NA"]},
        {"a": "%Y"},
        {0: "string"},
        {"zz": "x"},
    ]
    numbers = [2, 3, 4, 7, 64, 2**16, 2**24, 2**31, 2**32, 2**62, 0.25, -0.0, (0, 8), (0.0, 1.0), [0, 2, 7], [0.5, 1.5, 9.5]]
    return {f"likely {value!r}": lambda value=value: value for value in [*texts, *listed, *mapped, *numbers]}  # type: ignore[misc]


def array_values() -> dict[str, Callable[[], object]]:
    """Wrong values that are NumPy's."""
    import numpy as np

    def locked() -> object:
        made = np.arange(4)
        made.flags.writeable = False
        return made

    return {
        "array of int64": lambda: np.arange(4),
        "array of uint32": lambda: np.arange(4, dtype=np.uint32),
        "array of float64": lambda: np.linspace(0, 1, 4),
        "array of float16": lambda: np.zeros(4, np.float16),
        "array of bool": lambda: np.array([True, False, True, False]),
        "array of complex": lambda: np.zeros(4, complex),
        "array of big endian": lambda: np.zeros(4, ">i4"),
        "array of objects": lambda: np.array([object()] * 4),
        "array of texts": lambda: np.array(["a", "b", "c", "d"]),
        "array of bytes": lambda: np.array([b"a", b"b", b"c", b"d"]),
        "array of structures": lambda: np.zeros(4, [("a", "i4"), ("b", "f8")]),
        "array of dates": lambda: np.zeros(4, "M8[s]"),
        "array of other length": lambda: np.arange(7),
        "empty array": lambda: np.zeros(0),
        "array of no dimension": lambda: np.array(3),
        "array of two dimensions": lambda: np.zeros((2, 2)),
        "array of three dimensions": lambda: np.zeros((2, 2, 2), np.uint8),
        "array with gaps": lambda: np.arange(8)[::2],
        "array backwards": lambda: np.arange(4)[::-1],
        "read-only array": locked,
        "masked array": lambda: np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0]),
        "unaligned array": lambda: np.frombuffer(b"x" * 33, np.uint8)[1:].view(np.int64),
        "int64": lambda: np.int64(1),
        "float64": lambda: np.float64(1.0),
        "numpy bool": lambda: np.bool_(True),
        "numpy text": lambda: np.str_("xyzzy"),
        "dtype": lambda: np.dtype("i4"),
    }
