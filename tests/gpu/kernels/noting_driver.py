"""Defines a driver as native code calls it, which records its calls and answers as the test asks."""

from __future__ import annotations

import ctypes

from headrace import _native
from headrace.gpu.device.driver_calls import address_of

_WORD, _NUMBER = ctypes.c_uint64, ctypes.c_uint32
CAPTURE_UNSUPPORTED = 900
"""The driver's answer to a call that a stream under capture does not allow."""


class NotingDriver:
    """Launches, memory and small copies, the latter made at once in the host's memory.

    `sizes`: of the bytes of each argument, to be noted with the launch. `status`: the answer to every call; `answers`: to the
    next launches; `failing`: what of the others fails. `context`: the current one. `memory`: where what is taken lies.
    `attributes`: words of each, of launches that have some. `is_capturing`: every stream is captured into a graph.
    """

    def __init__(self, sizes: tuple[int, ...] = ()) -> None:
        self.sizes, self.status = sizes, 0
        self.context, self.memory, self.failing = 7, 4096, ""
        self.is_capturing = False
        self.answers: list[int] = []
        self.launched: list[tuple[int, tuple[int, ...], int, int]] = []
        self.arguments: list[list[bytes]] = []
        self.attributes: list[list[tuple[int, ...]]] = []
        self.called: list[tuple[object, ...]] = []
        self._functions = [
            ctypes.CFUNCTYPE(ctypes.c_int, _WORD, *[_NUMBER] * 7, *[_WORD] * 3)(self._launch),
            ctypes.CFUNCTYPE(ctypes.c_int, *[_WORD] * 4)(self._copy),
            ctypes.CFUNCTYPE(ctypes.c_int, *[_WORD] * 4)(self._copy),
            ctypes.CFUNCTYPE(ctypes.c_int, _WORD, _WORD)(lambda event, stream: self._note("record", event, stream)),
            ctypes.CFUNCTYPE(ctypes.c_int, _WORD)(lambda event: self._note("wait", event)),
            ctypes.CFUNCTYPE(ctypes.c_int, *[_WORD] * 4)(self._take),
            ctypes.CFUNCTYPE(ctypes.c_int, _WORD, _WORD)(lambda memory, stream: self._note("give back", memory, stream)),
            ctypes.CFUNCTYPE(ctypes.c_int, _WORD, ctypes.c_uint8, _WORD, _WORD)(
                lambda target, byte, nbytes, stream: self._note("fill", target, byte, nbytes, stream)
            ),
            ctypes.CFUNCTYPE(ctypes.c_int, _WORD)(self._current),
            ctypes.CFUNCTYPE(ctypes.c_int, _WORD)(self._make_current),
            ctypes.CFUNCTYPE(ctypes.c_int, *[_WORD] * 4)(self._launch_with),
            ctypes.CFUNCTYPE(ctypes.c_int, _WORD)(lambda event: self._note("query", event)),
            ctypes.CFUNCTYPE(ctypes.c_int, _WORD, _WORD)(self._find_capture),
            ctypes.CFUNCTYPE(ctypes.c_int, _WORD, _WORD)(self._find_stream_id),
        ]

    @property
    def calls(self) -> _native.CardCalls:
        """Same as `headrace.gpu.device.driver_calls.card_calls`."""
        return _native.CardCalls.make([address_of(function) for function in self._functions])

    def _note(self, *what: object) -> int:
        self.called.append(what)
        return 700 if what[0] == self.failing else self.status

    def _take(self, made: int, nbytes: int, pool: int, stream: int) -> int:
        _WORD.from_address(made).value = self.memory
        return self._note("take", nbytes, pool, stream)

    def _find_capture(self, stream: int, is_capturing: int) -> int:
        ctypes.c_int.from_address(is_capturing).value = self.is_capturing
        return self._note("is capturing", stream)

    def _find_stream_id(self, stream: int, number: int) -> int:
        _WORD.from_address(number).value = 100 + stream
        return CAPTURE_UNSUPPORTED if self.is_capturing else self._note("stream id", stream)

    def _current(self, context: int) -> int:
        _WORD.from_address(context).value = self.context
        return 0

    def _make_current(self, context: int) -> int:
        self.context = context
        return self._note("current", context)

    def _copy(self, target: int, source: int, nbytes: int, stream: int) -> int:
        if not self.status:
            ctypes.memmove(target, source, nbytes)
        return self._note("copy", target, source, nbytes, stream)

    def _launch_with(self, config: int, kernel: int, places: int, extra: int) -> int:
        *extents, shared = (_NUMBER * 7).from_address(config)
        stream, attributes, number = (_WORD * 3).from_address(config + 32)
        self.attributes.append([tuple((_NUMBER * 3).from_address(attributes + 72 * i)) for i in range(number & 0xFFFFFFFF)])
        return self._launch(kernel, *extents, shared, stream, places, extra)

    def _launch(self, kernel: int, *given: int) -> int:
        *extents, shared, stream, places, _ = given
        self.launched.append((kernel, tuple(extents), shared, stream))
        pointers = (_WORD * len(self.sizes)).from_address(places) if self.sizes else ()
        self.arguments.append([ctypes.string_at(place, size) for place, size in zip(pointers, self.sizes, strict=True)])
        return self.answers.pop(0) if self.answers else self.status
