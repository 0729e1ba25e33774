"""Times a shape's text in the memory of a GPU, beside cuDF (pylibcudf) if it is installed, in turns in one process.

The text repeats a block that is copied to the GPU once. Checks of many shapes run side by side before the first one is timed.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

import headrace
from bench.read.gpu import copy_rate, read_rate, result_bytes
from bench.read.gpu_peers import pooled_library
from bench.read.same import assert_same
from bench.read.shapes.catalogue import SHAPES
from bench.read.shapes.check import check_answer, check_piece, keep_answer
from bench.read.shapes.peers import UnsupportedError
from bench.read.shapes.shape import BLOCK_BYTES, Shape, header_of, stored_text
from bench.tables import Row

_TYPES = {
    "bool": "BOOL8", "string": "STRING", "large_string": "STRING", "float32": "FLOAT32", "float64": "FLOAT64",
    "date32": "TIMESTAMP_DAYS", "timestamp[s]": "TIMESTAMP_SECONDS", "timestamp[us]": "TIMESTAMP_MICROSECONDS",
    "timestamp[us, UTC]": "TIMESTAMP_MICROSECONDS", "duration[us]": "DURATION_MICROSECONDS",
}  # fmt: skip
_TYPES |= {f"{sign}int{bits}": f"{sign.upper()}INT{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_BUILT = {"quote_char": "quotechar", "decimal": "decimal", "sep": "delimiter", "double_quote": "doublequote"}
_SET = {
    "thousands": "set_thousands", "comment": "set_comment", "null_values": "set_na_values", "true_values": "set_true_values",
    "false_values": "set_false_values",
}  # fmt: skip
_NEEDLESS = ("strings", "short_records")
_CHECKERS = 8
"""Processes that check shapes side by side on the one GPU."""
_CHECKED_BYTES = 8 * BLOCK_BYTES
"""Bytes of text whose answers are compared whole. Of a longer text, counts and the first and last rows are."""


class GpuReaders:
    """headrace on a GPU, and cuDF. `turns`: reads of each, in turn."""

    def __init__(self, turns: int) -> None:
        self._turns, self._limit, self._copy = turns, read_rate(), copy_rate()
        self._checked: dict[str, bool] = {}
        try:
            self._cudf = pooled_library()
        except ImportError:
            self._cudf = None

    def stop(self) -> None:
        """Do nothing: no process lives over the shapes."""

    def check_side_by_side(self, shapes: list[Shape], size: int) -> None:
        """Check shapes in processes that share the GPU, and keep the outcomes for `row`."""
        parts = [[shape.name for shape in shapes[i::_CHECKERS]] for i in range(min(_CHECKERS, len(shapes)))]
        with ProcessPoolExecutor(_CHECKERS, multiprocessing.get_context("spawn")) as pool:
            for found in pool.map(_check_part, parts, [min(size, _CHECKED_BYTES)] * len(parts)):
                self._checked |= found

    def row(self, shape: Shape, size: int) -> Row:
        """Check a shape unless that is done, time it, and return its row of figures. A rate is that of a reader's fastest read.

        Raises
        ------
        AssertionError
            The GPU's answer is not the CPU's.
        """
        by_oracle = self._checked.pop(shape.name, None)
        if by_oracle is None:
            by_oracle = check(shape, min(size, _CHECKED_BYTES))
        header, block = _parts_of(shape, size)
        repeats = max(1, round((size - len(header)) / len(block)))
        text = torch.cat([_on_gpu(header), _on_gpu(block).repeat(repeats)])
        reads: dict[str, Callable[[], object]] = {"headrace": lambda: headrace.read_csv(text, **shape.read_options)}
        found = headrace.read_csv(text, **shape.read_options)
        _check_repeats(found, headrace.read_csv(header + block, **shape.read_options), repeats)
        moved = text.numel() + result_bytes(found)
        del found
        errors: dict[str, str] = {}
        if self._cudf is not None:
            try:
                reads["cudf"] = _cudf_read(self._cudf, shape, text)
                self._check_cudf(shape, header + block)
            except Exception as error:  # any error of a library is its result
                reads.pop("cudf", None)
                errors["cudf"] = f"{type(error).__name__}: {error}"[:300]
        rates = {name: text.numel() / seconds / 1e9 for name, seconds in self._fastest(reads).items()}
        facts: Row = {"table": "shapes", "device": "gpu", "shape": shape.name, "bytes": text.numel()}
        facts |= {"gbs": rates.pop("headrace"), "limit": self._limit, "peers": rates, "errors": errors}
        return facts | {"moved": moved, "copy": self._copy, "oracle": by_oracle, "goal": shape.goal.gpu}

    def _fastest(self, reads: dict[str, Callable[[], object]]) -> dict[str, float]:
        """Return the seconds of each reader's fastest read, after one that is not timed."""
        best = dict.fromkeys(reads, float("inf"))
        for turn in range(self._turns + 1):
            for name, read in reads.items():
                torch.cuda.synchronize()
                began = time.perf_counter()
                table = read()
                torch.cuda.synchronize()
                taken = time.perf_counter() - began
                del table
                best[name] = min(best[name], taken) if turn else best[name]
        return best

    def _check_cudf(self, shape: Shape, data: bytes) -> None:
        names, table = list(shape.schema), _cudf_read(self._cudf, shape, _on_gpu(data))().tbl
        found = table.to_arrow(names) if hasattr(table, "to_arrow") else self._cudf.interop.to_arrow(table, names)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "answer.arrow"
            keep_answer(headrace.read_csv(data, **shape.read_options), shape, path)
            if wrong := check_answer(found, shape, path):
                raise ValueError(f"other answer: {wrong}")


def check(shape: Shape, size: int) -> bool:
    """Compare headrace's answer for a piece with the oracle's, and the GPU's for `size` bytes with the CPU's.

    Return whether the oracle knows the shape's options.

    Raises
    ------
    AssertionError
        Answers differ.
    """
    by_oracle = check_piece(shape)
    data = stored_text(shape, size)
    expected = headrace.read_csv(data, **shape.read_options)
    found = headrace.read_csv(_on_gpu(data), **shape.read_options)
    assert found.report.device == "cuda", found.report.device
    assert_same(found, expected)
    assert found.rejects.to_pydict() == expected.rejects.to_pydict(), "the rejects differ"
    return by_oracle


def _check_part(names: list[str], size: int) -> dict[str, bool]:
    """Check shapes one after another. One whose check fails is left out: `row` repeats it."""
    found = {}
    for name in names:
        with suppress(Exception):
            found[name] = check(SHAPES[name], size)
    return found


def _check_repeats(found: headrace.Table, block: headrace.Table, repeats: int) -> None:
    """Check the counts of a text that repeats a block, and its first and last rows.

    Raises
    ------
    AssertionError
        They are not those of the block.
    """
    assert (found.num_rows, found.report.faults) == (repeats * block.num_rows, repeats * block.report.faults), "other counts"
    assert found.head(block.num_rows).equals(block), "the first rows differ"
    assert found.tail(block.num_rows).equals(block), "the last rows differ"


def _parts_of(shape: Shape, size: int) -> tuple[bytes, bytes]:
    """Return the header and the block that a text of `size` bytes repeats."""
    header = header_of(shape)
    return header, stored_text(shape, min(size, BLOCK_BYTES))[len(header) :]


def _on_gpu(data: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).cuda()


def _cudf_read(plc: Any, shape: Shape, text: torch.Tensor) -> Callable[[], Any]:
    """Return cuDF's read. It gets the types, and whether the text has quotes.

    Raises
    ------
    UnsupportedError
        cuDF lacks an option or a type.
    """
    given = dict(shape.options)
    given.pop("on_error", None)  # cuDF makes fields null that do not convert
    missing = [text for text in shape.types if text not in _TYPES]
    if missing or given.keys() - {*_BUILT, *_SET, *_NEEDLESS} or shape.facts.encoding != "utf-8":
        raise UnsupportedError(f"no type or option for {', '.join([*missing[:1], *given]) or shape.facts.encoding}")
    source = plc.gpumemoryview(text)
    types = [plc.DataType(getattr(plc.types.TypeId, _TYPES[name])) for name in shape.types]

    def read() -> Any:
        builder = plc.io.csv.CsvReaderOptions.builder(plc.io.types.SourceInfo([source]))
        if not shape.facts.quotes:
            builder = builder.quoting(plc.io.types.QuoteStyle.NONE)
        for name, method in _BUILT.items():
            if given.get(name) is not None:
                builder = getattr(builder, method)(given[name])
        options = builder.build()
        options.set_header(0)
        options.set_dtypes(types)
        for name, method in _SET.items():
            if name in given:
                getattr(options, method)(given[name])
        return plc.io.csv.read_csv(options)

    return read
