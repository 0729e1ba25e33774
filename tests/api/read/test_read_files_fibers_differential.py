"""Several files on a GPU, its kernels under the fiber harness, against the CPU: one table, types and evidence of all files."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import headrace
from headrace.api.read import read_files as module
from headrace.api.read.file_loads import LoadsOnHost
from headrace.api.read.planned_files import PlannedFiles
from headrace.columns.buffers.load_result import Loaded
from headrace.columns.column import Column
from headrace.columns.finish.gpu.concat import concat_on_gpu
from headrace.columns.load.gpu.load_text import TextLoads
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.load_run import LoadRun
from headrace.columns.types import DataType
from headrace.core.buffer import copy_of
from headrace.sources.open import OpenSource
from headrace.testing.fibers.launcher import FiberLauncher, HostBuffer
from tests.columns.convert.convert_kernels_cases import table
from tests.columns.faults.load_gpu_faults_cases import spoiled
from tests.columns.load.load_gpu_cases import OTHER_SHAPE, record_searches, same_table, view_of
from tests.columns.load.load_gpu_dialects_cases import outcome
from tests.tiers import seeds

pytestmark = pytest.mark.fibers


class BufferLauncher(FiberLauncher):
    """Whose columns stay where the kernels find them."""

    def result(self, buffer: Any) -> Any:
        return buffer


class LoadsOnFibers(LoadsOnHost):
    """Same as LoadsOnGpu."""

    def __init__(self, plans: PlannedFiles) -> None:
        super().__init__(plans)
        self._launcher = BufferLauncher("random", 1)
        self._loads = TextLoads(plans.options.dialect, lambda _: view_of, tuning=OTHER_SHAPE)

    def load(self, source: OpenSource, plan: LoadPlan, run: LoadRun) -> Loaded:
        text = self._launcher.put(np.frombuffer(source.native.read(0, source.size), np.uint8))
        return self._loads.load(self._launcher, text, source, plan, run)

    def join(self, parts: Sequence[int | Column], kind: DataType, *, shrink: bool = False) -> tuple[Column, int | None]:
        column, settled = concat_on_gpu(self._launcher, parts, kind, shrink=shrink)
        own: dict[str, Any] = {}
        for name in ("values", "validity", "offsets"):
            buffer = getattr(column, name)
            own[name] = copy_of(self._launcher.fetch(buffer).data) if isinstance(buffer, HostBuffer) else None
        return replace(column, **own), settled


def check(files: list[Any], **options: Any) -> headrace.Table | None:
    """Read on both; the table, None where both raise."""
    expected, error = outcome(lambda: headrace.read_csv(files, **options))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "loads_for", LoadsOnFibers)
        found, raised = outcome(lambda: headrace.read_csv(files, **options))
    assert raised == error
    if expected is None or found is None:
        return None
    assert list(found.schema.items()) == list(expected.schema.items())
    same_table(found, expected)
    assert repr(found.rejects.to_pydict()) == repr(expected.rejects.to_pydict())
    assert (found.report.files, found.report.replaced) == (expected.report.files, expected.report.replaced)
    return found


@pytest.mark.parametrize("seed", seeds(10))
def test_files_of_given_types_and_of_none(seed):
    rng = random.Random(seed)
    types = rng.sample(["string", "int64", "float64", "bool", "date32", "int8", "decimal128(12, 2)", "binary"], 4)
    files = []
    for _ in range(rng.choice([2, 3, 5])):
        rows = rng.choice([3, 20, 70])
        text = table(rng, types, rows, junk=0.03 * (seed % 2), quoted=0.2)
        files.append(b"a,b,c,d\n" + (spoiled(rng, text, 2) if seed % 3 == 0 else text))
    options: dict[str, Any] = {"on_error": rng.choice(["null", "reject"]), "header": True}
    if seed % 2:
        options["schema"] = types
    check(files, **options)
    check(files, row_index_name="n", shrink=True, n_rows=30, **options)


def test_types_that_a_later_file_settles():
    files = [b"a,b,c\n1,2020-01-01,\n2,,\n", b"a,b,c\n2.5,text,\n", b"a,b,c\n,,7\n300,x,8\n", b"a,b,c\n", b"a,b,c\n\n"]
    found = check(files)
    assert found is not None and [str(type_) for type_ in found.schema.values()] == ["float64", "string", "int64"]
    check(files, shrink=True, on_error="reject")
    check([*files, b"a,b,c\n99999999999999999999,1,2\n"])
    check(files, strings="dictionary")


def test_columns_that_some_files_lack(tmp_path):
    for year, text in ((2023, b"a,b\n1,x\n2,\n"), (2024, b"b,c\nyy,2.5\n,3\n"), (2025, b"c,a\n9,1000\n")):
        (tmp_path / f"year={year}").mkdir()
        (tmp_path / f"year={year}" / "part.csv").write_bytes(text)
    check([str(tmp_path / "*" / "*.csv")], union_by_name=True, include_file_paths="path", hive_partitioning=True, shrink=True)
    check(sorted(tmp_path.glob("*/*.csv")), union_by_name=True, strings="view")


@pytest.mark.parametrize("type_", ["int8", "bool", "decimal128(5, 2)", "string", "dictionary[int32, string]"])
def test_columns_that_all_files_lack(type_):
    options: dict[str, Any] = {"columns": ["z", "b"], "dtypes": {"z": type_}, "include_missing_columns": True}
    check([b"a,b\n1,x\n2,\n" * 20], **options)
    check([b"a,b\n1,x\n", b"a,b\n", b"a,b\n3,1\n"], **options)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "cp1252"])
def test_files_in_other_encodings(codec):
    files = ["a,b\n1,ä€x\n", "a,b\n2.5,ö\n\n", "a,b\nx,ß€\n3\n"]
    check([file.encode(codec) for file in files], encoding=codec, on_error="reject")
    check([file.encode(codec) for file in files], encoding=codec, on_error="null", shrink=True)


def test_joined_bits_at_all_places():
    files = [b"a,b\n" + b"true,\nfalse,1\n" * rows + b"true,2\n" * (rows % 3) for rows in (1, 15, 16, 17, 40)]
    check(files)
    check(files, columns=["b"])


def test_files_with_stray_quotes_are_searched_once(monkeypatch):
    """Masks misread the quotes of the second file. The automaton reads this file again, and all that follow."""
    searches = record_searches(monkeypatch)
    plain, inches = b'a,b\n1,"x, y"\n2,z\n', b'a,b\n1,5" pipe\n2,"z, w"\n'
    check([plain, inches, inches, plain, inches])
    assert searches == ["masks", "masks", *["automaton"] * 4]
    searches.clear()
    check([plain, plain])
    assert searches == ["masks", "masks"]


def test_a_file_with_stray_quotes_whose_type_changes_later(monkeypatch):
    """The second file makes column `a` text, so the first one is loaded again."""
    searches = record_searches(monkeypatch)
    check([b'a,b\n1,5" pipe\n2,z\n', b"a,b\nx,y\n"])
    assert searches == ["masks", *["automaton"] * 3]
