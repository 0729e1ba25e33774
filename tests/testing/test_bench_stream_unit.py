"""The benchmark of streams at a tiny size, from its first line to its last: a GPU's ways run under the fiber harness."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import headrace
from bench.read import data, stream
from tests.api.test_scan_gpu_differential import FiberBuffers, run_on_fibers


def small(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("HEADRACE_BENCH_DATA", str(folder))

    def pieces(case: Any) -> tuple[bytes, bytes]:
        header = b"n,s\n" if case.header else b""
        return header, b"".join(b'%d,"text %d"\n' % (i, i) for i in range(40))

    monkeypatch.setattr(stream, "pieces", pieces)
    case = stream.Case("taxi", {"n": "int64", "s": "string"})
    monkeypatch.setattr(stream, "CASES", {"taxi": case, "quoted": stream.Case("quoted", case.types, quotes=True)})
    assert data.folder() == folder


def table_of(path: Path) -> list[list[str]]:
    rows = [line.strip("|").split(" | ") for line in path.with_suffix(".md").read_text().splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows]


def test_on_the_cpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    small(monkeypatch, tmp_path)
    stream.main(["--bytes", "4000", "--cases", "taxi,quoted", "--batches", "1", "--turns", "1", "--out", str(tmp_path / "table")])
    rows = table_of(tmp_path / "table")
    ways = [row[1] for row in rows if row[0] == "quoted"]
    assert ways[:3] == ["`read_csv`, CPU", "PyArrow `read_csv`", "`scan_csv`"]
    assert [row[4][-1:] for row in rows if row[0] == "quoted"][:3] == ["", "", "%"]
    assert [row[-1].split(":")[0] for row in rows[-2:]] == ["taxi", "yelp"]


@pytest.mark.fibers
def test_on_a_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    small(monkeypatch, tmp_path)
    run_on_fibers(monkeypatch, FiberBuffers)
    asked: list[tuple[Any, Any]] = []

    def here(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(source: Any, shape: Any = None, device: Any = None, to: Any = None, **options: Any) -> Any:
            asked.append((device, to))
            found = function(source, **options)
            return found.fetched(shape) if shape else found

        return called

    @contextmanager
    def text(path: Path) -> Iterator[bytes]:
        yield path.read_bytes()

    monkeypatch.setattr(stream, "scan", here(headrace.scan_csv))
    monkeypatch.setattr(stream, "read", here(headrace.read_csv))
    monkeypatch.setattr(stream, "pinned_text", text)
    monkeypatch.setattr(stream, "link_rates", lambda: (50.0, 40.0))
    out = ["--out", str(tmp_path / "table")]
    stream.main(
        ["--gpu", "--shapes", "--bytes", "2000", "--cases", "quoted", "--batches", "1,2", "--turns", "1", "--skip-peers", *out]
    )
    assert {("cuda", None), ("cuda", "cpu")} <= set(asked)
    rows = table_of(tmp_path / "table")
    ways = [row[1] for row in rows if row[0] == "quoted"]
    end_to_end = ["`scan_csv`", "`scan_csv` of pinned memory", stream.BACK]
    assert ways[-3 - len(stream.SHAPES) :] == [*[f"{stream.BACK}: {told}" for told in stream.SHAPES], *end_to_end]
    assert rows[-1][5].endswith("of 40.0 GB/s")
    stream.main(["--bytes", "2000", "--cases", "quoted", "--batches", "1", "--soak", "0.000004", *out])
    assert len(table_of(tmp_path / "table")) == 4
    stream.main(["--bytes", "2000", "--cases", "quoted", "--batches", "1", "--trace", str(tmp_path / "trace"), *out])
    assert any(row[0] == "sender" for row in table_of(tmp_path / "table"))
