"""Tests misuse, exhausted memory, threads, and files of sorted maps."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace
from headrace import Context, MemoryLimitError, OptionError, SortedMap
from headrace.index.sorted_map.cpu.engine import CpuEngine
from headrace.index.sorted_map.levels import Level, Levels
from headrace.index.sorted_map.sorted_map import MapSnapshot
from tests.index.sorted_map.map_cases import KEY_TYPES, Model, hard_keys, random_batch


@pytest.mark.parametrize("key_type", ["u1", "f2", "?", "U4", "M8", "nothing", "<i,", None, 7])
def test_types_that_are_no_key(key_type: Any) -> None:
    with pytest.raises(OptionError, match="key_type must be"):
        SortedMap(key_type)
    if key_type is not None:
        with pytest.raises(OptionError, match="value_type must be"):
            SortedMap("u4", key_type)


@pytest.mark.parametrize("cleanup_at", [1, 0, -1, "often", float("nan")])
def test_wrong_factors(cleanup_at: Any) -> None:
    with pytest.raises(OptionError, match="cleanup_at must be a number greater than 1, or None"):
        SortedMap("u4", cleanup_at=cleanup_at)


def test_wrong_batches_change_nothing() -> None:
    found = SortedMap("u4", "i8")
    found.insert([1, 2], [10, 20])
    cases: list[tuple[str, tuple[Any, ...]]] = [
        ("keys are of type '<i8', and the map has '<u4'", (np.arange(2), [1, 2])),
        ("keys have items that are not of type '<u4'", ([1, -1], [1, 2])),
        ("keys have items that are not of type '<u4'", ([1.5], [1])),
        ("values have items that are not of type '<i8'", ([1], [1.5])),
        ("values are missing", ([1, 2],)),
        ("values has 1 items for 2 keys", ([1, 2], [1])),
        ("deletes has 1 items for 2 keys", ([1, 2], [1, 2], [True])),
        ("deletes must be of bools or bytes", ([1, 2], [1, 2], [0.5, 1])),
        ("keys must have one dimension", (np.zeros((2, 2), "u4"), [1, 2])),
    ]
    for message, batch in cases:
        with pytest.raises(OptionError, match=message):
            found.update(*batch)
    with pytest.raises(OptionError, match="the map has keys alone"):
        SortedMap("u4").insert([1], [1])
    with pytest.raises(OptionError, match="highs has 1 keys for 2 of lows"):
        found.count([1, 2], [3])
    with pytest.raises(OptionError, match="key must be one key"):
        _ = [1, 2] in found
    assert found.items().values.tolist() == [10, 20]


def test_empty_batches_and_queries() -> None:
    found = SortedMap("u4", "f4")
    found.insert([], [])
    found.erase([])
    assert found.level_sizes == ()
    assert len(found) == found.nbytes == 0
    assert found.find([1]).values.tolist() == [0.0]
    found.insert([1], [0.5])
    assert [part.tolist() for part in found.find([])] == [[], []]
    assert [part.tolist() for part in found.range([], [])] == [[0], [], []]
    assert found.successor([]).keys.tolist() == found.count([], []).tolist() == []


def test_exhausted_memory_leaves_the_map_intact() -> None:
    found = SortedMap("u8", "u8", context=Context(memory_limit=1 << 20))
    found.insert(np.arange(10_000, dtype="u8"), np.arange(10_000, dtype="u8"))
    sizes = found.level_sizes
    for size in (10_000, 30_000, 1_000_000):
        keys = np.arange(size, dtype="u8")
        for _ in range(8):
            try:
                found.insert(keys, keys + np.uint64(1))
            except MemoryLimitError:
                break
            sizes = found.level_sizes
        assert found.level_sizes == sizes
    assert found.find([0, 9_999]).mask.all()
    with pytest.raises(MemoryLimitError):
        found.insert(np.arange(1_000_000, dtype="u8"), np.arange(1_000_000, dtype="u8"))


def test_a_cleanup_that_does_not_fit_is_left_out() -> None:
    found = SortedMap("i8", cleanup_at=2, context=Context(memory_limit=5_500))
    for begin in range(0, 400, 100):
        found.insert(np.arange(begin, begin + 100))
        assert sum(found.level_sizes) == begin + 100
    assert len(found) == 400


def test_a_merge_before_a_search_leaves_memory_for_the_result() -> None:
    found = SortedMap("i8", "i8", context=Context(memory_limit=1_000_000))
    for size in (20_000, 5_000, 2_500, 1_250):
        found.insert(np.arange(size), np.arange(size) + size)
    keys = np.arange(60_000) % 20_000
    expected = keys + np.select([keys < 1_250, keys < 2_500, keys < 5_000], [1_250, 2_500, 5_000], 20_000)
    assert (found.find(keys).values == expected).all()
    assert found.level_sizes == (20_000,)


def test_a_merge_before_searches_that_does_not_fit_is_seldom_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    unlimited = SortedMap("i8")
    for size in (10_000, 4_000):
        unlimited.insert(np.arange(size) * 2)
    found = MapSnapshot(unlimited.snapshot()._levels, Context(memory_limit=150_000), may_merge=True)
    merges, merged = [], CpuEngine.merged
    monkeypatch.setattr(CpuEngine, "merged", lambda self, levels: merges.append(levels) or merged(self, levels))
    keys = np.arange(5_000)
    for _ in range(12):
        assert found.find(keys).mask.sum() == 2_500
    assert found.level_sizes == (4_000, 10_000)
    assert len(merges) == 4


def test_a_cleanup_is_kept_if_a_search_merges_levels_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    found, cleaned = SortedMap("i8"), CpuEngine.cleaned
    for begin, size in ((0, 5_000), (100, 20), (100, 10)):
        found.insert(np.arange(begin, begin + size))

    def searched_meanwhile(self: CpuEngine, levels: Levels) -> Level | None:
        found.find(np.arange(40))
        assert found.level_sizes == (30, 5_000)
        return cleaned(self, levels)

    monkeypatch.setattr(CpuEngine, "cleaned", searched_meanwhile)
    found.cleanup()
    assert found.level_sizes == (5_000,)


def test_arguments_are_not_kept() -> None:
    keys, values = np.arange(5, dtype="u4"), np.arange(5)
    found = SortedMap("u4", "i8")
    found.insert(keys, values)
    keys[:], values[:] = 9, 9
    found.cleanup()
    found.items().values[:] = 7
    assert found.find([0, 4]).values.tolist() == [0, 4]


def test_updates_and_reads_from_threads() -> None:
    """Each batch moves all keys to one value, so a read that saw half a batch would see two values."""
    found, keys, failures, done = SortedMap("i8", "i8", cleanup_at=2), np.arange(2000), [], threading.Event()
    found.insert(keys, np.zeros(2000, "i8"))

    def read() -> None:
        latest = 0
        while not done.is_set():
            for values in (found.find(keys).values, found.range([0], [5000]).values, found.snapshot().items().values):
                if len(values) != 2000 or (values != values[0]).any() or values[0] < latest:
                    failures.append(values)
                latest = int(values[0])

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    writers = [threading.Thread(target=lambda: [found.insert(keys, keys * 0 + i) for i in range(1, 40)]) for _ in range(1)]
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for reader in readers:
        reader.join()
    assert not failures
    assert len(found) == 2000


def test_writers_from_threads() -> None:
    found = SortedMap("i8", "i8")

    def write(first: int) -> None:
        for number in range(first, 400, 4):
            found.insert(np.arange(number * 10, number * 10 + 10), np.full(10, number))

    writers = [threading.Thread(target=write, args=(first,)) for first in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    keys, values = found.items()
    assert keys.tolist() == list(range(4000))
    assert (values == keys // 10).all()


@pytest.mark.parametrize("dtype", KEY_TYPES)
@pytest.mark.parametrize("value_type", [None, "f4", "i8", "M8[us]"])
def test_files(dtype: str, value_type: str | None, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    keys = hard_keys(dtype, 500, 300, 3)
    found = SortedMap(dtype, value_type)
    if value_type is None:
        found.insert(keys)
    else:
        found.insert(keys, np.arange(500).astype(value_type))
    found.erase(keys[::3])
    found.save(tmp_path / "map.arrow")
    loaded = SortedMap.load(tmp_path / "map.arrow")
    assert (loaded.key_type, loaded.value_type) == (found.key_type, found.value_type)
    for ours, expected in zip(loaded.items(), found.items(), strict=True):
        assert (ours is None) == (expected is None)
        assert ours is None or ours.tobytes() == expected.tobytes()
    loaded.insert(keys[:1], None if value_type is None else np.zeros(1, value_type))
    assert keys[0] in loaded


def test_a_file_keeps_dates_that_arrow_lacks(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    for days in ([5, 40_000_000_000], [-(1 << 31) - 1, 0], [-5, (1 << 31) - 1]):
        dates = np.array(days).view("M8[D]")
        ordered = SortedMap(dates.dtype, dates.dtype)
        ordered.insert(dates, dates[::-1].copy())
        ordered.save(tmp_path / "map.arrow")
        found = SortedMap.load(tmp_path / "map.arrow").items()
        assert (found.keys.tobytes(), found.values.tobytes()) == (dates.tobytes(), dates[::-1].tobytes())


def test_files_of_empty_maps_and_others(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    SortedMap("u4", "f8").save(tmp_path / "empty.arrow")
    assert len(SortedMap.load(tmp_path / "empty.arrow")) == 0
    (tmp_path / "text.arrow").write_text("no Arrow file")
    with pytest.raises(OptionError, match="is no Arrow file"):
        SortedMap.load(tmp_path / "text.arrow")
    for names, keys in ((["key"], [1, 2]), (["a", "b"], [1, 2])):
        with arrow.OSFile(str(tmp_path / "other.arrow"), "wb") as sink:
            table = arrow.table([arrow.array(keys)] * len(names), names=names)
            with arrow.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
        with pytest.raises(OptionError, match="is no file of SortedMap"):
            SortedMap.load(tmp_path / "other.arrow")
    for unordered in ([2, 1], [1, 1]):
        table = arrow.table({"key": unordered}).replace_schema_metadata({"headrace.sorted_map": "<i8 "})
        with arrow.OSFile(str(tmp_path / "other.arrow"), "wb") as sink, arrow.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        with pytest.raises(OptionError, match="not in ascending order"):
            SortedMap.load(tmp_path / "other.arrow")


def test_a_failed_save_keeps_the_old_file(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    found = SortedMap("i8")
    found.insert([1])
    found.save(tmp_path / "map.arrow")
    with pytest.raises(OSError, match="nowhere"):
        found.save(tmp_path / "nowhere" / "map.arrow")
    limited = SortedMap("i8", cleanup_at=None, context=Context(memory_limit=6_000))
    for begin in range(0, 700, 100):
        limited.insert(np.arange(begin, begin + 100))
    with pytest.raises(MemoryLimitError):
        limited.save(tmp_path / "map.arrow")
    assert [path.name for path in tmp_path.iterdir()] == ["map.arrow"]
    assert SortedMap.load(tmp_path / "map.arrow").items().keys.tolist() == [1]


def test_snapshots_equal_models_while_updates_go_on() -> None:
    found, model = SortedMap("f8", "i8"), Model()
    for number in range(20):
        batch = random_batch("f8", 50, 80, number)
        found.update(*batch)
        model.update(*batch)
        before, kept = found.snapshot(), model.copy()
        found.erase(hard_keys("f8", 30, 80, number))
        model.update(hard_keys("f8", 30, 80, number), np.zeros(30, "i8"), np.ones(30, bool))
        kept.check(before, hard_keys("f8", 16, 80, 50 + number))


def test_what_a_map_shows() -> None:
    found = SortedMap("u4", "datetime64[us]")
    assert repr(found) == "<headrace.SortedMap (<u4, <M8[us]) on cpu, 0 items in 0 levels>"
    found.insert([1, 2], np.zeros(2, "M8[us]"))
    assert repr(found) == "<headrace.SortedMap (<u4, <M8[us]) on cpu, 2 items in 1 level>"
    found.erase([1])
    assert repr(found) == "<headrace.SortedMap (<u4, <M8[us]) on cpu, 3 items in 2 levels>"  # no read cleans up
    assert repr(SortedMap(int)) == "<headrace.SortedMap (<i8) on cpu, 0 items in 0 levels>"


def test_types_of_other_libraries() -> None:
    pa = pytest.importorskip("pyarrow", reason="PyArrow is optional")
    pl = pytest.importorskip("polars", reason="Polars is optional")
    for key_type, value_type in ((pa.int32(), pa.float64()), (pl.Int32, pl.Float64())):
        found = SortedMap(key_type, value_type)
        assert (found.key_type, found.value_type) == ("<i4", "<f8")
    with pytest.raises(OptionError, match="key_type must be"):
        SortedMap(pa.string())


def test_columns_of_instants_are_keys_and_values() -> None:
    table = headrace.read_csv(b"t,d\n2024-01-02 03:04:05,2024-01-02\n2024-01-01 00:00:00,2024-01-01\n2024-01-03,2024-01-03\n")
    for name, unit in (("t", "us"), ("d", "D")):
        column = table[name]
        found = SortedMap(f"datetime64[{unit}]", f"datetime64[{unit}]")
        found.insert(column[:2], column[1:])
        assert found.items().keys.tolist() == sorted(column.to_numpy()[:2].tolist())
        assert found.find(column)[1].tolist() == [True, True, False]
        with pytest.raises(OptionError, match="keys are of type"):
            SortedMap("datetime64[s]").insert(column)
