"""Tests which calls repeat an earlier one, and what their launches get."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from headrace.arrays import repeated
from headrace.arrays.arrays import plain_array, take
from headrace.arrays.repeated import empty_beside, repeated_call
from headrace.core.device import Device

STREAM = 77


class Tensor:
    """A tensor with the attributes of PyTorch's."""

    layout = "strided"

    def __init__(self, dtype="int32", length=5, address=4096, **changes):
        self.dtype, self._length, self._address = dtype, length, address
        self.is_cuda, self.dimensions, self.is_dense, self.index = True, 1, True, 0
        self.__dict__.update(changes)

    def dim(self):
        return self.dimensions

    def numel(self):
        return self._length

    def is_contiguous(self):
        return self.is_dense

    def data_ptr(self):
        return self._address

    def get_device(self):
        return self.index

    def new_empty(self, length, dtype=None):
        return Tensor(dtype or self.dtype, length, 1 << 20)


class CupyArray:
    """An array with the attributes of CuPy's."""

    def __init__(self, length=5, dtype="i4", address=4096, device=0, ndim=1, contiguous=True):
        self.size, self.dtype, self.ndim = length, np.dtype(dtype), ndim
        self.data, self.device = SimpleNamespace(ptr=address), SimpleNamespace(id=device)
        self.flags = SimpleNamespace(c_contiguous=contiguous)


class Launches:
    """Launches of a call; `accepts`: whether the driver takes them."""

    def __init__(self, *, accepts=True):
        self.accepts, self.made = accepts, []

    def replay(self, addresses, stream, count=0):
        self.made.append((addresses, stream, count) if count else (addresses, stream))
        return self.accepts


@pytest.fixture(autouse=True)
def libraries(monkeypatch):
    functions = SimpleNamespace(_cuda_getCurrentRawStream=lambda index: STREAM + index)
    torch = SimpleNamespace(Tensor=Tensor, strided="strided", _C=functions, int64="int64")
    cuda = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=0), runtime=SimpleNamespace(getDevice=lambda: 0))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(ndarray=CupyArray, cuda=cuda))
    monkeypatch.setattr(repeated, "known_calls", {})


def result(address):
    return SimpleNamespace(address=address)


@pytest.mark.parametrize(("kind", "stream"), [(Tensor, STREAM), (CupyArray, 1)])
def test_a_call_with_other_memory_repeats_the_launches(kind, stream):
    launches = Launches()
    first = repeated_call("sort", kind())
    assert not first.is_known and not first.replay(256)
    first.keep(launches, [result(4096)], [result(8192)])
    again = repeated_call("sort", kind(address=1 << 16))
    assert again.is_known and again.replay(1 << 17)
    assert launches.made == [([1 << 16, 1 << 17], stream)]
    launches.accepts = False
    assert not again.replay(1 << 17)


@pytest.mark.parametrize(
    ("options", "array"),
    [
        ("argsort", Tensor()),
        ("sort", Tensor("uint32")),
        ("sort", Tensor(length=6)),
        ("sort", Tensor(index=1)),
        ("sort", CupyArray()),
    ],
)
def test_options_library_type_length_and_device_make_another_call(options, array):
    repeated_call("sort", Tensor()).keep(Launches(), [result(4096)], [result(8192)])
    assert not repeated_call(options, array).is_known


@pytest.mark.parametrize(
    "array",
    [
        np.arange(3),
        [1, 2],
        Tensor(is_cuda=False),
        Tensor(layout="sparse"),
        Tensor(dimensions=2),
        Tensor(is_dense=False),
        Tensor(address=4096 + 16),
        CupyArray(device=1),
        CupyArray(ndim=2),
        CupyArray(contiguous=False),
        CupyArray(address=4096 + 8),
    ],
)
def test_arrays_that_need_checks_or_copies_have_no_such_call(array):
    assert repeated_call("sort", array) is None


def test_arrays_of_a_call_are_apart_and_of_one_library_and_device():
    assert repeated_call("pairs", Tensor(), Tensor(address=8192)) is not None
    for other in (Tensor(), CupyArray(address=8192), Tensor(address=8192, index=1), np.arange(5)):
        assert repeated_call("pairs", Tensor(), other) is None
    assert repeated_call("pairs", CupyArray(), CupyArray()) is None


def test_a_call_without_launches_or_with_an_odd_result_is_not_kept():
    call = repeated_call("sort", Tensor())
    call.keep(None, [result(4096)], [result(8192)])
    call.keep(Launches(), [result(4096)], [result(8192 + 8)])
    call.keep(Launches(), [result(1 << 21)], [result(8192)])  # launched for a converted copy
    assert repeated.known_calls == {}


def test_an_odd_result_does_not_get_the_launches_for_aligned_ones():
    launches = Launches()
    repeated_call("sort", Tensor()).keep(launches, [result(4096)], [result(8192)])
    again = repeated_call("sort", Tensor())
    assert again.is_known and not again.replay(8192 + 16) and not again.replay(8192, 16) and not launches.made
    assert again.replay(8192)


def test_kept_calls_are_bounded():
    for length in range(700):
        repeated_call("sort", Tensor(length=length)).keep(Launches(), [result(4096)], [result(8192)])
    assert 0 < len(repeated.known_calls) <= 256 and repeated_call("sort", Tensor(length=699)).is_known


@pytest.mark.parametrize("kind", [Tensor, CupyArray])
def test_lengths_of_a_class_repeat_the_launches_with_their_number_of_items(kind):
    def call(*lengths):
        return repeated_call(
            "sort", *[kind(length=length, address=4096 << at) for at, length in enumerate(lengths)], by_class=True
        )

    launches = Launches()
    for length, others, another in (
        (1001, (961, 1024), (960, 1025)),
        (3, (1, 16), (0, 17)),
        (1 << 25, (1 << 25,), ((1 << 25) - 1, (1 << 25) + 1)),
    ):
        launches.made.clear()
        call(length).keep(launches, [result(4096)], [result(8192)])
        for other in others:
            assert call(other).is_known and call(other).replay(8192)
        assert [made[2:] for made in launches.made] == [(other,) if length < 1 << 25 else () for other in others]
        assert not any(call(other).is_known for other in another)
    call(1001, 1001).keep(launches, [result(4096), result(8192)], [result(8192)])
    assert call(1000, 1000).is_known and not call(1000, 1001).is_known and not call(1001, 1000).is_known
    launches.made.clear()
    call(15 << 21).keep(launches, [result(4096)], [result(8192)])  # the last class; greater lengths have a call each
    assert call((15 << 21) - 1).is_known and not call((15 << 21) + 1).is_known


def test_results_have_the_library_of_their_array():
    made, (address,) = empty_beside(Tensor("int32", 5))
    assert (type(made), made.dtype, made.numel(), address) == (Tensor, "int32", 5, 1 << 20)
    made, _ = empty_beside(Tensor("int32", 5), "<i8", 9)
    assert (made.dtype, made.numel()) == ("int64", 9)
    made, (address,) = empty_beside(CupyArray(5, "f4"), "<i8")
    assert (type(made), made.dtype, made.size, address) == (CupyArray, np.dtype("i8"), 5, 4096)


def test_a_plain_array_is_described_by_few_calls():
    tensor, card = Tensor(index=1), Device("cuda", 1)
    found = plain_array(tensor, "<i4", card)
    assert (found.address, found.length, found.typestr, found.device, found.stream) == (4096, 5, "<i4", card, STREAM + 1)
    assert found.owner is tensor and found.library == "torch"
    others = [
        np.arange(3),
        Tensor(is_cuda=False),
        Tensor(layout="sparse"),
        Tensor(dimensions=2),
        Tensor(is_dense=False),
        CupyArray(),
    ]
    for other in (*others, Tensor("int64", index=1), Tensor(index=0)):
        assert plain_array(other, "<i4", card) is None
    assert plain_array(Tensor(), "<i4", Device()) is None


def test_a_plain_array_of_the_host():
    array = np.arange(6, dtype="i4")
    found = plain_array(array, "<i4", Device())
    assert (found.address, found.length, found.typestr, found.stream) == (array.ctypes.data, 6, "<i4", None)
    assert found == take(array)
    assert found.owner is array
    fixed = array.view()
    fixed.flags.writeable = False
    assert not plain_array(fixed, "<i4", Device()).writable
    for other in (array[::2], array.reshape(2, 3), array.view("u4"), array.astype(">i4"), np.ma.array(array, mask=array > 3)):
        assert plain_array(other, "<i4", Device()) is None
