"""Recognises a call on a GPU that differs from an earlier one in the memory of its arrays alone, and repeats its launches.

To check and describe the arguments of a call takes 20 to 40 us of the host; a sort of 65,536 keys takes 20 us of a GPU. Both
depend on the options, and on library, type, length, device and alignment of each array. A call with the same ones needs only
addresses, memory for its results, and launches. Sorts whose lengths are of one class share their launches (core/size_class.py).
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from headrace.arrays.arrays import TORCH_NAMES, Array, cupy_stream, torch_stream
from headrace.core.size_class import size_class

_ALIGNMENT = 256  # addresses that are a multiple of it are recognised: those of all allocators, and not those of most views
_MAX_CALLS = 256


class Replay(Protocol):
    """The launches of a call."""

    def replay(self, addresses: list[int], stream: int, count: int = 0) -> bool:
        """Make the launches for other addresses. Return False, having launched nothing, if the caller must make them.

        `count`: number of items, if the launches serve several; else 0.
        """


class RepeatedCall:
    """A call whose arrays are of CuPy or PyTorch, of one dimension on one GPU, without gaps, and aligned.

    `key`: its name and options, and the library, device, types and lengths of its arrays.
    `count`: number of items, if the key has its class alone; else 0.
    """

    __slots__ = ("_addresses", "_count", "_key", "_known", "_stream")

    def __init__(self, key: Hashable, addresses: list[int], stream: int, count: int = 0) -> None:
        self._key, self._addresses, self._stream, self._count = key, addresses, stream, count
        self._known = known_calls.get(key)

    @property
    def stream(self) -> int:
        """Handle of the stream that the library uses."""
        return self._stream

    @property
    def is_known(self) -> bool:
        """Return whether the launches of an equal call were kept."""
        return self._known is not None

    def replay(self, *results: int) -> bool:
        """Make the kept launches for the call's arrays, and for results at some addresses.

        Return False, having launched nothing, if the caller must make them: for results of an allocator with a smaller
        alignment, too.
        """
        for address in results:
            if address % _ALIGNMENT:
                return False
        return self._known is not None and self._known.replay([*self._addresses, *results], self._stream, self._count)

    def may_keep(self, arrays: Sequence[Array], results: Sequence[Array]) -> bool:
        """Return whether launches for these arrays serve equal calls; parameters as for `keep`."""
        is_copy = [array.address for array in arrays] != self._addresses
        return not is_copy and not any(result.address % _ALIGNMENT for result in results)

    def keep(self, launches: Replay | None, arrays: Sequence[Array], results: Sequence[Array]) -> None:
        """Keep the launches of this call, if it has some that depend on the key and on addresses alone.

        `arrays`: the call's arrays as they were launched for, some of which may be converted copies. `results`: arrays whose
        addresses follow theirs.
        """
        if launches is None or not self.may_keep(arrays, results):
            return
        if len(known_calls) >= _MAX_CALLS:
            known_calls.clear()
        known_calls[self._key] = launches


known_calls: dict[Hashable, Replay] = {}  # launches by `RepeatedCall` key


def repeated_call(options: Hashable, *values: Any, by_class: bool = False) -> RepeatedCall | None:
    """Return a call that may repeat an earlier one; None for arrays of the host, and for those that need checks or copies.

    `options`: name of the function, and its options: all that the launches depend on besides the arrays. `values`: the
    arrays. `by_class`: whether the launches serve all lengths of a class (core/size_class.py).
    """
    kind = type(values[0])
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and kind is getattr(torch, "Tensor", None):
        return _call_of_torch(torch, options, values, by_class)
    if cupy is not None and kind is getattr(cupy, "ndarray", None):
        return _call_of_cupy(cupy, options, values, by_class)
    return None


def _call_of_torch(torch: Any, options: Hashable, values: Sequence[Any], by_class: bool) -> RepeatedCall | None:
    kinds, lengths, addresses, device = [], [], [], -1
    for value in values:
        is_plain = type(value) is torch.Tensor and value.is_cuda and value.layout is torch.strided
        if not is_plain or value.dim() != 1 or not value.is_contiguous():
            return None
        address, index = value.data_ptr(), value.get_device()
        if address % _ALIGNMENT or address in addresses or device not in {-1, index}:
            return None
        device = index
        addresses.append(address)
        kinds.append(value.dtype)
        lengths.append(value.numel())
    return _call((options, torch.Tensor, device, *kinds), lengths, addresses, torch_stream(torch, device) or 1, by_class)


def _call_of_cupy(cupy: Any, options: Hashable, values: Sequence[Any], by_class: bool) -> RepeatedCall | None:
    current, kinds, lengths, addresses = cupy.cuda.runtime.getDevice(), [], [], []
    for value in values:
        if type(value) is not cupy.ndarray or value.ndim != 1 or not value.flags.c_contiguous:
            return None
        address = value.data.ptr
        if address % _ALIGNMENT or address in addresses or value.device.id != current:
            return None
        addresses.append(address)
        kinds.append(value.dtype)
        lengths.append(value.size)
    return _call((options, cupy.ndarray, current, *kinds), lengths, addresses, cupy_stream(), by_class)


def _call(key: tuple[Hashable, ...], lengths: Sequence[int], addresses: list[int], stream: int, by_class: bool) -> RepeatedCall:
    """Return the call for a key without lengths: with the class of all lengths if they are alike, else with each."""
    count, alike = lengths[0], size_class(lengths[0]) if by_class else range(0)
    if not alike or any(length != count for length in lengths):
        return RepeatedCall((*key, *lengths), addresses, stream)
    return RepeatedCall((*key, alike), addresses, stream, count)


def empty_beside(value: Any, typestr: str | None = None, length: int | None = None) -> tuple[Any, tuple[int]]:
    """Return an uninitialised array of the library and device of an array of a `RepeatedCall`, and a tuple of its address.

    `typestr`, `length`: type of the items, in NumPy's notation, and their number; None for those of `value`.
    """
    torch = sys.modules.get("torch")
    if torch is not None and type(value) is torch.Tensor:
        length = value.numel() if length is None else length
        if typestr is None:
            result = value.new_empty(length)
        else:
            result = value.new_empty(length, dtype=getattr(torch, TORCH_NAMES[typestr]))
        return result, (result.data_ptr(),)
    result = sys.modules["cupy"].ndarray(value.size if length is None else length, typestr or value.dtype)
    return result, (result.data.ptr,)
