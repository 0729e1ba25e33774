"""Tests every public function with arguments of every wrong kind: an error that names the argument, and no other effect.

Errors are this package's, a TypeError that names the argument, or, for paths, Python's. Accepted arguments are those that
`taken_arguments` lists; all others would be a silent coercion.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from taken_arguments import EVERYTHING, takes
from wrong_arguments import (
    PATHS,
    Call,
    array_calls,
    fault_of,
    library_calls,
    outcome,
    plain_calls,
)
from wrong_values import array_values, likely_values, plain_values

import headrace
from tests.examples import examples

VALUES = {**plain_values(), **array_values()}
ALL_VALUES = VALUES | likely_values()


def keys() -> object:
    return np.array([3, 1, 2, 1], np.uint32)


def mask() -> object:
    return np.array([True, False, True, True])


CALLS = {call.name: call for call in [*plain_calls(), *library_calls(), *array_calls(keys, mask)]}
PAIRS = [(call, parameter) for call in CALLS.values() for parameter in call.tried()]
MADE_ELSEWHERE = {
    "Matches",
    "PatternHits",
    "PatternRowHits",
    "RecordCondition",
    "RowHits",
    "Sniffed",
    "Report",
    "DeviceArray",
    "MapOperation",
    "MapSnapshot",
    "StoreSnapshot",
    "Expression",
    "ColumnExpression",
    "clear_caches",
    "include_path",
    "key",
    "release_unused_memory",
    "__version__",
}
"""Names without an argument of the caller."""


@pytest.mark.parametrize(("call", "parameter"), PAIRS, ids=lambda one: getattr(one, "name", one))
@pytest.mark.parametrize("begin", [0, *(pytest.param(begin, marks=pytest.mark.long) for begin in (1, 2, 3))])
def test_one_wrong_argument(begin: int, call: Call, parameter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fourth value is tried by default, others for the next argument."""
    monkeypatch.chdir(tmp_path)
    right = takes(call.name, parameter)
    faults = []
    for kind, make in list(VALUES.items())[(PAIRS.index((call, parameter)) + begin) % 4 :: 4]:
        error = outcome(call, {parameter: make()})
        fault = fault_of(error, (parameter,))
        if error is None and kind not in right and right is not EVERYTHING:
            fault = "it is taken"
        if isinstance(error, headrace.OptionError) and kind in right:
            fault = f"it is refused: {error}"
        if fault:
            faults.append(f"{kind}: {fault}")
    assert not faults, "\n".join(faults)


@pytest.mark.covering(long=0)
@pytest.mark.long_except(
    "read_csv-*", "write_csv-*", "sort-*", "top_k-*", "bucket_counts-*", "multisplit-*", "find-*", "reduce-*"
)
@pytest.mark.parametrize(("call", "parameter"), PAIRS, ids=lambda one: getattr(one, "name", one))
def test_one_likely_argument(call: Call, parameter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind, make in likely_values().items():
        assert not fault_of(outcome(call, {parameter: make()}), (*call.tried(), *call.right())), kind


@settings(deadline=None, max_examples=examples(1500), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_several_wrong_arguments(data: st.DataObject, tmp_path: Path) -> None:
    call = CALLS[data.draw(st.sampled_from(sorted(CALLS)))]
    names = data.draw(st.lists(st.sampled_from(call.tried()), min_size=min(2, len(call.tried())), max_size=4, unique=True))
    wrong = {name: ALL_VALUES[data.draw(st.sampled_from(sorted(ALL_VALUES)))]() for name in names if name not in PATHS}
    error = outcome(call, wrong)
    # Two right values may contradict each other, and the message is then about all that is given.
    assert not fault_of(error, (*call.tried(), *call.right())), f"{call.name}({wrong})"


@pytest.mark.parametrize("name", ["bool", "int8", "float16", "int64"])
def test_an_array_for_an_operator_is_refused_for_items_of_any_type(name: str) -> None:
    items = np.array([1, 0], name)
    for call in (headrace.reduce, headrace.scan):
        with pytest.raises(headrace.OptionError, match="operator"):
            call(items, np.array([3, 2, 1, 0]))  # type: ignore[arg-type]


def test_every_public_name_is_called() -> None:
    called = {name.partition(".")[0].partition("[")[0].partition(" ")[0] for name in CALLS}
    public = {name for name in headrace.__all__ if not name.endswith("Error")}
    assert public - called == MADE_ELSEWHERE


@pytest.mark.parametrize("owner", [headrace.Table, headrace.Column, headrace.Scan, headrace.Report, headrace.Context])
def test_every_method_with_arguments_is_called(owner: type) -> None:
    protocols = {"__array__", "__arrow_c_array__", "__arrow_c_stream__", "__arrow_c_device_array__", "__dlpack__"}
    for name in dir(owner):
        method = inspect.getattr_static(owner, name)
        if name.startswith("_") or not inspect.isfunction(method) or name in protocols:
            continue
        parameters = list(inspect.signature(method).parameters)[1:]
        described = owner is headrace.Column and name == "arrow_description"  # the native part's
        assert not parameters or described or f"{owner.__name__}.{name}" in CALLS, name


WITHOUT = """
import array
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[2].split(","):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
sys.path.insert(0, sys.argv[1])
from wrong_arguments import PATHS, array_calls, fault_of, library_calls, outcome, plain_calls
from wrong_values import plain_values
import headrace

class Keys:
    code, typestr = "I", "<u4"

    def __init__(self):
        self.kept = array.array(self.code, [3, 1, 0, 1])
        address = self.kept.buffer_info()[0]
        self.__array_interface__ = {"shape": (4,), "typestr": self.typestr, "data": (address, False), "version": 3}

class Mask(Keys):
    code, typestr = "B", "|u1"

count = 0
for call in [*plain_calls(), *library_calls(), *array_calls(Keys, Mask)]:
    right = outcome(call, {})
    expected = (headrace.MissingDependencyError, headrace.OptionError)
    if right is not None and (not isinstance(right, expected) and call.name not in ("Scan.timed", "Scan.fetched", "Scan")):
        print(call.name, repr(right))
    for parameter in call.tried():
        if parameter in PATHS:
            continue
        for kind, make in list(plain_values().items())[:: int(sys.argv[3])]:
            count += 1
            error = outcome(call, {parameter: make()})
            fault = fault_of(error, (parameter,))
            if fault:
                print(call.name, parameter, kind, fault)
for name in ("numpy", "pyarrow"):
    missing = name in sys.argv[2].split(",")
    assert missing == (name not in sys.modules) or not missing, name
print(count * int(sys.argv[3]) > 1000)
"""


@pytest.mark.long_except("numpy-8")
@pytest.mark.parametrize(("missing", "step"), [("numpy", 8), ("pyarrow", 2), ("numpy,pyarrow,pandas,polars,duckdb", 2)])
def test_without_other_libraries(missing: str, step: int) -> None:
    """Each call is tried with each `step`-th wrong value."""
    command = [sys.executable, "-c", WITHOUT, str(Path(__file__).parent), missing, str(step)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == ["True"], ended.stdout
