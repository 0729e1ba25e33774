"""Times reads of many shapes of data beside peers, and prints one table, worst shape first.

usage: python -m bench.read.shapes [--device cpu|gpu] [--shapes integers,JSON] [--mb 64] [--threads N] [--turns N]
           [--peers pyarrow,polars,duckdb,pandas] [--rank clock|processor] [--note TEXT]
           [--out FOLDER/NAME] [--list]

The file catalogue.py has the shapes: generator, types, options and goal. All answers are checked before one is timed (check.py).
Readers take turns in one run. The time is from the call to the table, the fastest of the turns, page cache warm. Peers get the
types; headrace infers them, unless the shape gives them. The limit on the CPU is one thread that reads the file into a small
buffer. On a GPU it is the rate of reading memory. On a machine under load, `--rank processor` orders shapes by processor time.
OUT.md, OUT.json and the plot OUT.svg are written after each shape.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from bench.read.shapes.catalogue import SHAPES
from bench.read.shapes.peers import PEERS
from bench.read.shapes.report import keep_results, line_of, page_of
from bench.read.shapes.shape import base_file
from bench.tables import Row


def main() -> None:
    """Measure the shapes of the command line."""
    given = _parser().parse_args()
    shapes = [shape for shape in SHAPES.values() if not given.shapes or any(w in shape.name for w in given.shapes.split(","))]
    if given.list:
        print("\n".join(shape.name for shape in shapes))
        return
    with ProcessPoolExecutor(given.threads) as pool:
        list(pool.map(_generate, [shape.name for shape in shapes]))
    size = int(given.mb * 1e6)
    rows: list[Row] = []
    failed: list[str] = []
    if given.device == "gpu":
        from bench.read.shapes.gpu import GpuReaders

        readers: GpuReaders | CpuReaders = GpuReaders(given.turns)
    else:
        from bench.read.shapes.cpu import CpuReaders

        readers = CpuReaders(given.peers.split(","), given.threads, given.turns)
    readers.check_side_by_side(shapes, size)
    try:
        for shape in shapes:
            try:
                rows.append(readers.row(shape, size) | {"rank": given.rank, "note": given.note})
            except Exception as error:  # an error of one shape does not end the run
                failed.append(f"{shape.name}: {type(error).__name__} {str(error)[:300]}")
                print(failed[-1], flush=True)
                continue
            print(line_of(rows[-1]), flush=True)
            keep_results(given.out, rows)
    finally:
        readers.stop()
    print("\n".join(page_of(rows)))
    sys.exit("\n".join(failed) or 0)


def _generate(name: str) -> None:
    """Generate a shape's stored text. The argument is a name, since a generator may not be pickled."""
    base_file(SHAPES[name])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--shapes", default="", help="parts of names, separated by commas; default: all shapes")
    parser.add_argument("--mb", type=float, default=64, help="size of each text in MB")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--rank", choices=["clock", "processor"], default="clock", help="ratio that orders the shapes on the CPU")
    parser.add_argument("--note", default="", help="a remark on the machine for the page of results, such as: shared cores")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--list", action="store_true", help="print the names of the shapes")
    return parser


if __name__ == "__main__":
    main()
