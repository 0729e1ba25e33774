"""Compares scans on a GPU with the CPU, to the bit: from files and bytes, to both devices; and checks that memory is freed."""

from __future__ import annotations

import gzip
import io
import random
from pathlib import Path
from typing import Any

import pytest

import headrace
from headrace import MemoryLimitError, SourceError
from tests.api.outcomes import outcome

pytestmark = pytest.mark.gpu


def text_of(seed: int, rows: int = 20_000) -> bytes:
    rng = random.Random(seed)
    lines = [b"n,x,s,d"]
    for row in range(rows):
        text = rng.choice(["plain", '"quoted, text"', '"line\nbreak ""x"""', "", "é"]).encode()
        lines.append(b"%d,%.3f,%s,2024-01-%02d" % (rng.randrange(-(10**6), 10**6), rng.random() * 1000, text, row % 28 + 1))
        if rng.random() < 0.001:
            lines.append(b"x,y")
    return b"\n".join(lines) + b"\n"


@pytest.mark.parametrize("to", [None, "cpu"])
def test_records_with_a_text(to: str | None) -> None:
    text, where = text_of(5), headrace.record_contains("break", "99.")
    expected = headrace.scan_csv(text, where=where, on_error="reject", batch_bytes=50_000)
    rows = expected.read()
    found = headrace.scan_csv(text, where=where, on_error="reject", batch_bytes=50_000, device="cuda", to=to)
    table = found.read()
    assert table.device.kind == (to or "cuda")
    assert table.to("cpu").equals(rows) and found.report.skipped == expected.report.skipped
    assert table.rejects.to_pylist() == rows.rejects.to_pylist()
    found.report.check()


@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["feeds", "returns"])
def test_records_with_a_text_on_the_card(end: bytes) -> None:
    torch = pytest.importorskip("torch")
    text = bytearray(end.join(b"%d,word%d,%d" % (i, i % 977, i * i) for i in range(1_200_000)) + end)
    for place in (1_000_000, 5_000_000):
        text[(at := text.index(b"word", place)) : at + 4] = b"pins"
    text[(at := text.index(b"word", 20_000_000)) : at + 9] = b",,,,,pins"  # rejected, so its line is counted
    where, options = headrace.record_contains("pins"), {"header": False, "on_error": "reject", "batch_bytes": 2 << 20}
    expected = headrace.scan_csv(bytes(text), where=where, **options)
    rows = expected.read()
    context = headrace.Context(device="cuda")
    found = headrace.scan_csv(torch.frombuffer(text, dtype=torch.uint8).cuda(), where=where, context=context, **options)
    table = found.read()
    assert table.device.kind == "cuda" and table.to("cpu").equals(rows)
    assert (found.report.records, found.report.skipped) == (expected.report.records, expected.report.skipped)
    assert table.rejects.to_pylist() == rows.rejects.to_pylist()
    assert len(rows.rejects) == 1 and context.crossings.to_host < len(text) // 2


@pytest.mark.parametrize("batch_bytes", [10_000, 65_536, 300_000])
@pytest.mark.parametrize("to", [None, "cpu"])
@pytest.mark.parametrize("given", [False, True])
def test_as_on_the_cpu(tmp_path: Path, batch_bytes: int, to: str | None, given: bool) -> None:
    options: dict[str, Any] = {"on_error": "reject"}
    if given:
        options["schema"] = ["int64", "float64", "string", "date32"]
    path = tmp_path / "rows.csv"
    path.write_bytes(text_of(batch_bytes))
    expected = outcome(lambda: headrace.read_csv(path, **options))
    for source in (path, path.read_bytes()):
        scan = headrace.scan_csv(source, batch_bytes=batch_bytes, device="cuda", to=to, **options)
        assert outcome(lambda scan=scan: scan.read().to("cpu")) == expected  # type: ignore[misc]
        assert scan.report.device == "cuda"
        assert scan.report.copied_by
        assert {batch.device.kind for batch in scan.batches()} == {to or "cuda"}


def test_read_csv_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(text_of(1, 300_000))
    found = headrace.read_csv(path, device="cuda", on_error="reject")
    assert found.report.device == "cuda"
    assert found.to("cpu").to_arrow().equals(headrace.read_csv(path, on_error="reject").to_arrow())


def test_what_the_card_leaves_is_read_on_the_host() -> None:
    scan = headrace.scan_csv(
        text_of(2), batch_bytes=50_000, device="cuda", lenient_quotes=True, escape_char="\\", on_error="reject"
    )
    assert {batch.device.kind for batch in scan.batches()} == {"cuda"}
    assert scan.report.device == "cpu, because of lenient quotes and escaped bytes; then cuda"


@pytest.mark.parametrize("form", ["gzip", "file object", "utf-16", "cp1252", "view", "dictionary", "row index", "on the card"])
def test_sources_and_forms(form: str) -> None:
    data, options = text_of(4), {"on_error": "reject", "schema": ["int64", "float64", "string", "date32"]}
    source: Any = data
    if form in ("view", "dictionary"):
        options["strings"] = form
    elif form == "row index":
        options["row_index_name"] = "i"
    elif form in ("utf-16", "cp1252"):
        source = data.decode().encode(form)
        options["encoding"] = form
    expected = headrace.read_csv(source, **options)
    if form == "gzip":
        source = gzip.compress(data, 1)
    elif form == "file object":
        source = io.BytesIO(data)
    elif form == "on the card":
        source = pytest.importorskip("torch").frombuffer(bytearray(data), dtype=pytest.importorskip("torch").uint8).cuda()
    where = {} if form == "on the card" else {"device": "cuda"}  # work runs where its input is
    batches = list(headrace.scan_csv(source, batch_bytes=100_000, **where, **options).batches())
    assert {batch.device.kind for batch in batches} == {"cuda"}
    assert {batch.report.device for batch in batches} == {"cuda"}
    for name, column in expected.columns.items():
        assert [value for batch in batches for value in batch.to("cpu")[name].to_pylist()] == column.to_pylist()


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("movers", [1, 2])
def test_ways_back_to_the_host(pinned: bool, movers: int) -> None:
    from headrace.columns.buffers.fetch_gpu import FetchShape

    data, options = text_of(6), {"on_error": "reject", "schema": ["int64", "float64", "string", "date32"]}
    scan = headrace.scan_csv(data, batch_bytes=60_000, device="cuda", to="cpu", **options)
    expected = outcome(lambda: headrace.read_csv(data, **options))
    for _ in range(2):
        assert outcome(lambda: scan.fetched(FetchShape(pinned=pinned, movers=movers)).read()) == expected


def test_little_memory_and_a_file_that_changes(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(text_of(3))
    with pytest.raises(MemoryLimitError):
        list(headrace.scan_csv(path, batch_bytes=1 << 20, memory_limit=20_000, device="cuda", on_error="reject").batches())
    batches = headrace.scan_csv(path, batch_bytes=20_000, dtypes=str, device="cuda", on_error="reject").batches()
    next(batches)
    with path.open("r+b") as file:
        file.truncate(100_000)
    with pytest.raises(SourceError, match=r"changed|shrank"):
        list(batches)
