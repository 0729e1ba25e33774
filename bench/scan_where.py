"""Times `Scan.where` beside a whole scan, and beside scans of fewer columns: ``python -m bench.scan_where``.

A case has two rows: all columns are converted before rows are chosen, or those of the condition. All columns but those of text
are a bound of a load that finds every fault: a conversion is the only check of a number.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import headrace
from bench.read.cases import TAXI_64
from headrace import Context, Scan, col

ROWS = 300_000
BATCH_BYTES = 16 << 20
ROUNDS = 15
BOUNDS = (1, 10, 100, 500, 1000)
"""Greatest keys, excluded: in thousandths of the rows."""


@dataclass(frozen=True, slots=True)
class Case:
    """A text with a column of integers from 0 to 999, by which rows are chosen."""

    name: str
    text: bytes
    by: str
    strings: str = "plain"


def cases() -> list[Case]:
    """Return tables of several kinds of columns."""
    rng = np.random.default_rng(1)
    keys, parts, days = rng.integers(0, 1000, ROWS), rng.integers(1, 200_000, ROWS), rng.integers(0, 2500, ROWS)
    dates = np.datetime_as_string(np.datetime64("1992-01-01") + days)
    prices = rng.random(ROWS) * 1e5
    comments = ("blithely final deposits sleep", "carefully ironic", "requests haggle furiously above the", "quickly")
    orders = [
        f"{i},{parts[i]},{keys[i]},{i % 7},{prices[i]:.2f},0.0{i % 10},{'NRA'[i % 3]},{dates[i]},{dates[-i]},"
        f"{('NONE', 'TAKE BACK RETURN')[i % 2]},{('TRUCK', 'MAIL')[keys[i] % 2]},{comments[i % 4]}"
        for i in range(ROWS)
    ]
    lines = [
        f"2026-01-{1 + i % 28:02d}T10:{i % 60:02d}:{keys[i] % 60:02d},{('INFO', 'WARN')[keys[i] % 2]},host-{keys[i] % 17},"
        f"{keys[i]},/var/lib/app/{keys[i]}/index.html,request {i} took {keys[i]} ms "
        "and was served from the cache of the second level"
        for i in range(ROWS)
    ]
    numbers = [f"{keys[i]},{parts[i]},{prices[i]:.2f},{i},{keys[-i]},{prices[-i]:.3f}" for i in range(ROWS)]
    order_names = "order,part,key,line,price,discount,flag,shipped,received,instruct,mode,comment"
    log = "\n".join(["time,level,host,key,path,message", *lines]).encode()
    return [
        Case("orders, 12 columns", "\n".join([order_names, *orders]).encode(), "key"),
        Case("log lines, 6 columns", log, "key"),
        Case("log lines, texts as dictionaries", log, "key", "dictionary"),
        Case("numbers, 6 columns", "\n".join(["key,part,price,row,other,rate", *numbers]).encode(), "key"),
        Case("taxi trips, 18 columns", _taxi(keys), "payment_type"),
    ]


def _taxi(keys: np.ndarray) -> bytes:
    """Return trips with the columns of the taxi case of `bench.read.cases`; the keys are in ``payment_type``."""
    rng = np.random.default_rng(2)
    begins = np.datetime64("2019-01-01T00:00:00") + rng.integers(0, 31_000_000, ROWS)
    ends = begins + rng.integers(60, 4000, ROWS)
    fares, miles, places = rng.exponential(15, ROWS), rng.exponential(3, ROWS), rng.integers(1, 266, (2, ROWS))
    times = [np.char.replace(np.datetime_as_string(part), "T", " ") for part in (begins, ends)]
    lines = [
        f"{i % 2 + 1},{times[0][i]},{times[1][i]},{i % 6},{miles[i]:.2f},1,{'NY'[i % 2]},{places[0, i]},{places[1, i]},{keys[i]},"
        f"{fares[i]:.2f},{i % 3 / 2},0.5,{fares[i] / 5:.2f},0.0,0.3,{fares[i] * 1.2 + 1:.2f},2.5"
        for i in range(ROWS)
    ]
    return "\n".join([",".join(TAXI_64), *lines, ""]).encode()


def best_seconds(calls: list[Callable[[], object]]) -> list[float]:
    """Return the best processor time of each call; they take turns."""
    found = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for number, call in enumerate(calls):
            begin = time.process_time()
            call()
            found[number] = min(found[number], time.process_time() - begin)
    return found


def main() -> None:
    """Print a Markdown table of milliseconds of processor time on one thread."""
    context = Context(threads=1)
    print(f"{ROWS:,} rows, one thread, batches of {BATCH_BYTES >> 20} MB; ms of processor time\n")
    shares = " | ".join(f"{bound / 10:g} %" for bound in BOUNDS)
    print(f"| text | MB | no condition | {shares} | without texts | condition's column |")
    print(f"| --- | {'---: | ' * (len(BOUNDS) + 4)}".rstrip())
    for case in cases():
        types = {name: str(kind) for name, kind in headrace.read_csv(case.text, context=context).schema.items()}
        given = {name: kind for name, kind in types.items() if kind != "string"} if case.strings != "plain" else types
        whole = headrace.scan_csv(
            case.text, dtypes=given, strings=case.strings, batch_bytes=BATCH_BYTES, infer="first", context=context
        )
        chosen = [whole.where(col(case.by) < bound) for bound in BOUNDS]
        early = [whole.where(col(case.by) < bound, convert="chosen") for bound in BOUNDS]
        table = headrace.read_csv(case.text, context=context)
        for scan, bound in [*zip(chosen, BOUNDS, strict=True), *zip(early, BOUNDS, strict=True)]:
            rows = table.filter(col(case.by) < bound).to_pydict()
            found = [batch.to_pydict() for batch in scan.batches()]
            if {name: [value for batch in found for value in batch[name]] for name in rows} != rows:
                raise SystemExit(f"{case.name}: other rows than those of the filtered table")
        values = [name for name, kind in types.items() if kind != "string"]
        scans = [whole, *chosen, whole.select(values), whole.select(case.by), *early]
        cells = [f"{1e3 * seconds:.1f}" for seconds in best_seconds([lambda scan=scan: _read(scan) for scan in scans])]
        count = len(scans) - len(early)
        print(f"| {case.name} | {len(case.text) / 1e6:.0f} | {' | '.join(cells[:count])} |")
        print(f"| ditto, convert chosen | | | {' | '.join(cells[count:])} | | |", flush=True)


def _read(scan: Scan) -> None:
    for _ in scan.batches():
        pass


if __name__ == "__main__":
    main()
