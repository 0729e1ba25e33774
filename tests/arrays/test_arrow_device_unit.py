"""Tests Arrow's C device interface: PyArrow's result on the CPU, and that everything is released."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import weakref
from dataclasses import replace

import numpy as np
import pytest

from headrace.arrays import arrow_device
from headrace.arrays.arrow_device import DeviceColumn, device_capsules
from headrace.core.device import Device

pa = pytest.importorskip("pyarrow", reason="PyArrow reads what is handed over")


class Owner:
    def __init__(self, **arrays):
        self.arrays = arrays

    def __getattr__(self, name):
        return self.arrays[name].ctypes.data


class Exported:
    def __init__(self, column):
        self.column = column

    def __arrow_c_device_array__(self, requested_schema=None, **options):
        return device_capsules(self.column)


def column_of_three():
    owner = Owner(validity=np.array([0b101], np.uint8), values=np.array([7, 0, -3], np.int64))
    return DeviceColumn("l", 3, 1, (owner.validity, owner.values), Device(), owner)


def test_pyarrow_reads_a_column_with_nulls():
    taken = pa.array(Exported(column_of_three()))
    assert taken.type == pa.int64() and taken.to_pylist() == [7, None, -3]
    taken.validate(full=True)


def test_the_memory_is_kept_as_long_as_the_consumer_has_it_and_no_longer():
    column = column_of_three()
    watched, before, held = weakref.ref(column.owner), len(arrow_device._exported), set(arrow_device._in_capsules)
    taken = pa.array(Exported(column))
    del column
    gc.collect()
    assert watched() is not None and taken[2].as_py() == -3
    del taken
    gc.collect()
    assert watched() is None and len(arrow_device._exported) == before and set(arrow_device._in_capsules) <= held


def test_capsules_that_nobody_takes_let_go():
    column = column_of_three()
    watched, held = weakref.ref(column.owner), set(arrow_device._in_capsules)
    capsules = device_capsules(column)
    del column, capsules
    gc.collect()
    assert watched() is None and set(arrow_device._in_capsules) <= held


class Happened:
    handle = 64


def test_the_event_lives_as_long_as_the_consumer_may_wait_for_it():
    column = replace(column_of_three(), event=Happened())
    watched = weakref.ref(column.event)
    capsules = device_capsules(column)
    del column
    gc.collect()
    assert watched() is not None
    del capsules
    gc.collect()
    assert watched() is None


def test_argument_types_that_other_libraries_set_do_no_harm(monkeypatch):
    for name in ("PyCapsule_New", "PyCapsule_IsValid", "PyCapsule_GetPointer", "Py_IncRef"):
        monkeypatch.setattr(getattr(ctypes.pythonapi, name), "argtypes", [ctypes.py_object] * 3)
    column = column_of_three()
    watched = weakref.ref(column.owner)
    capsules = device_capsules(column)
    del column, capsules
    gc.collect()
    assert watched() is None


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("held", ["pa.array(Exported())", "Exported().__arrow_c_device_array__()"], ids=["taken", "capsules"])
@pytest.mark.parametrize("holder", ["__main__", "sys", "numpy"])
def test_what_is_held_until_the_interpreter_ends_does_no_harm(holder, held):
    code = f"""
import importlib, numpy, pyarrow as pa
from headrace.arrays.arrow_device import DeviceColumn, device_capsules
from headrace.core.device import Device
values = numpy.arange(3)
class Exported:
    def __arrow_c_device_array__(self, requested_schema=None, **options):
        return device_capsules(DeviceColumn("l", 3, 0, (0, values.ctypes.data), Device(), values))
importlib.import_module({holder!r}).held = {held}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_structures_have_the_published_sizes():
    sizes = [arrow_device.ctypes.sizeof(kind) for kind in (arrow_device._Schema, arrow_device._Array, arrow_device._DeviceArray)]
    assert sizes == [72, 80, 128]
