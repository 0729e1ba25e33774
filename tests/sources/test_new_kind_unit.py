"""Adds a kind of source as a plug-in would: one reader and one row in the registry. Every entry point reads it."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Hashable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import pytest

import headrace
from headrace import SourceError
from headrace.sources import registry
from headrace.sources.kinds.ranges import RangeReader, RangeSource

ROWS = 40_000
TEXT = b"n,s\n" + b"".join(b"%d,text %d\n" % (i, i % 7) for i in range(ROWS))


class Store:
    """Objects by URL, as a server has them; counts requests."""

    def __init__(self, **objects: bytes) -> None:
        self.objects = objects
        self.requests: list[range] = []
        self.in_flight = self.max_in_flight = 0
        self.lock = threading.Lock()

    def get(self, name: str, part: range) -> bytes:
        with self.lock:
            self.requests.append(part)
            self.in_flight += 1
            self.max_in_flight = max(self.max_in_flight, self.in_flight)
        content = self.objects[name][part.start : part.stop]
        with self.lock:
            self.in_flight -= 1
        return content


@dataclass
class StoreReader(RangeReader):
    """Reads an object of the store."""

    store: Store
    name: str
    max_in_flight = 2

    @property
    def size(self) -> int:
        return len(self.store.objects[self.name])

    def identity(self) -> Hashable:
        return hash(self.store.objects[self.name])

    def read_ranges(self, ranges: Sequence[range]) -> Sequence[bytes]:
        return [self.store.get(self.name, part) for part in ranges]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    made = Store(plain=TEXT, gzip=gzip.compress(TEXT), wide=TEXT.decode().encode("utf-16"))

    def matches(given: object) -> bool:
        return isinstance(given, str) and given.startswith("store://")

    def source(url: str) -> RangeSource:
        return RangeSource(url, lambda _: nullcontext(StoreReader(made, url.removeprefix("store://"))))

    row = registry.SourceKind("store", matches, source)
    monkeypatch.setattr(registry, "SOURCE_KINDS", (row, *registry.SOURCE_KINDS))
    return made


@pytest.mark.parametrize("name", ["plain", "gzip", "wide"])
def test_every_entry_point_reads_it(store: Store, name: str) -> None:
    url = f"store://{name}"
    expected = headrace.read_csv(TEXT).to_pydict()
    assert headrace.read_csv(url).to_pydict() == expected
    scan = headrace.scan_csv(url, batch_bytes=1 << 16)
    assert sum(batch.num_rows for batch in scan.batches()) == ROWS
    assert scan.read().to_pydict() == expected
    assert headrace.sniff_csv(url).sep == ","
    assert headrace.read_csv([url, url]).num_rows == 2 * ROWS
    assert headrace.read_csv([url, b"n,s\n1,x\n"]).num_rows == ROWS + 1


def test_a_scan_reads_ranges_and_no_byte_often(store: Store) -> None:
    types = {"n": "int64", "s": "string"}
    batches = headrace.scan_csv("store://plain", batch_bytes=1 << 16, dtypes=types).batches()
    next(batches)
    assert sum(len(part) for part in store.requests) < len(TEXT)
    assert sum(batch.num_rows for batch in batches) < ROWS
    assert sum(len(part) for part in store.requests) < 2.5 * len(TEXT)


@pytest.mark.parametrize("threads", [1, 4])
def test_no_more_requests_in_flight_than_the_reader_allows(store: Store, threads: int) -> None:
    assert headrace.read_csv("store://plain", threads=threads, chunk_bytes=1 << 14).num_rows == ROWS
    assert 1 <= store.max_in_flight <= 2


def test_a_resumed_scan(store: Store) -> None:
    first = next(headrace.scan_csv("store://plain", batch_bytes=1 << 16).batches())
    rest = headrace.scan_csv("store://plain", batch_bytes=1 << 16, resume=first.report.end).read()
    assert rest["n"].to_pylist() == list(range(first.num_rows, ROWS))


def test_a_source_that_changes_is_an_error(store: Store) -> None:
    batches = headrace.scan_csv("store://plain", batch_bytes=1 << 16, dtypes={"n": "int64", "s": "string"}).batches()
    next(batches)
    store.objects["plain"] = TEXT.replace(b"text", b"TEXT")
    with pytest.raises(SourceError, match="changed while it was read"):
        list(batches)


def test_a_range_that_comes_short_is_an_error(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "get", lambda self, name, part: self.objects[name][part.start : part.stop - 1])
    with pytest.raises(SourceError, match="of a range of"):
        headrace.read_csv("store://plain")
