"""Times a shape's text in the memory of a GPU, beside cuDF (pylibcudf) if it is installed, in turns in one process."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import headrace
from bench.read.gpu import read_rate
from bench.read.gpu_peers import pooled_library
from bench.read.same import assert_same
from bench.read.shapes.check import check_answer, check_piece, keep_answer
from bench.read.shapes.peers import UnsupportedError
from bench.read.shapes.shape import Shape, stored_text
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


class GpuReaders:
    """headrace on a GPU, and cuDF. `turns`: reads of each, in turn."""

    def __init__(self, turns: int) -> None:
        self._turns, self._limit = turns, read_rate()
        try:
            self._cudf = pooled_library()
        except ImportError:
            self._cudf = None

    def stop(self) -> None:
        """Do nothing: there is no process to end."""

    def row(self, shape: Shape, size: int) -> Row:
        """Check and time a shape, and return its row of figures. The rate of a reader is that of its fastest read.

        Raises
        ------
        AssertionError
            The GPU's answer is not the CPU's.
        """
        by_oracle = check_piece(shape)
        data = stored_text(shape, size)
        expected = headrace.read_csv(data, **shape.read_options)
        text = torch.frombuffer(bytearray(data), dtype=torch.uint8).cuda()
        found = headrace.read_csv(text, **shape.read_options)
        assert found.report.device == "cuda", found.report.device
        assert_same(found, expected)
        assert found.rejects.to_pydict() == expected.rejects.to_pydict(), "the rejects differ"
        reads: dict[str, Callable[[], object]] = {"headrace": lambda: headrace.read_csv(text, **shape.read_options)}
        errors: dict[str, str] = {}
        if self._cudf is not None:
            try:
                reads["cudf"] = _cudf_read(self._cudf, shape, text)
                self._check_cudf(reads["cudf"], shape, expected)
            except Exception as error:  # any error of a library is its result
                reads.pop("cudf", None)
                errors["cudf"] = f"{type(error).__name__}: {error}"[:300]
        del found, expected
        rates = {name: text.numel() / seconds / 1e9 for name, seconds in self._fastest(reads).items()}
        facts: Row = {"table": "shapes", "device": "gpu", "shape": shape.name, "bytes": text.numel()}
        facts |= {"gbs": rates.pop("headrace"), "limit": self._limit, "peers": rates, "errors": errors}
        return facts | {"oracle": by_oracle, "goal": shape.goal.gpu}

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

    def _check_cudf(self, read: Callable[[], Any], shape: Shape, expected: headrace.Table) -> None:
        names, table = list(shape.schema), read().tbl
        found = table.to_arrow(names) if hasattr(table, "to_arrow") else self._cudf.interop.to_arrow(table, names)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "answer.arrow"
            keep_answer(expected, shape, path)
            if wrong := check_answer(found, shape, path):
                raise ValueError(f"other answer: {wrong}")


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
