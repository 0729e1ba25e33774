"""Measures `read_csv` of text with faults in a GPU's memory, beside the same text without faults and the CPU.

Figures are milliseconds from the call to the table or the error, and bytes copied to the host.

Needs an installed or built headrace and a GPU. Rows, rejects and errors are compared with the CPU's before anything is timed.

    python -m bench.read.gpu_faults [--bytes N] [--out FOLDER/NAME]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import headrace
from bench.machine import description
from bench.read.same import difference
from bench.tables import keep
from headrace import Context, Device, DeviceArray
from headrace.gpu.device.device import gpu

TYPES = {"a": "int32", "b": "float64", "c": "date32", "d": "string", "e": "int64"}
HEADER = b"a,b,c,d,e\n"
VALUE, SHORT, QUOTE = b"x,2.5,2019-01-01,n,1\n", b"1,2\n", b'1,"2.5,2019-01-01,n,1\n'
RUNS = 9


def records(size: int) -> list[bytes]:
    """Return lines of about `size` bytes in total."""
    rng = np.random.default_rng(1)
    ranges = ((0, 10**6), (0, 999), (0, 99), (1, 28), (0, 10**5), (0, 10**9))
    columns = [rng.integers(low, high, 200_000).tolist() for low, high in ranges]
    lines = [b"%d,%d.%02d,2019-01-%02d,name%d,%d\n" % row for row in zip(*columns, strict=True)]
    return lines * (size // sum(map(len, lines)) + 1)


def cases(count: int) -> dict[str, tuple[str, bytes, list[int]]]:
    """Return the cases by name: policy, replacement of a record, and indices of the replaced records."""
    middle, hundredth = [count // 2], np.linspace(10, count - 10, count // 100).astype(int).tolist()
    return {
        "no fault": ("reject", b"", []),
        "one value": ("reject", VALUE, middle),
        "one value, raised": ("raise", VALUE, [count - 5]),
        "1 % of values, first raised": ("raise", VALUE, hundredth),
        "1 % of values, null": ("null", VALUE, hundredth),
        "1 % of values": ("reject", VALUE, hundredth),
        "one short record": ("reject", SHORT, middle),
        "1 % of records short": ("reject", SHORT, hundredth),
        "quotes that do not close, from the middle": ("reject", QUOTE, middle),
    }


def answer(source: Any, policy: str, context: Context | None = None) -> tuple[headrace.Table | None, str]:
    """Return the table, or None and the error's message."""
    try:
        return headrace.read_csv(source, dtypes=TYPES, on_error=policy, context=context), ""
    except headrace.ParseError as error:
        return None, str(error)


def check(name: str, found: tuple[headrace.Table | None, str], expected: tuple[headrace.Table | None, str]) -> None:
    """Raise if the answers differ."""
    table, wanted = found[0], expected[0]
    same = found[1] == expected[1] and (table is None) == (wanted is None)
    if table is not None and wanted is not None:
        same &= table.report.device.startswith("cuda") and table.schema == wanted.schema
        same &= table.rejects.to_pydict() == wanted.rejects.to_pydict()
        same &= not difference(table.to("cpu"), wanted)
    if not same:
        raise AssertionError(f"{name}: the GPU's answer is not the CPU's")


def milliseconds(read: Callable[[], object], runs: int) -> float:
    """Return the median milliseconds of `runs` calls."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        read()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e3


def row(name: str, policy: str, data: bytes) -> str:
    """Return a row of the table."""
    text = DeviceArray.from_host(np.frombuffer(data, np.uint8))
    context = Context()
    found = answer(text, policy, context)
    check(name, found, answer(data, policy))
    faults = 1 if found[0] is None else found[0].report.faults
    there, here = milliseconds(lambda: answer(text, policy), RUNS), milliseconds(lambda: answer(data, policy), 3)
    crossed = context.crossings
    cells = [
        name,
        f"{len(data) / 1e6:.0f}",
        faults,
        f"{there:.2f}",
        f"{here:.2f}",
        f"{crossed.to_host / 1e6:.3f}",
        crossed.copies,
    ]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Print the table, and write it to --out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=90_000_000)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    lines = records(given.bytes)
    machine = "; ".join(f"{name} {value}" for name, value in description().items())
    head = ["| text | MB | faults told | GPU, ms | CPU, ms | MB to the host | copies |", "| --- |" + " --: |" * 6]
    table = [f"{gpu(Device('cuda', 0))}; {machine}", "", *head]
    print("\n".join(table), flush=True)
    for name, (policy, line, places) in cases(len(lines)).items():
        spoiled = list(lines)
        for place in places:
            spoiled[place] = line
        table.append(row(f"{name} (`{policy}`)", policy, HEADER + b"".join(spoiled)))
        print(table[-1], flush=True)
    keep(given.out, table)


if __name__ == "__main__":
    main()
