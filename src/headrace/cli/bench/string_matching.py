"""Measures searches for one pattern on the inputs of Ashkiani 2017, chapter 2: tables 2.2 to 2.7.

The texts of Wikipedia, a genome and a protein are not part of this package. Random letters of the same number and alphabet stand
for them: 27 letters, 4 and 19.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import headrace
from headrace.cli.bench.experiment import Experiment, Row, Setting
from headrace.cli.bench.string_matching_figures import (
    CPU,
    LENGTHS,
    TABLE_2_2,
    TABLE_2_3,
    TABLE_2_4,
    TABLE_2_5,
    TABLE_2_6,
    TABLE_2_7,
    Figures,
)

_SIZE, _SMALL_SIZE = 1 << 25, 1 << 14


@dataclass(frozen=True, slots=True)
class _Letters:
    """Random text: number of letters, number of characters, and the byte of the first letter."""

    count: int
    size: int = _SIZE
    first: int = 0


@dataclass(frozen=True, slots=True)
class _Case:
    """A pattern from the middle of a text, its positions, and the seconds of the default search."""

    pattern: headrace.Pattern
    positions: list[int]
    default: float = 0.0


class _Search:
    """Searches in one text, checked and timed.

    `unit`: ``"GB/s"`` or ``"ms"``.
    """

    def __init__(self, letters: _Letters, setting: Setting, unit: str) -> None:
        import numpy as np

        self._setting, self._unit = setting, unit
        self._host = np.random.default_rng(letters.count).integers(
            letters.first, letters.first + letters.count, setting.size(letters.size, _SMALL_SIZE), dtype=np.uint8
        )
        self._text = setting.array(self._host)
        self._limit = setting.read_rate(len(self._host))
        self._cases: dict[int, _Case] = {}

    def row(self, parameters: dict[str, str | int], method: str | None, paper: float | None) -> Row:
        """Return the row of a method for patterns of ``parameters["m"]`` characters; None is the default search."""
        case = self._case(int(parameters["m"]))
        seconds = case.default if method is None else self._seconds(case, method)
        share = len(self._host) / seconds / 1e9 / self._limit
        return Row(parameters, self._figure(seconds), paper, None if method is None else self._figure(case.default), share)

    def _case(self, length: int) -> _Case:
        """Return the pattern of a length, with the seconds of the default search."""
        if length not in self._cases:
            pattern = headrace.Pattern(self._host[len(self._host) // 2 :][:length].tobytes())
            case = _Case(pattern, _positions(self._host.tobytes(), pattern.pattern))
            self._cases[length] = replace(case, default=self._seconds(case, None))
        return self._cases[length]

    def _seconds(self, case: _Case, method: str | None) -> float:
        call = f"find of {len(case.pattern)} bytes, method {method or 'default'}"
        found = self._setting.host(headrace.find(self._text, case.pattern, method=method))
        self._setting.check(found.tolist() == case.positions, call)
        count = partial(headrace.count, self._text, case.pattern, method=method)
        self._setting.check(count() == len(case.positions), call)
        return self._setting.seconds(count)

    def _figure(self, seconds: float) -> float:
        return len(self._host) / seconds / 1e9 if self._unit == "GB/s" else seconds * 1e3


def _by_method(letters: _Letters, printed: Figures, unit: str, setting: Setting) -> Iterator[Row]:
    """Yield a row for each method and length that the paper has, and rows of the default search beside its best figure."""
    search = _Search(letters, setting, unit)
    methods = {name: figures for name, figures in printed.items() if name != CPU and not (name == "srk" and setting.is_gpu)}
    for length in next(iter(printed.values())):
        for name, figures in methods.items():
            if length in figures:
                yield search.row({"method": name, "m": length}, name, figures[length])
        if unit == "GB/s" and len(methods) > 3:
            yield search.row({"method": "hrk", "m": length}, "hrk", None)
        best = max if unit == "GB/s" else min
        on_gpu = best(figures[length] for name, figures in methods.items() if name != "srk" and length in figures)
        yield search.row({"method": "default", "m": length}, None, on_gpu if setting.is_gpu else printed[CPU][length])


def _by_alphabet(setting: Setting) -> Iterator[Row]:
    """Yield the rows of DRK-2S by bits of a character and length of the pattern."""
    for bits, printed in TABLE_2_4.items():
        search = _Search(_Letters(1 << bits), setting, "GB/s")
        for length in LENGTHS:
            yield search.row({"bits": bits, "m": length}, "drk-2s", printed[length])


def _positions(text: bytes, pattern: bytes) -> list[int]:
    found, at = [], text.find(pattern)
    while at >= 0:
        found.append(at)
        at = text.find(pattern, at + 1)
    return found


def _experiment(name: str, title: str, unit: str, letters: _Letters, printed: Figures) -> Experiment:
    return Experiment(name, title, unit, "m", partial(_by_method, letters, printed, unit), "the read rate")


EXPERIMENTS = (
    _experiment("table-2.2", "binary text, 2^25 characters", "GB/s", _Letters(2), TABLE_2_2),
    _experiment("table-2.3", "8-bit text, 2^25 characters", "GB/s", _Letters(256), TABLE_2_3),
    Experiment("table-2.4", "DRK-2S by bits of a character, 2^25 characters", "GB/s", "m", _by_alphabet, "the read rate"),
    _experiment("table-2.5", "27 letters, 10^8 (paper: enwik8)", "ms", _Letters(27, 10**8, 96), TABLE_2_5),
    _experiment("table-2.6", "4 letters, 4.6 million (paper: E. coli)", "ms", _Letters(4, 4_600_000, 65), TABLE_2_6),
    _experiment("table-2.7", "19 letters, 3.3 million (paper: human protein)", "ms", _Letters(19, 3_300_000, 65), TABLE_2_7),
)
