"""Arrays as callers have them, by literals; those on a GPU where there is one."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from headrace.arrays.arrays import Array, take
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.placement import empty_like, same_device
from headrace.core.device import Device
from headrace.core.errors import OptionError
from headrace.gpu.device.device import gpu

CUDA = Device("cuda", 0)


def test_a_numpy_array_is_taken_as_it_is():
    values = np.array([3, 1, 2], np.int16)
    taken = take(values)
    assert (taken.address, taken.length, taken.typestr, taken.width, taken.nbytes) == (values.ctypes.data, 3, "<i2", 2, 6)
    assert (str(taken.device), taken.library, taken.stream, taken.writable) == ("cpu", "numpy", None, True)
    assert taken.owner is values


def test_read_only_instants_and_slices():
    values = np.array(["2020-01-01", "2021-01-01"], "M8[us]")
    values.flags.writeable = False
    taken = take(values[1:])
    assert (taken.typestr, taken.width, taken.length, taken.writable) == ("<M8[us]", 8, 1, False)
    assert take(np.zeros(0)).length == 0
    assert take(np.zeros(9)[:1:3]).length == 1


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([1, 2], "keys must be an array (NumPy, CuPy, PyTorch, cuDF, or of DLPack's protocol), not list"),
        (np.zeros((2, 2)), "keys must have one dimension, not 2"),
        (np.float64(1), "keys must have one dimension, not 0"),
        (np.zeros(10)[::2], "keys has gaps between its items (a stride of 16 bytes); pass a contiguous copy"),
        (np.zeros(3)[::-1], "keys has gaps between its items (a stride of -8 bytes); pass a contiguous copy"),
        (np.array(["a"]), "keys has texts (items of type '<U1'); numbers, bools, instants and durations can be taken"),
        (np.array([None]), "keys has items of type '|O'; numbers, bools, instants and durations can be taken"),
        (np.zeros(2, ">i4"), "keys has items in big-endian order; convert them first"),
        (np.ma.array([1, 2], mask=[0, 1]), "keys has nulls; fill them or drop them first"),
        (np.zeros(2, "c16"), "keys has items of type '<c16'; numbers, bools, instants and durations can be taken"),
    ],
)
def test_what_cannot_be_taken_is_told(value, said):
    with pytest.raises(OptionError) as raised:
        take(value, "keys")
    assert str(raised.value) == said


def test_a_masked_array_without_nulls_is_an_array():
    assert take(np.ma.array([1, 2], mask=[0, 0])).length == take(np.ma.array([1, 2])).length == 2


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.zeros((2, 2)), "one dimension"),
        (np.ma.array([1, 2], mask=[0, 1]), "has nulls"),
        (np.zeros(2, ">i4"), "big-endian"),
        (np.array([None]), "numbers"),
    ],
)
def test_what_cannot_be_taken_does_not_go_to_a_gpu(values, said):
    with pytest.raises(OptionError, match=said):
        DeviceArray.from_host(values, None)


def test_a_masked_array_of_another_library_is_refused():
    class Masked:
        @property
        def __cuda_array_interface__(self):
            return {"shape": (1,), "typestr": "<i4", "data": (0, False), "version": 3, "mask": object()}

    with pytest.raises(OptionError, match="has nulls"):
        take(Masked())


def test_an_object_that_refuses_its_interface_is_an_option_error():
    class Refusing:
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("a mask is not supported")

    with pytest.raises(OptionError, match="array: a mask is not supported"):
        take(Refusing())


def test_dlpack_alone_is_enough():
    class Speaks:
        def __init__(self, values):
            self.values = values

        def __dlpack__(self, **options):
            return self.values.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

    values = np.arange(4, dtype=np.float32)
    taken = take(Speaks(values))
    assert (taken.address, taken.length, taken.typestr, taken.library) == (values.ctypes.data, 4, "<f4", "other")


def test_a_result_is_of_the_inputs_library():
    made = empty_like(take(np.zeros(3, np.uint8)), 5, "<i8")
    assert isinstance(made.owner, np.ndarray) and made.owner.shape == (5,) and made.owner.dtype == np.int64
    assert empty_like(take(np.zeros(3, np.uint8)), 2).typestr == "|u1"


def test_a_tensor_on_the_cpu():
    torch = pytest.importorskip("torch", reason="PyTorch is optional")
    tensor = torch.arange(6, dtype=torch.int32)
    taken = take(tensor)
    assert (taken.address, taken.length, taken.typestr, taken.library, str(taken.device)) == (
        tensor.data_ptr(),
        6,
        "<i4",
        "torch",
        "cpu",
    )
    assert empty_like(taken, 4, "<f8").owner.dtype is torch.float64
    for refused in (tensor[::2], tensor.reshape(2, 3), tensor.to(torch.bfloat16), torch.eye(2).to_sparse()):
        with pytest.raises(OptionError):
            take(refused)
    assert take(torch.ones(3, requires_grad=True)).typestr == "<f4"


def test_arrays_on_several_devices_are_not_mixed():
    here = take(np.zeros(1))
    there = Array(0, 1, "<f8", CUDA, "cupy", 1)
    assert same_device(here, here) == Device()
    with pytest.raises(OptionError, match="the arrays lie on cpu and cuda; move them to one device"):
        same_device(here, there)


@pytest.mark.gpu
def test_a_device_array_goes_to_numpy_and_back():
    values = np.arange(100_000, dtype=np.int64)
    array = DeviceArray.from_host(values, gpu())
    assert np.array_equal(array.to_numpy(), values) and len(array) == 100_000
    taken = take(array)
    assert (taken.library, taken.address, taken.stream, taken.typestr) == ("headrace", array.address, gpu().stream, "<i8")
    made = empty_like(taken, 3, "<u2").owner
    assert isinstance(made, DeviceArray) and made.to_numpy().dtype == np.uint16


class CupyArray:
    """An array with the attributes of CuPy's, on GPU 1; `step`: items from one to the next."""

    def __init__(self, dtype, shape, step=1):
        self.dtype, self.shape, self.ndim = np.dtype(dtype), shape, len(shape)
        self.size, self.itemsize = int(np.prod(shape)), self.dtype.itemsize
        self.strides = (self.itemsize * step,)
        self.data, self.device = SimpleNamespace(ptr=4096), SimpleNamespace(id=1)


@pytest.mark.parametrize(("current", "stream"), [(0, 1), (2, 2), (77, 77)])  # CuPy calls the default stream 0
def test_a_cupy_array_is_described_by_its_attributes(monkeypatch, current, stream):
    cuda = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=current))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(ndarray=CupyArray, cuda=cuda))
    array = CupyArray("i2", (5,))
    assert take(array) == Array(4096, 5, "<i2", Device("cuda", 1), "cupy", stream, True)
    assert take(array).owner is array
    assert take(CupyArray("i2", (1,), 2)).length == 1  # one item has no gaps
    for refused, message in [
        (CupyArray("i2", (5,), 2), "gaps between its items .a stride of 4 bytes"),
        (CupyArray("i2", (5, 2)), "one dimension, not 2"),
        (CupyArray("c8", (5,)), "items of type '<c8'"),
    ]:
        with pytest.raises(OptionError, match=message):
            take(refused)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", "f2", "f4", "f8", "?"])
def test_cupy_takes_and_is_taken(dtype):
    cupy = pytest.importorskip("cupy", reason="CuPy is optional")
    values = np.arange(1000).astype(dtype)
    array = DeviceArray.from_host(values, gpu())
    for shared in (cupy.asarray(array), cupy.from_dlpack(array)):
        assert shared.data.ptr == array.address and np.array_equal(shared.get(), values)
    own = cupy.asarray(values)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        taken = take(own)
        made = empty_like(taken, 7)
    assert (taken.address, taken.length, taken.typestr, taken.library) == (own.data.ptr, 1000, values.dtype.str, "cupy")
    assert (taken.stream, take(own).stream, taken.device) == (stream.ptr, 1, CUDA)
    assert isinstance(made.owner, cupy.ndarray) and made.owner.shape == (7,)
    for refused in (own[::2], own.reshape(10, 100)):
        with pytest.raises(OptionError):
            take(refused)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64", "float16", "float32", "float64", "bool"])
def test_torch_takes_and_is_taken(dtype):
    torch = pytest.importorskip("torch", reason="PyTorch is optional")
    values = np.arange(1000).astype(dtype)
    array = DeviceArray.from_host(values, gpu())
    shared = torch.from_dlpack(array)
    assert shared.data_ptr() == array.address and np.array_equal(shared.cpu().numpy(), values)
    own = torch.from_numpy(values).cuda()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        taken = take(own)
    assert (taken.address, taken.length, taken.typestr, taken.library) == (own.data_ptr(), 1000, values.dtype.str, "torch")
    assert (taken.stream, take(own).stream, taken.device) == (stream.cuda_stream, 1, CUDA)
    assert empty_like(taken, 5).owner.device == own.device


@pytest.mark.gpu
def test_jax_is_taken_through_dlpack():
    jax = pytest.importorskip("jax", reason="JAX is optional")
    try:
        own = jax.numpy.arange(10, dtype="int32") + 1
    except RuntimeError as error:
        pytest.skip(f"JAX finds no device: {error}")
    taken = take(own)
    assert (taken.length, taken.typestr) == (10, "<i4")


@pytest.mark.gpu
@pytest.mark.parametrize(("dtype", "arrow"), [("i8", "l"), ("f4", "f"), ("M8[us]", "tsu:"), ("m8[ns]", "tDn")])
def test_arrow_describes_a_device_array(dtype, arrow):
    from headrace.arrays.arrow_device import _DeviceArray, _pointer_of, _Schema

    array = DeviceArray.from_host(np.arange(5).astype(dtype), gpu())
    schema, exported = array.__arrow_c_device_array__()
    assert _Schema.from_address(_pointer_of(id(schema), b"arrow_schema")).format == arrow.encode()
    found = _DeviceArray.from_address(_pointer_of(id(exported), b"arrow_device_array"))
    assert (found.device_type, found.device_id, found.array.length, found.array.n_buffers) == (2, 0, 5, 2)
    buffers = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_uint64 * 2).from_address(found.array.buffers))
    assert buffers.tolist() == [0, array.address] and found.sync_event


@pytest.mark.gpu
def test_arrow_has_no_word_for_bytes_that_are_bools():
    with pytest.raises(TypeError, match="Arrow has no type"):
        DeviceArray.from_host(np.zeros(3, bool), gpu()).__arrow_c_device_array__()
