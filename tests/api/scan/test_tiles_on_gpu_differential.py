"""Tests scans of records with a text whose tiles are searched by kernels in the fiber harness, against scans without that."""

from __future__ import annotations

import random
from typing import Any

import pytest

import headrace
from headrace import Pattern, RecordCondition, _native, record_contains
from headrace.api.scan import scan_cpu, tiles_on_gpu
from headrace.api.scan.tiles_on_gpu import TILE_BYTES, LineText, drop_tiles
from headrace.gpu.kernels.launcher import BufferSlice
from headrace.structure.dialect import Dialect
from headrace.testing.fibers.launcher import FiberLauncher

pytestmark = pytest.mark.fibers

TILES = 5
OPTIONS: dict[str, Any] = {"on_error": "reject", "short_records": "null", "row_index_name": "number"}


def text_of(end: bytes, seed: int = 0) -> bytearray:
    """Return lines of numbers and words, some of which have too many fields."""
    rng = random.Random(seed)
    lines, size = [b"n,s,x"], 0
    while size < TILES * TILE_BYTES + 1000:
        word = rng.choice([b"abc", b"defgh", b"-"]) * rng.randrange(1, 9)
        lines.append(b"%d,%s,%d%s" % (len(lines), word, rng.randrange(10**6), b",,," * (rng.random() < 0.01)))
        size += len(lines[-1]) + len(end)
    return bytearray(end.join(lines) + end)


def dropped_of(text: bytes, *patterns: bytes, **dialect: Any) -> int:
    launcher = FiberLauncher("random", 1)
    searched = LineText(launcher, launcher.put(bytes(text)), Dialect(**dialect), 0, 6)
    return drop_tiles(searched, [Pattern(one) for one in patterns], _native.DroppedTiles())


class ScanInPlace:
    """Scans of bytes as if they were in GPU memory, and the number of tiles that were dropped by the kernels."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.dropped = 0

        def drop(source: Any, options: Any, plan: Any, patterns: Any, dropped: Any) -> None:
            launcher = FiberLauncher("random", 2)
            text = launcher.put(source.native.read(0, source.size))
            searched = LineText(launcher, text, options.dialect, plan.file, plan.data_begin)
            self.dropped += drop_tiles(searched, patterns, dropped)

        monkeypatch.setattr(tiles_on_gpu, "drop_on_gpu", drop)
        monkeypatch.setattr(scan_cpu.OpenSource, "is_in_gpu_memory", property(lambda self: True))

    def check(self, text: bytes, where: RecordCondition, expected: headrace.Table, report: Any) -> None:
        scan = headrace.scan_csv(text, where=where, batch_bytes=2 * TILE_BYTES, **OPTIONS)
        table = scan.read()
        assert table.equals(expected)
        assert table.rejects.to_pylist() == expected.rejects.to_pylist()
        assert (scan.report.records, scan.report.skipped) == (report.records, report.skipped)
        assert [column.evidence for column in scan.report.columns] == [column.evidence for column in report.columns]


@pytest.mark.covering(default=1, long=2)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["feeds", "returns"])
@pytest.mark.parametrize("places", [[], [300_000], [300_000, 1_000_000], [2 * TILE_BYTES - 3, 4 * TILE_BYTES]], ids=str)
def test_scans_of_searched_tiles(monkeypatch: pytest.MonkeyPatch, end: bytes, places: list[int]) -> None:
    text = text_of(end)
    for place in places:
        text[place : place + 6] = b"needle"
    where = record_contains("needle", "zebra")
    expected = headrace.scan_csv(bytes(text), where=where, batch_bytes=2 * TILE_BYTES, **OPTIONS)
    rows = expected.read()
    in_place = ScanInPlace(monkeypatch)
    in_place.check(bytes(text), where, rows, expected.report)
    assert in_place.dropped >= TILES - 1 - 2 * len(places)
    assert rows.num_rows + len(rows.rejects) >= len(places)


def test_hits_are_not_dropped() -> None:
    text = text_of(b"\n")
    assert dropped_of(text, b"needle") == TILES - 1
    for place in (TILE_BYTES, 2 * TILE_BYTES - 6, 2 * TILE_BYTES - 3):
        assert dropped_of(bytes(text[:place] + b"needle" + text[place + 6 :]), b"needle") < TILES - 1
    assert dropped_of(text, b"needle", b"abc") == 0


@pytest.mark.parametrize(
    ("part", "dialect"),
    [(b'"', {}), (b"\n\n", {}), (b"\r", {}), (b".", {"comment": "#"}), (b".", {"lineterminator": ";"})],
    ids=["quote", "blank line", "return", "comments", "other line end"],
)
def test_other_texts_are_left_to_the_host(part: bytes, dialect: dict[str, Any]) -> None:
    text = text_of(b"\n")
    text[700_000 : 700_000 + len(part)] = part
    assert dropped_of(text, b"needle", **dialect) == 0


def test_texts_of_other_alignment_are_left_to_the_host() -> None:
    launcher = FiberLauncher()
    text = BufferSlice(launcher.put(b"." + text_of(b"\n")), 1)
    searched = LineText(launcher, text, Dialect(), 0, 6)
    assert drop_tiles(searched, [Pattern(b"needle")], _native.DroppedTiles()) == 0
