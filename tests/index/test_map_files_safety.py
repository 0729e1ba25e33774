"""Loads files of maps that are damaged, cut off or of another program, or whose writer was killed, and pickles maps."""

from __future__ import annotations

import copy
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headrace import HashMap, HashMultiMap, HashSet, HeadraceError, OptionError, SortedMap

KINDS: dict[str, Callable[[], Any]] = {
    "SortedMap": lambda: SortedMap("i8", "f4"),
    "HashMap": lambda: HashMap("int64", "float32"),
    "HashMultiMap": lambda: HashMultiMap("int64", "float32"),
    "HashSet": lambda: HashSet("int64"),
}


def saved(name: str, path: Path) -> Any:
    """Save a map of 40 items, and return it."""
    pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    found, keys = KINDS[name](), np.arange(40) * 3
    found.insert(*((keys,) if name == "HashSet" else (keys, keys.astype("f4"))))
    found.save(path)
    return found


def loaded(name: str, path: Path) -> Any:
    """Load a file, or return None after an error of this package that names the file."""
    kind: Any = type(KINDS[name]())
    message = path.name
    try:
        found = kind.load(path)
    except HeadraceError as error:
        found, message = None, str(error)
    assert path.name in message
    return found


def write(path: Path, columns: dict[str, Any], description: dict[str, str]) -> None:
    """Write an Arrow file as another program would."""
    arrow = pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    table = arrow.table(columns).replace_schema_metadata(description)
    with arrow.OSFile(str(path), "wb") as sink, arrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize("name", KINDS)
def test_files_cut_off_anywhere(name: str, tmp_path: Path) -> None:
    path = tmp_path / "map.arrow"
    saved(name, path)
    whole = path.read_bytes()
    for length in [*range(0, len(whole), 41), len(whole) - 1]:
        path.write_bytes(whole[:length])
        assert loaded(name, path) is None


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.long), 7])
@pytest.mark.parametrize("name", KINDS)
def test_files_with_changed_bytes(name: str, step: int, tmp_path: Path) -> None:
    """A change of an item cannot be seen. Each other one is an error of this package, or changes nothing."""
    path, random = tmp_path / "map.arrow", np.random.default_rng(1)
    saved(name, path)
    whole = np.fromfile(path, np.uint8)
    for at in range(0, len(whole), step):
        changed = whole.copy()
        changed[at] ^= 1 << random.integers(8)
        changed.tofile(path)
        again = loaded(name, path)
        assert again is None or len(again) in range(41)


@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("SortedMap", 12),
        ("HashMap", 12),
        *(pytest.param(name, 300, marks=pytest.mark.nightly) for name in ("SortedMap", "HashMap")),
    ],
)
def test_a_saver_that_is_killed_at_any_time(name: str, times: int, tmp_path: Path) -> None:
    """The file is whole at each time: one of the versions that are saved over it again and again."""
    pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    draw, path, seen = random.Random(f"{name} {times}"), tmp_path / "map.arrow", set()
    kind: Any = type(KINDS[name]())
    program = Path(__file__).with_name("killed_saver.py")
    with subprocess.Popen([sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        for number in range(times):
            server.stdin.write(f"{path} {name} {number % 3}\n")
            server.stdin.flush()
            saver = int(server.stdout.readline())
            assert server.stdout.readline() == "saved\n"
            time.sleep(draw.random() * 0.02)
            os.kill(saver, signal.SIGKILL)
            assert server.stdout.readline() == "dead\n"
            keys, values = kind.load(path).items()
            seen.add((len(keys), int(values[0])))
            assert (np.sort(keys) == np.arange(len(keys)) + values[0]).all() and (values == values[0]).all()
        server.stdin.close()
    assert seen <= {(2_000, 0), (3, 1), (30_000, 2)} and len(seen) > 1


@pytest.mark.parametrize("name", KINDS)
def test_files_with_columns_of_others(name: str, tmp_path: Path) -> None:
    path = tmp_path / "map.arrow"
    label = "headrace.sorted_map" if name == "SortedMap" else "headrace.hash_map"
    words = "<i8 <f4" if name == "SortedMap" else f"{name} <i8 {'-' if name == 'HashSet' else '<f4'} 0"
    keys: dict[str, Any] = {"right": [1, 2], "nulls": [1, None], "text": ["a", "b"], "lists": [[1], [2]], "floats": [0.5, 1.5]}
    keys |= {"bools": [False, True], "small": np.array([1, 2], "i1"), "none": [None, None]}
    value = np.zeros(2, "f4")
    for kind, items in keys.items():
        is_loaded = {"key": kind == "right" and name == "HashSet", "pair": kind == "right" and name != "HashSet", "value": False}
        columns = {"key": {"key": items}, "pair": {"key": items, "value": value}, "value": {"key": [1, 2], "value": items}}
        for form, given in columns.items():
            write(path, given, {label: words})
            assert (loaded(name, path) is not None) == is_loaded[form], (kind, form)
    for described in ("", " ", "<i8", "<i8 <f4 0", "<i3 <f4", "nothing at all", f"{name}", f"{name} <i8 <f4 " + "9" * 5000):
        write(path, {"key": [1, 2], "value": value}, {label: described})
        assert loaded(name, path) is None or (name == "SortedMap" and described == "<i8 <f4 0")
    write(path, {"value": value, "key": [1, 2]}, {label: words})
    assert loaded(name, path) is None


@pytest.mark.parametrize("name", KINDS)
def test_paths_that_are_not_utf_8(name: str, tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/Stra\xdfe"))
    folder.mkdir()
    saved(name, folder / "map\udcff.arrow")
    assert len(loaded(name, folder / "map\udcff.arrow")) == 40


@pytest.mark.parametrize("name", KINDS)
def test_a_pickle_names_the_way(name: str, tmp_path: Path) -> None:
    found = saved(name, tmp_path / "map.arrow")
    for call in (pickle.dumps, copy.deepcopy):
        with pytest.raises(
            TypeError, match=rf"a {name} cannot be pickled; write it by save\(path\), and read it by {name}\.load"
        ):
            call(found)


@pytest.mark.parametrize("name", KINDS)
def test_a_copy_does_not_change_with_the_map(name: str, tmp_path: Path) -> None:
    found = saved(name, tmp_path / "map.arrow")
    again = copy.copy(found)
    assert type(again) is type(found)
    found.insert(*(([1],) if name == "HashSet" else ([1], [0.5])))
    assert (len(found), len(again)) == (41, 40)
    again.insert(*(([2],) if name == "HashSet" else ([2], [0.5])))
    assert 2 not in found if name == "SortedMap" else not found.contains([2])[0]


def test_a_snapshot_names_the_way() -> None:
    with pytest.raises(
        TypeError, match=r"a MapSnapshot cannot be pickled; write it by save\(path\), and read it by SortedMap\.load"
    ):
        pickle.dumps(SortedMap("i8").snapshot())


def test_descriptions_of_other_types(tmp_path: Path) -> None:
    path = tmp_path / "map.arrow"
    write(path, {"key": [1, 2]}, {"headrace.sorted_map": "<u8 "})
    with pytest.raises(OptionError, match=r"map\.arrow' describes keys of type '<u8', and has '<i8'"):
        SortedMap.load(path)
    write(path, {"key": [1, 2]}, {"headrace.sorted_map": "<i8 <f4"})
    with pytest.raises(OptionError, match=r"map\.arrow' describes values of type '<f4', and has None"):
        SortedMap.load(path)
