"""Measures the merge of dictionary-encoded columns as Krueger et al. 2011 do: figures 2 and 4.

The paper's machine: one core of a Xeon E5620 (2.4 GHz), and a Tesla C2050 on a link of 6 and 4.25 GB/s. Its figures are known
from its text alone, so few rows have a printed number. It counts cycles for 100 million rows; here are nanoseconds a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import headrace
from headrace.cli.bench.experiment import Experiment, Row, Setting

_ROWS, _SMALL_ROWS = 1 << 22, 1 << 12
_UNIQUES = (1, 10, 100)  # distinct values in percent of the rows
_DELTAS = (1, 10, 50)  # rows of the delta in percent of those of the main part
_SIZES = (1 << 14, 1 << 17, 1 << 20)
_SMALL_SIZES = (1 << 8, 1 << 10)
_BESIDE_ONE_CORE = {"slices": 0.5, "csum": 1.4, "mum": 1.4, "merge_path": None}
"""Throughput beside the paper's merge on one core: about half for slices, up to 40 % more for the others (section 4.2)."""
_MAX_DUPLICATES = 27.0  # the largest of the paper's factors of 21 to 27 for duplicate removal


def _steps(setting: Setting) -> Iterator[Row]:
    """Yield the time of each step of a merge by the shares of distinct values and of the delta."""
    import numpy as np

    context, dictionary = headrace.Context(device=headrace.Device.parse(setting.device)), headrace.dictionary
    rows = setting.size(_ROWS, _SMALL_ROWS)
    for uniques in _UNIQUES:
        for share in _DELTAS:
            random = np.random.default_rng(uniques)
            pool = random.integers(-(1 << 31), 1 << 31, rows * uniques // 100).astype(np.int32)
            old, new = (pool[random.integers(0, len(pool), count)] for count in (rows, rows * share // 100))
            main, added = dictionary.encode(old), new
            delta = dictionary.encode(added, context=context)
            merged = dictionary.merge(main, added, context=context)
            setting.check(_is_union(merged, old, new), f"merge with {uniques} % distinct values and {share} % new rows")
            distinct = setting.seconds(partial(dictionary.distinct_values, added, context=context))
            united = partial(dictionary.merge_dictionaries, main.dictionary, delta.dictionary, context=context)
            once, whole = setting.seconds(united), setting.seconds(partial(dictionary.merge, main, delta, context=context))
            for step, seconds in (("1a", distinct), ("1b", once), ("1b and 2", whole)):
                yield Row({"step": step, "distinct": f"{uniques} %", "delta, %": share}, seconds / (rows + len(new)) * 1e9)


def _is_union(merged: Any, old: Any, new: Any) -> bool:
    import numpy as np

    rows = np.concatenate([old, new])
    is_same = np.array_equal(merged.dictionary.to_numpy(), np.unique(rows))
    return bool(is_same and np.array_equal(headrace.dictionary.decode(merged).to_numpy(), rows))


def _methods(setting: Setting) -> Iterator[Row]:
    """Yield the throughput of each way to merge two dictionaries, beside slices on one thread of the CPU."""
    import numpy as np

    context, alone = headrace.Context(device=headrace.Device.parse(setting.device)), headrace.Context(threads=1)
    for size in _SMALL_SIZES if setting.is_small else _SIZES:
        random = np.random.default_rng(size)
        main, delta = (np.unique(random.integers(0, 4 * size, size).astype(np.int32)) for _ in range(2))
        old, new = (headrace.dictionary.encode(part).dictionary for part in (main, delta))
        joined = np.union1d(main, delta)
        one_core = setting.seconds(partial(_united, old, new, "slices", alone))
        for method, paper in _BESIDE_ONE_CORE.items():
            found = _united(old, new, method, context)
            is_right = np.array_equal(found.dictionary.to_numpy(), joined)
            is_right &= np.array_equal(found.main_codes[: len(main)], np.searchsorted(joined, main))
            setting.check(is_right, f"merge of {size} values by {method}")
            seconds = setting.seconds(partial(_united, old, new, method, context))
            yield Row({"method": method, "values": size}, one_core / seconds, paper)


def _united(main: Any, delta: Any, method: str, context: headrace.Context) -> Any:
    return headrace.dictionary.merge_dictionaries(main, delta, method=method, context=context)


def _duplicates(setting: Setting) -> Iterator[Row]:
    """Yield the rate of duplicate removal beside NumPy's sort and comparison of neighbours on one thread."""
    import numpy as np

    for size in _SMALL_SIZES if setting.is_small else _SIZES:
        host = np.random.default_rng(size).integers(0, size, size).astype(np.uint32)
        items = setting.array(host)
        setting.check(np.array_equal(setting.host(headrace.unique(items)), _sorted_once(host)), f"unique of {size} items")
        peer, ours = setting.seconds(partial(_sorted_once, host)), setting.seconds(partial(headrace.unique, items))
        yield Row({"values": size}, peer / ours, _MAX_DUPLICATES)


def _sorted_once(items: Any) -> Any:
    import numpy as np

    ascending = np.sort(items)
    return ascending[np.concatenate([[True], ascending[1:] != ascending[:-1]])]


EXPERIMENTS = (
    Experiment("figure-2", "steps of a merge, one column of 4 bytes", "ns/row", "delta, %", _steps),
    Experiment("figure-4-left", "dictionary merges beside one core of a CPU", "times", "values", _methods),
    Experiment("figure-4-right", "duplicate removal beside one core of a CPU", "times", "values", _duplicates),
)
