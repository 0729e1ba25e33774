"""Generates benchmark files once, and caches them.

usage: python -m bench.read.data NAME [OUT] [--bytes N]        prints the path

Files are in the folder that HEADRACE_BENCH_DATA names (default ~/.cache/headrace-bench). Seeds are fixed. Records beyond the
size in `MADE` repeat the earlier ones: generating a GB takes a minute, and no reader gains from the repetition.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import numpy as np

from bench.read.cases import SIZES, Case

TEXT = 'the food was great, and service ""friendly"" but a bit slow\n we will be back for sure , really nice place to sit outside'


def folder() -> Path:
    """Return the folder of the files."""
    return Path(os.environ.get("HEADRACE_BENCH_DATA", Path.home() / ".cache" / "headrace-bench"))


def ensure(name: str, size: int | None = None, where: Path | None = None) -> Path:
    """Return the file of a name, of about `size` bytes (default: its size in `SIZES`). Generate it if it is missing."""
    size = size or SIZES[name]
    path = (where or folder()) / f"{name}-{size}.csv"
    if not path.exists():
        make(name, path, size)
    return path


PIECE = 16 << 20
MADE = {"taxi": 250_000_000, "quoted": 250_000_000, "int_444": 250_000_000, "wide": 100_000_000, "lineitem": PIECE}
"""Approximate bytes of a file that are not repeated."""


def pieces(case: Case) -> tuple[bytes, bytes]:
    """Return the header and whole records of a case's file, about PIECE bytes, to be repeated."""
    data = ensure(case.data, PIECE).read_bytes()
    end = b'"\n' if case.quotes else b"\n"
    data = data[: data.rindex(end) + len(end)]
    header = data[: data.index(b"\n") + 1] if case.header else b""
    return header, data[len(header) :]


def make(name: str, path: Path, size: int) -> None:
    """Generate a file of about `size` bytes. It gets its name only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    if size > MADE.get(name, size):
        _repeat(part, size, ensure(name, MADE[name], path.parent), header=name != "int_444")
    elif name == "lineitem":
        _lineitem(part, size)
    else:
        _write(part, size, MAKERS[name])
    part.rename(path)


def _write(path: Path, size: int, make: Callable[[], Iterator[bytes]]) -> None:
    written = 0
    with path.open("wb") as file:
        for piece in make():
            written += file.write(piece)
            if written >= size:
                return


def _repeat(path: Path, size: int, base: Path, *, header: bool) -> None:
    """Write the header and repeat the records of another file, so that the size is as close to `size` bytes as possible."""
    data = base.read_bytes()
    first = data.index(b"\n") + 1 if header else 0
    with path.open("wb") as file:
        file.write(data[:first])
        for _ in range(max(1, round((size - first) / (len(data) - first)))):
            file.write(memoryview(data)[first:])


def _taxi() -> Iterator[bytes]:
    """Yield records like New York's yellow taxi trips of 2019: 18 columns, 92 bytes a record, half a percent nulls."""
    import pyarrow as pa
    from pyarrow import csv

    random = np.random.default_rng(7)
    rows, start, header = 250_000, 1_546_300_800, True
    while True:
        pickup = start + np.sort(random.integers(0, 6 * 3600, rows))
        seconds = random.gamma(2.0, 420, rows).astype("i8") + 30
        distance = np.round(random.gamma(1.3, 2.2, rows), 2)
        fare = np.round(2.5 + distance * 2.5 + seconds / 120, 0) + random.choice([0, 0.5], rows)
        payment = random.choice([1, 2, 3, 4], rows, p=[0.72, 0.26, 0.01, 0.01])
        tip = np.where(payment == 1, np.round(fare * random.choice([0.1, 0.15, 0.2, 0.25], rows), 2), 0.0)
        extra = random.choice([0, 0.5, 1.0], rows)
        tolls = np.where(random.random(rows) < 0.05, 5.76, 0.0)
        congestion = random.choice([2.5, 0.0], rows, p=[0.85, 0.15])
        null = random.random(rows) < 0.005
        columns = {
            "VendorID": random.choice([1, 2], rows),
            "tpep_pickup_datetime": pickup.astype("M8[s]"),
            "tpep_dropoff_datetime": (pickup + seconds).astype("M8[s]"),
            "passenger_count": pa.array(random.integers(1, 7, rows), mask=null),
            "trip_distance": distance,
            "RatecodeID": pa.array(random.choice([1, 2, 3, 5, 99], rows, p=[0.95, 0.03, 0.005, 0.01, 0.005]), mask=null),
            "store_and_fwd_flag": pa.array(random.choice(["N", "Y"], rows, p=[0.99, 0.01]), mask=null),
            "PULocationID": random.integers(1, 266, rows),
            "DOLocationID": random.integers(1, 266, rows),
            "payment_type": payment,
            "fare_amount": fare,
            "extra": extra,
            "mta_tax": np.full(rows, 0.5),
            "tip_amount": tip,
            "tolls_amount": tolls,
            "improvement_surcharge": np.full(rows, 0.3),
            "total_amount": np.round(fare + extra + 0.8 + tip + tolls + congestion, 2),
            "congestion_surcharge": pa.array(congestion, mask=null),
        }
        sink = io.BytesIO()
        csv.write_csv(pa.table(columns), sink, csv.WriteOptions(include_header=header, quoting_style="none"))
        yield sink.getvalue()
        header, start = False, start + 6 * 3600


def _quoted() -> Iterator[bytes]:
    """Yield records like reviews: all fields quoted, text with commas, line breaks and doubled quotes, 660 bytes a record."""
    random = np.random.default_rng(3)
    words = np.array(TEXT.split(" "), dtype=object)
    texts = [" ".join(words[random.integers(0, len(words), k)]) for k in random.integers(20, 200, 4000)]
    yield b'"review_id","user_id","business_id","stars","useful","funny","cool","text","date"\n'
    for first in count(1, 20_000):
        records = []
        for i in range(first, first + 20_000):
            when = f"2019-{i % 12 + 1:02d}-{i % 28 + 1:02d} {i % 24:02d}:{i % 60:02d}:{i * 7 % 60:02d}"
            ids = f'"r{i:021d}","u{i * 7919 % 10**9:021d}","b{i * 104729 % 10**9:021d}"'
            records.append(f'{ids},"{i % 5 + 1}.0","{i % 17}","{i % 7}","{i % 11}","{texts[i % 4000]}","{when}"\n')
        yield "".join(records).encode()


def _int_444() -> Iterator[bytes]:
    """Yield records of three columns of four digits each, without a header."""
    random = np.random.default_rng(4)
    while True:
        numbers = random.integers(1000, 10_000, (200_000, 3))
        yield "".join(f"{a},{b},{c}\n" for a, b, c in numbers.tolist()).encode()


def _wide() -> Iterator[bytes]:
    """Yield records of 1,000 columns, integers and floats in turn."""
    random = np.random.default_rng(5)
    yield (",".join(f"c{i}" for i in range(1000)) + "\n").encode()
    while True:
        integers = random.integers(-1_000_000, 1_000_000, (200, 500)).tolist()
        floats = np.round(random.normal(0, 1000, (200, 500)), 3).tolist()
        for some, others in zip(integers, floats, strict=True):
            yield (",".join(f"{a},{b}" for a, b in zip(some, others, strict=True)) + "\n").encode()


def _small() -> Iterator[bytes]:
    """Yield records of three columns, one at a time, so that a file of one KB has that size."""
    random = np.random.default_rng(6)
    yield b"id,value,name\n"
    for i in count(1):
        yield f"{i},{random.integers(0, 10_000) / 100},name {i % 10}\n".encode()


_DBGEN = """
import glob, os, sys, duckdb, duckdb_extension_tpch as extension
pattern = os.path.join(os.path.dirname(extension.__file__), "extensions", "*", "tpch.duckdb_extension")
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
connection.execute(f"LOAD '{glob.glob(pattern)[0]}'")
connection.execute(f"CALL dbgen(sf={sys.argv[2]})")
connection.execute(f"COPY lineitem TO '{sys.argv[1]}' (HEADER, DELIMITER ',')")
"""


def _lineitem(path: Path, size: int) -> None:
    """Write TPC-H's lineitem by its own generator, which is in DuckDB's extension. Scale factor 1 has 773 MB."""
    home = folder() / "tpch-venv"
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
        packages = ["duckdb==1.5.5", "duckdb-extension-tpch==1.5.5"]
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
        if subprocess.run([python, "-c", "import duckdb, duckdb_extension_tpch"], check=False).returncode:
            raise RuntimeError(f"lineitem needs {' and '.join(packages)} in {home}")
    subprocess.run([python, "-c", _DBGEN, str(path), f"{size / 773e6:.3f}"], check=True)


MAKERS = {"taxi": _taxi, "quoted": _quoted, "int_444": _int_444, "wide": _wide, "small": _small}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=[*MAKERS, "lineitem"])
    parser.add_argument("out", type=Path, nargs="?", help="default: the folder of files, where it is kept for the next run")
    parser.add_argument("--bytes", type=int)
    chosen = parser.parse_args()
    if chosen.out:
        make(chosen.name, chosen.out, chosen.bytes or SIZES[chosen.name])
    sys.stdout.write(f"{chosen.out or ensure(chosen.name, chosen.bytes)}\n")
