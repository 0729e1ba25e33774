"""Exports columns on a GPU or the CPU through Arrow's C device data interface, without a copy.

A column is exported as two capsules: its schema and its array. The array names its device, and the event that the consumer waits
for. The structures are those of the published interface. This module keeps the memory of an exported structure, by number, until
the consumer calls its release function. A capsule that is never consumed releases its structure when it is destroyed.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Sequence
from ctypes import POINTER, Structure, byref, c_char_p, c_int32, c_int64, c_void_p
from dataclasses import dataclass, field
from typing import Any

from headrace.core.device import Device

_DEVICE_TYPES = {"cpu": 1, "cuda": 2}
_NULLABLE = 2


class _Schema(Structure):
    _fields_ = (
        ("format", c_char_p),
        ("name", c_char_p),
        ("metadata", c_char_p),
        ("flags", c_int64),
        ("n_children", c_int64),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    )


class _Array(Structure):
    _fields_ = (
        ("length", c_int64),
        ("null_count", c_int64),
        ("offset", c_int64),
        ("n_buffers", c_int64),
        ("n_children", c_int64),
        ("buffers", c_void_p),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    )


class _DeviceArray(Structure):
    _fields_ = (
        ("array", _Array),
        ("device_id", c_int64),
        ("device_type", c_int32),
        ("sync_event", c_void_p),
        ("reserved", c_int64 * 3),
    )


@dataclass(frozen=True, slots=True)
class DeviceColumn:
    """A column to be exported."""

    format: str  # arrow's format string of its type: `"l"` is int64
    length: int
    null_count: int  # number of rows, and of null rows
    buffers: Sequence[int]  # addresses of the buffers of its type, validity first; 0 for an absent buffer
    device: Device  # device of the buffers
    owner: Any  # object that owns the memory
    event: Any = None  # CUDA event that is complete when the buffers are filled; None if they are filled already
    name: str = ""  # name of the column within its parent
    offset: int = 0  # number of rows to skip at the beginning
    children: Sequence[DeviceColumn] = field(default=())  # columns of a struct
    dictionary: DeviceColumn | None = None  # the dictionary's values, if the column has codes


def device_capsules(column: DeviceColumn) -> tuple[object, object]:
    """Return the capsules ``"arrow_schema"`` and ``"arrow_device_array"`` for ``__arrow_c_device_array__``."""
    kind = _DEVICE_TYPES[column.device.kind]
    event = None if column.event is None else c_void_p(int(column.event.handle))  # the interface takes a pointer to the handle
    out = _DeviceArray(device_id=column.device.index if kind != 1 else -1, device_type=kind)
    out.sync_event = None if event is None else ctypes.addressof(event)
    _fill_array(out.array, column, event)
    return _capsule(_schema_of(column), "arrow_schema"), _capsule(out, "arrow_device_array")


def _schema_of(column: DeviceColumn) -> _Schema:
    texts = column.format.encode(), column.name.encode()
    schema = _Schema(format=texts[0], name=texts[1], flags=_NULLABLE, release=_address(_release_schema))
    _link(schema, texts, column, _schema_of)
    return schema


def _fill_array(array: _Array, column: DeviceColumn, owned: Any) -> None:
    addresses = (c_void_p * max(len(column.buffers), 1))(*column.buffers)
    array.length, array.null_count, array.offset = column.length, column.null_count, column.offset
    array.n_buffers, array.buffers = len(column.buffers), ctypes.addressof(addresses)
    array.release = _address(_release_array)
    _link(array, (column.owner, column.event, addresses, owned), column, _array_of)


def _array_of(column: DeviceColumn) -> _Array:
    array = _Array()
    _fill_array(array, column, None)
    return array


def _link(structure: Any, things: Any, column: DeviceColumn, make: Any) -> None:
    """Add a structure's children and dictionary, and keep everything that it points to."""
    children = [make(child) for child in column.children]
    pointers = (c_void_p * max(len(children), 1))(*map(ctypes.addressof, children))
    structure.n_children, structure.children = len(children), ctypes.addressof(pointers) if children else None
    if column.dictionary is not None:
        children.append(make(column.dictionary))
        structure.dictionary = ctypes.addressof(children[-1])
    structure.private_data = _keep(children, (things, pointers))


_exported: dict[int, tuple[list[Any], Any]] = {}
_numbers = itertools.count(1)


def _keep(children: list[Any], things: Any) -> int:
    number = next(_numbers)
    _exported[number] = children, things
    return number


def _let_go(structure: Any, release: Any) -> None:
    """Release the children that the consumer has not moved, and drop the kept memory."""
    for child in _exported.pop(structure.private_data, ([], None))[0]:
        if child.release:
            release(byref(child))
    structure.release = None


def _let_go_of_schema(schema: Any) -> None:
    _let_go(schema.contents, _release_schema)


def _let_go_of_array(array: Any) -> None:
    _let_go(array.contents, _release_array)


def _to_the_end(callback: Any) -> Any:
    """Make a callback immortal: at interpreter exit, a consumer may release a structure after this module is gone."""
    ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))(callback)
    return callback


_release_schema = _to_the_end(ctypes.CFUNCTYPE(None, POINTER(_Schema))(_let_go_of_schema))
_release_array = _to_the_end(ctypes.CFUNCTYPE(None, POINTER(_Array))(_let_go_of_array))


def _address(function: Any) -> int:
    return ctypes.cast(function, c_void_p).value or 0


_SCHEMA_NAME, _ARRAY_NAME = b"arrow_schema", b"arrow_device_array"
_in_capsules: dict[int, tuple[Any, bytes]] = {}  # structures that capsules point to, keyed by address


def _let_go_of_capsule(capsule: int) -> None:
    for name in (_SCHEMA_NAME, _ARRAY_NAME):
        if _is_valid(capsule, name):
            structure, _ = _in_capsules.pop(_pointer_of(capsule, name))
            if name == _SCHEMA_NAME and structure.release:
                _release_schema(byref(structure))
            if name == _ARRAY_NAME and structure.array.release:
                _release_array(byref(structure.array))


_forget_capsule = _to_the_end(ctypes.CFUNCTYPE(None, c_void_p)(_let_go_of_capsule))


def _capsule(structure: Structure, name: str) -> object:
    encoded = _SCHEMA_NAME if name == "arrow_schema" else _ARRAY_NAME
    address = ctypes.addressof(structure)
    _in_capsules[address] = structure, encoded
    result: object = _new_capsule(address, encoded, _forget_capsule)
    return result


# Functions of our own: `ctypes.pythonapi.PyCapsule_New` is one object for all of the program, whose argument types others set.
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
