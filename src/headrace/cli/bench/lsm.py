"""Measures sorted maps on the workloads of Ashkiani 2017, chapter 4: tables 4.2 to 4.4, figure 4.2 and cleanups.

A map grows by batches of one size from empty to all pairs, and is measured after each batch. The sorted array is a map of one
level: each batch is sorted and merged with all pairs. On the CPU there are fewer pairs than in the paper; batches of one size are
compared. The machine of the paper: a Tesla K40c (288 GB/s), keys and values of 32 bits.

A batch alone is timed to its end on the device. Batches in a row are timed as a whole, which gives the harmonic mean of their
rates, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import harmonic_mean

from headrace import SortedMap, searchsorted
from headrace.cli.bench.experiment import Experiment, Row, Setting
from headrace.cli.bench.lsm_figures import (
    ARRAY,
    CLEANUPS,
    COUNT,
    HASH,
    HASH_BUILD,
    HASH_FINDS,
    IN_A_ROW,
    LEAST,
    LENGTHS,
    LEVELS,
    MEAN,
    MOST,
    PRESENT,
    SEARCH,
    TABLE_4_2,
    TABLE_4_3,
    TABLE_4_4,
    Figures,
)
from headrace.cli.bench.lsm_workloads import Keys, Ranges, Stream, reader_of

_FIRST_BATCHES = 16
_MIN_SECONDS = 0.0005  # seconds of a measurement that is one of many numbers of batches
_KINDS: Mapping[str, Callable[[Sequence[float]], float]] = {LEAST: min, MOST: max, MEAN: harmonic_mean}


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Logarithms to base 2 of sizes: pairs of the largest map, least and most keys of a batch."""

    count: int
    least: int
    most: int

    def streams(self, setting: Setting) -> Iterator[Stream]:
        """Yield a stream of the same keys for each size of a batch, descending."""
        known = Keys(setting, 1 << self.count)
        return (Stream(known, 1 << bits) for bits in range(self.most, self.least - 1, -1))


def _sizes(setting: Setting, on_gpu: _Sizes, on_cpu: _Sizes) -> _Sizes:
    if setting.is_small:
        return _Sizes(10, 8, 10)
    return on_gpu if setting.is_gpu else on_cpu


def _bits(setting: Setting, on_gpu: int, on_cpu: int) -> int:
    return _sizes(setting, _Sizes(on_gpu, 0, 0), _Sizes(on_cpu, 0, 0)).count


def _rows(parameters: Mapping[str, str | int | float], batch: int, rates: Sequence[float], printed: Figures) -> Iterator[Row]:
    """Yield the kinds of rates over all numbers of batches that the paper has."""
    for kind, figures in printed.items():
        yield Row({**parameters, "rate": kind, "b": batch}, _KINDS[kind](rates), figures.get(batch))


def _insertions(setting: Setting) -> Iterator[Row]:
    """Yield rates of insertion by the size of a batch."""
    for stream in _sizes(setting, _Sizes(27, 15, 27), _Sizes(22, 15, 22)).streams(setting):
        for structure, times in ((LEVELS, stream.insertion_seconds(LEVELS)), (ARRAY, stream.array_seconds())):
            rates = [stream.batch / seconds / 1e6 for seconds in times]
            yield from _rows({"structure": structure}, stream.batch, rates, TABLE_4_2[structure])
        rate, paper = len(stream) / stream.seconds_in_a_row() / 1e6, TABLE_4_2[LEVELS][MEAN].get(stream.batch)
        yield Row({"structure": IN_A_ROW, "rate": MEAN, "b": stream.batch}, rate, paper)
    whole = Stream(stream.known, len(stream))
    ((keys, values),) = whole.parts()
    whole.check_found(whole.hash_map(keys, values).find(keys), PRESENT, HASH)
    seconds = setting.seconds(partial(whole.hash_map, keys, values))
    yield Row({"structure": HASH, "rate": MEAN, "b": whole.batch}, whole.batch / seconds / 1e6, HASH_BUILD)


def _first_batches(setting: Setting) -> Iterator[Row]:
    batch = 1 << _bits(setting, 19, 16)
    stream = Stream(Keys(setting, _FIRST_BATCHES * batch), batch)
    for structure in TABLE_4_2:
        for number, seconds in enumerate(stream.insertion_seconds(structure), 1):
            yield Row({"structure": structure, "r": number}, seconds * 1e3)


def _effective(setting: Setting) -> Iterator[Row]:
    """Yield the rate of all batches up to one, by the number of that one."""
    for stream in _sizes(setting, _Sizes(26, 17, 19), _Sizes(21, 14, 16)).streams(setting):
        for structure in TABLE_4_2:
            seconds = stream.insertion_seconds(structure)
            for number in (1 << bits for bits in range(len(seconds).bit_length())):
                rate = number * stream.batch / sum(seconds[:number]) / 1e6
                yield Row({"structure": structure, "b": stream.batch, "r": number}, rate)


def _searches(setting: Setting) -> Iterator[Row]:
    """Yield rates of searches of as many keys as the map has."""
    once = replace(setting, repeats=1, min_seconds=_MIN_SECONDS)
    for stream in _sizes(setting, _Sizes(24, 16, 24), _Sizes(20, 16, 20)).streams(setting):
        rates: dict[tuple[str, str], list[float]] = {case: [] for case in TABLE_4_3}
        for count, grown in stream.prefixes():
            readers = {structure: reader_of(structure, grown) for structure in (LEVELS, ARRAY)}
            for (structure, name), found in rates.items():
                search = partial(readers[structure].find, stream.wanted(name, count))
                if stream.is_checked(count):
                    stream.check_found(search(), name, f"{structure} of {count} pairs")
                found.append(count / once.seconds(search) / 1e6)
        for (structure, name), printed in TABLE_4_3.items():
            yield from _rows({"structure": structure, "keys": name}, stream.batch, rates[structure, name], printed)
    whole = Stream(stream.known, len(stream))
    ((keys, values),) = whole.parts()
    table = whole.hash_map(keys, values)
    for name, paper in HASH_FINDS.items():
        search = partial(table.find, whole.wanted(name, whole.batch))
        whole.check_found(search(), name, HASH)
        rate = whole.batch / setting.seconds(search) / 1e6
        yield Row({"structure": HASH, "keys": name, "rate": MEAN, "b": whole.batch}, rate, paper)
    ascending = whole.known.ascending
    for name in HASH_FINDS:
        search = partial(searchsorted, setting.array(ascending), whole.wanted(name, whole.batch))
        whole.check_places(ascending, search(), name)
        yield Row(
            {"structure": SEARCH, "keys": name, "rate": MEAN, "b": whole.batch}, whole.batch / setting.seconds(search) / 1e6
        )


def _ranges(setting: Setting) -> Iterator[Row]:
    """Yield rates of counts and ranges. There are fewer ranges than keys if they had more items than half of all keys.

    The first call with long ranges, or with many on the CPU, merges the levels of the snapshot. It is not timed.
    """
    once = replace(setting, repeats=1, min_seconds=_MIN_SECONDS)
    for stream in _sizes(setting, _Sizes(24, 16, 20), _Sizes(20, 16, 18)).streams(setting):
        rates: dict[tuple[str, str, int], list[float]] = {case: [] for case in TABLE_4_4}
        for count, grown in stream.prefixes():
            ranges = {length: Ranges.of(stream, count, length, len(stream) // 2) for length in LENGTHS}
            one = reader_of(ARRAY, grown)
            ascending = stream.ascending(count) if stream.is_checked(count) else None
            for (structure, call, length), found in rates.items():
                asked, reader = ranges[length], one if structure == ARRAY else reader_of(structure, grown)
                if call == COUNT and ascending is not None:  # checks the ranges too
                    asked.check(reader, ascending, f"{call} of ranges of {length} keys, {structure} of {count} pairs")
                found.append(len(asked) / once.seconds(partial(asked.run, reader, call)) / 1e6)
        for (structure, call, length), printed in TABLE_4_4.items():
            parameters: dict[str, str | int | float] = {"structure": structure, "call": call, "length": length}
            yield from _rows(parameters, stream.batch, rates[structure, call, length], printed)


def _cleanups(setting: Setting) -> Iterator[Row]:
    """Yield the rate of a cleanup by the share of stale items. All levels are full."""
    for (levels, percent), paper in CLEANUPS.items():
        batch = 1 << (_bits(setting, 26, 20) - levels)
        count = (batch << levels) - batch
        stream = Stream(Keys(setting, count, count * percent // 100), batch)
        *_, (_, grown) = stream.prefixes()
        stream.check_items(grown.snapshot(), f"cleanup of {count} items, {percent} % stale")
        yield Row({"levels": levels, "stale, %": percent}, count / _cleanup_seconds(setting, grown) / 1e6, paper)


def _cleanup_seconds(setting: Setting, grown: SortedMap) -> float:
    """Return the time of a cleanup. A snapshot is cleaned up, so the map keeps its levels."""
    copy = [grown.snapshot()]

    def renew() -> None:
        copy[0] = grown.snapshot()

    return setting.seconds(lambda: len(copy[0]), renew)


EXPERIMENTS = (
    Experiment(
        "table-4.2", "insertion by batches of b, alone and in a row (paper: 2^27 pairs, alone)", "10^6/s", "b", _insertions
    ),
    Experiment("figure-4.2a", "each of the first batches", "ms", "r", _first_batches),
    Experiment("figure-4.2b", "all batches up to batch r", "10^6/s", "r", _effective),
    Experiment("table-4.3", "searches in up to n/b batches (paper: n = 2^24)", "10^6/s", "b", _searches),
    Experiment("table-4.4", "counts and ranges in up to n/b batches (paper: n = 2^24)", "10^6/s", "b", _ranges),
    Experiment("cleanup", "cleanup of full levels (paper: about 2^26 items)", "10^6/s", "stale, %", _cleanups),
)
