"""Tests the benchmark of streams at a tiny size, from its first line to its last, with the GPU code under the fiber harness."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import headrace
from bench.read import data, stream
from tests.api.scan.scan_gpu_cases import FiberBuffers, run_on_fibers


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
    arguments = ["--bytes", "4000", "--cases", "taxi,quoted", "--batches", "1", "--turns", "1", "--peers", "pyarrow"]
    stream.main([*arguments, "--out", str(tmp_path / "table")])
    rows = table_of(tmp_path / "table")
    ways = [row[1] for row in rows if row[0] == "quoted"]
    assert ways[:3] == ["`read_csv`, CPU", "peer: pyarrow", "`scan_csv`"]
    assert [row[4][-1:] for row in rows if row[0] == "quoted"][:3] == ["", "", "%"]
    assert [row[-1].split(":")[0] for row in rows[-2:]] == ["taxi", "yelp"]
    kept = json.loads((tmp_path / "table.json").read_text())
    assert [(row["case"], row["way"]) for row in kept["rows"]] == [(case, way) for case in ("taxi", "quoted") for way in ways[:3]]
    assert {"commit", "date", "processor", "cores"} <= set(kept["machine"])


class Peer:
    """A table of a peer, of some rows."""

    def __init__(self, rows: int) -> None:
        self.shape = (rows, 2)


def test_a_scan_is_beside_the_best_peer_whose_rows_are_right(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys) -> None:
    small(monkeypatch, tmp_path)

    def peer(rows: int, seconds: float) -> Any:
        def read() -> Peer:
            time.sleep(seconds)
            return Peer(rows)

        return lambda *_: read

    def missing(*_: object) -> Any:
        raise ModuleNotFoundError("No module named 'gone'")

    rows = headrace.read_csv(stream.file_of("taxi", stream.CASES["taxi"], 4000)).num_rows
    peers = {"slow": peer(rows, 0.2), "fast": peer(rows, 0.02), "wrong": peer(rows + 1, 0), "gone": missing}
    monkeypatch.setattr(stream.contenders, "CONTENDERS", peers)
    arguments = ["--bytes", "4000", "--cases", "taxi", "--batches", "1", "--turns", "1", "--peers", ",".join(peers)]
    stream.main([*arguments, "--out", str(tmp_path / "table")])
    found = table_of(tmp_path / "table")
    assert [row[1] for row in found if row[0] == "taxi"][1:3] == ["peer: slow", "peer: fast"]
    assert found[-1][6].startswith("fast, ")
    said = capsys.readouterr().out
    assert f"wrong left out: {rows + 1} rows, not {rows}" in said
    assert "gone left out: ModuleNotFoundError" in said


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
