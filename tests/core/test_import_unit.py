"""Bounds the time that an import takes, and what it imports."""

import copy
import dataclasses
import os
import pickle
import resource
import subprocess
import sys

import pytest

from headrace.core.dataclass import dataclass, field, fields, replace

_FIRST_READ = "import headrace; headrace.read_csv(b'a,b\\n' + b'1,x\\n' * 256, threads=1)"
_MAX_SECONDS = 0.4
"""Six times the time of an import and a first read on an idle machine."""


def seconds_of(code):
    """Return the processor time of a new interpreter that executes `code`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_an_import_and_a_first_read_take_little_time():
    assert min(seconds_of(_FIRST_READ) - seconds_of("pass") for _ in range(2)) < _MAX_SECONDS


def test_an_import_loads_no_reader_and_a_read_no_parser_of_python():
    found = "import sys, headrace; assert 'headrace.api.table' not in sys.modules and 'headrace._native' not in sys.modules;"
    found += "headrace.read_csv(b'a\\n1\\n'); assert not {'dataclasses', 'inspect', 'ast', 'numpy'} & set(sys.modules)"
    assert seconds_of(found) > 0


@dataclass(frozen=True, slots=True)
class Base:
    x: int
    more: list[int] = field(default_factory=list, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived(Base):
    y: int
    z: str = field(default="z", repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class StandardBase:
    x: int
    more: list[int] = dataclasses.field(default_factory=list, compare=False)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StandardDerived(StandardBase):
    y: int
    z: str = dataclasses.field(default="z", repr=False)


@dataclass(slots=True)
class Counter:
    count: int = 0


def test_dataclasses_are_those_of_the_standard_module():
    ours, standard = Derived(1, y=2), StandardDerived(1, y=2)
    assert repr(ours) == repr(standard).replace("Standard", "")
    assert [each.name for each in fields(ours)] == [each.name for each in dataclasses.fields(standard)]
    assert dataclasses.asdict(ours) == dataclasses.asdict(standard)
    assert Derived.__match_args__ == StandardDerived.__match_args__
    assert ours == Derived(1, [5], y=2) != Derived(1, y=3) and ours != standard
    assert hash(ours) == hash(Derived(1, [5], y=2)) and {ours} == {Derived(1, y=2)}
    assert ours.more is not Derived(1, y=2).more
    for change in (replace, dataclasses.replace):
        assert change(ours, y=7) == Derived(1, y=7)
    for same in (pickle.loads(pickle.dumps(ours)), copy.copy(ours), copy.deepcopy(ours)):
        assert same == ours and same.more == ours.more
    assert not hasattr(ours, "__dict__")


@pytest.mark.parametrize("change", [lambda one: setattr(one, "y", 3), lambda one: delattr(one, "x")])
def test_frozen_dataclasses_do_not_change(change):
    with pytest.raises(dataclasses.FrozenInstanceError):
        change(Derived(1, y=2))


@pytest.mark.parametrize(("arguments", "named"), [((), {"y": 1}), ((1, [], 2), {}), ((1,), {}), ((1,), {"y": 2, "w": 3})])
def test_wrong_arguments_are_refused(arguments, named):
    with pytest.raises(TypeError):
        Derived(*arguments, **named)


def test_other_dataclasses_change_and_have_no_hash():
    counter = Counter()
    counter.count += 1
    assert counter == Counter(1)
    with pytest.raises(TypeError):
        hash(counter)
