"""Copies between host and GPU through pinned memory.

The GPU accesses only pinned memory directly. For other memory the driver copies in one thread, piece by piece. This module moves
pieces between the caller's memory and reusable pinned chunks with several threads. Each chunk crosses the bus while others are
filled or emptied. A chunk is free when its event is complete.

Every byte that crosses is counted (`headrace.core.transfers`).
"""

from __future__ import annotations

import ctypes
import queue
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeVar

from headrace import _native
from headrace.core.errors import MemoryLimitError, OptionError
from headrace.core.process.process_lock import process_lock
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import PER_THREAD_STREAM, Gpu, check_status, checked, driver
from headrace.gpu.device.driver_calls import card_calls
from headrace.gpu.device.event import Event
from headrace.gpu.memory.pool import PoolBuffer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Result = TypeVar("_Result")
Copier = Callable[[int, int, int, int], None]
"""Copies between GPU and pinned memory. Arguments: source, target, bytes, stream of the current GPU."""

_CHUNK_BYTES = 4 << 20
MAX_EXCHANGE_BYTES = _CHUNK_BYTES - 64  # upper limit of the bytes of `Staging.exchange`, whose parts begin at multiples of 16
_CHUNKS_PER_THREAD = 2
_MAX_THREADS = 8


class _Chunk:
    """Pinned memory, the event after its last copy, and whether that copy may be in flight; another event for `exchange`.

    An interrupt may come between any two steps, so that a thread loses a chunk it has taken. Then its memory goes back to `home`,
    the queue of free chunks.
    """

    def __init__(self, gpu: Gpu, nbytes: int, home: queue.SimpleQueue[_Chunk]) -> None:
        functions = driver()
        self.event, self.after_head = Event(gpu), Event(gpu)
        with gpu.current():
            status, address = functions.cuMemHostAlloc(nbytes, functions.CU_MEMHOSTALLOC_PORTABLE)
        if status == functions.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise MemoryLimitError(f"{nbytes:_} bytes of the host cannot be pinned for copies to and from {gpu.device}")
        checked((status,))
        self.address = int(address)
        self.under_way = False
        self._home = weakref.ref(home)

    def __del__(self) -> None:
        home = self._home() if hasattr(self, "_home") else None
        if home is not None:
            again = object.__new__(_Chunk)  # an object is finalised once
            vars(again).update(vars(self), under_way=True)
            home.put(again)


class Staging:
    """Pinned memory of a GPU, for copies of any size. `staging` returns the one of a GPU.

    `chunk_bytes`: size of a chunk; there are two for each thread.
    """

    def __init__(self, gpu: Gpu, *, threads: int = _MAX_THREADS, chunk_bytes: int = _CHUNK_BYTES) -> None:
        self.gpu = gpu
        self._chunk_bytes = chunk_bytes
        self._chunks: queue.SimpleQueue[_Chunk] = queue.SimpleQueue()
        self._untaken = threads * _CHUNKS_PER_THREAD  # pinning is slow, so a chunk is created when it is first needed
        self._lock = threading.Lock()
        self._workers = ThreadPoolExecutor(threads, "headrace-staging", initializer=gpu.make_current)

    def upload(self, source: Any, target: PoolBuffer, *, offset: int = 0, counted: Crossings) -> None:
        """Copy from the host, in the order of the buffer's stream. Return when `source` may change, before the copy is complete.

        Raise OptionError if the buffer is too small. Raise MemoryLimitError if no host memory can be pinned.

        `target`, `offset`: the buffer, and the first byte to write.
        """
        _check_inside(source, target, offset)
        self.upload_to(target.address + offset, target.stream, source, counted=counted)

    def upload_to(self, address: int, stream: int, source: Any, *, counted: Crossings) -> None:
        """Copy from the host to a GPU address, in the order of a stream."""
        view = memoryview(source).cast("B")
        self._run(_upload, self._pieces(view, address), stream)
        counted.count(to_gpu=view.nbytes)

    def download(self, source: PoolBuffer, target: Any, *, offset: int = 0, counted: Crossings) -> None:
        """Copy to the host, after the work of the buffer's stream. Return when the copy is complete.

        `source`, `offset`: the buffer, and the first byte to read.
        `target`: Writable contiguous bytes. Its size is the number of bytes copied.
        """
        _check_inside(target, source, offset)
        self.download_from(source.address + offset, source.stream, target, counted=counted)

    def download_from(self, address: int, stream: int | None, target: Any, *, counted: Crossings) -> None:
        """Copy from a GPU address, such as that of a caller's array, to the host, after the work of a stream.

        `stream`: handle of the stream; None for the GPU's own stream.
        """
        view = memoryview(target).cast("B")
        if view.readonly:
            raise OptionError("the target of a copy from the GPU is read-only")
        self._run(_download, self._pieces(view, address), self.gpu.stream if stream is None else stream)
        counted.count(to_host=view.nbytes)

    def put(
        self, address: int, stream: int, source: bytes | NDArray[np.uint8], *, counted: Crossings, by: Copier | None = None
    ) -> None:
        """Copy at most one chunk to an address of the current GPU, in the order of a stream.

        `by`: function that copies between chunk and GPU; None for the copy engine.
        """

        def copy(chunk: _Chunk) -> None:
            chunk.under_way = True
            if by is None:
                check_status(card_calls().send(source, chunk.address, address, stream, int(chunk.event.handle)))
            else:
                ctypes.memmove(chunk.address, source if isinstance(source, bytes) else source.ctypes.data, len(source))
                by(chunk.address, address, len(source), stream)
                chunk.event.record(stream, is_current=True)

        self._with_chunk(copy, stream)
        counted.count(to_gpu=len(source))

    def fetch(self, address: int, stream: int, nbytes: int, *, counted: Crossings, by: Copier | None = None) -> bytes:
        """Return a copy of the bytes at an address of the current GPU, made after the work of a stream.

        `by`: as in `put`.
        """
        if nbytes > self._chunk_bytes:
            target = bytearray(nbytes)
            self.download_from(address, stream, target, counted=counted)
            return bytes(target)

        def copy(chunk: _Chunk) -> bytes:
            chunk.under_way = True
            if by is None:
                check_status(card_calls().fetch(address, chunk.address, nbytes, stream, int(chunk.event.handle)))
            else:
                by(address, chunk.address, nbytes, stream)
                chunk.event.record(stream, is_current=True).wait()
            return _received(chunk, nbytes)

        found = self._with_chunk(copy, stream)
        counted.count(to_host=nbytes)
        return found

    def answer(self, launch: Callable[[int], None], stream: int, nbytes: int, *, counted: Crossings) -> bytes:
        """Return the bytes that a kernel writes to the host, at most a chunk, after the work of a stream.

        `launch`: launches the kernel on the current GPU; its argument is the address that the kernel writes to.
        `stream`, `counted`: as in `download_from`.
        """

        def run(chunk: _Chunk) -> bytes:
            chunk.under_way = True
            launch(chunk.address)
            counted.count(to_host=nbytes)  # while the kernel runs
            check_status(card_calls().wait_for(stream, int(chunk.event.handle)))
            return _received(chunk, nbytes)

        return self._with_chunk(run, stream)

    def exchange(
        self,
        launch: Callable[[int, tuple[int, int]], int],
        meanwhile: Callable[[bytes], bool],
        stream: int,
        sizes: tuple[int, int],
        *,
        ones: int = 0,
    ) -> bytes | None:
        """Return results that launched work copies to the host, or None. The caller counts the bytes.

        `launch`: Gets the address of a chunk of pinned memory, and two events. It launches work that copies a head and results to
        the chunk, and records an event after each of them. The results begin at the first multiple of 16 after the head. The work
        may also copy from other bytes of the chunk. Returns a status that is 0 for success.
        `meanwhile`: Gets the head before the host waits for the results. If it returns False, the host does not wait for them.
        `sizes`: Bytes of the head, 0 for none, and of the results. With those that the work copies to the GPU they are
        `MAX_EXCHANGE_BYTES` at most.
        `ones`: number of last bytes that are left out if all of their bits are set.
        """
        head, nbytes = sizes

        def run(chunk: _Chunk) -> bytes | None:
            chunk.under_way = True
            after_head, after_all = int(chunk.after_head.handle), int(chunk.event.handle)
            if launch(chunk.address, (after_head, after_all)):
                return None
            if head:
                check_status(card_calls().wait(after_head))
            copied = _native.results_at(chunk.address, head, 0)
            if not self._with_another_chunk(lambda: meanwhile(copied)):
                return None
            check_status(card_calls().wait(after_all))
            chunk.under_way = False
            return _native.results_at(chunk.address + -(-head // 16) * 16, nbytes, ones)

        return self._with_chunk(run, stream)

    def _pieces(self, view: memoryview, address: int) -> list[tuple[int, int, int]]:
        """Return the host address, device address and size of each piece."""
        size = view.nbytes
        if size == 0:
            return []
        host = _address_of(view)
        step = self._chunk_bytes
        return [(host + at, address + at, min(step, size - at)) for at in range(0, size, step)]

    def _run(self, copy: Any, pieces: list[tuple[int, int, int]], stream: int) -> None:
        with self.gpu.current():  # fails in a forked process, which would wait forever for the parent's threads
            if len(pieces) == 1 or stream == PER_THREAD_STREAM:
                for piece in pieces:
                    self._copy_piece(copy, piece, stream)
                return
        under_way: list[Future[None]] = []
        try:
            under_way.extend(self._workers.submit(self._copy_piece, copy, piece, stream) for piece in pieces)
            wait(under_way)
        finally:  # after an error or an interrupt too: no thread may access the caller's memory later
            for piece_done in under_way:
                piece_done.cancel()
            wait(under_way)
        for piece_done in under_way:
            piece_done.result()

    def _copy_piece(self, copy: Any, piece: tuple[int, int, int], stream: int) -> None:
        self._with_chunk(lambda chunk: copy(chunk, piece, stream), stream)

    def _with_chunk(self, use: Callable[[_Chunk], _Result], stream: int) -> _Result:
        """Return the result of `use`, which uses a chunk in the order of `stream`, and give the chunk back."""
        chunk = self.take_chunk()
        try:
            return use(chunk)
        except BaseException:  # an interrupt may come after a launch and before the event that marks the chunk as in use
            driver().cuStreamSynchronize(stream)
            raise
        finally:
            self._chunks.put(chunk)

    def _with_another_chunk(self, code: Callable[[], _Result]) -> _Result:
        """Return the result of code that runs while the limit of chunks is one higher.

        The thread has a chunk, and the code may take a second one. Otherwise threads with all chunks would wait for each other.
        """
        more = 0
        try:
            with self._lock:
                self._untaken += 1
                more = 1
            return code()
        finally:
            with self._lock:
                self._untaken -= more

    def take_chunk(self) -> _Chunk:
        """Return a chunk with no copy in flight. While the limit allows it, create a chunk instead of waiting for a copy."""
        try:
            chunk = self._chunks.get_nowait()
        except queue.Empty:
            result = self._made_chunk()
            if result is not None:
                return result
            chunk = self._chunks.get()
        if chunk.under_way and not chunk.event.is_done:
            result = self._made_chunk()
            if result is not None:
                self._chunks.put(chunk)
                return result
            chunk.event.wait()
        chunk.under_way = False
        return chunk

    def _made_chunk(self) -> _Chunk | None:
        """Return a new chunk, or None if the limit is reached."""
        make = False
        try:
            with self._lock:
                make = self._untaken > 0
                self._untaken -= make
            return _Chunk(self.gpu, self._chunk_bytes, self._chunks) if make else None
        except BaseException:
            with self._lock:
                self._untaken += make
            raise


def _upload(chunk: _Chunk, piece: tuple[int, int, int], stream: int) -> None:
    host, device, size = piece
    ctypes.memmove(chunk.address, host, size)
    chunk.under_way = True
    checked(driver().cuMemcpyHtoDAsync(device, chunk.address, size, stream))
    chunk.event.record(stream, is_current=True)


def _download(chunk: _Chunk, piece: tuple[int, int, int], stream: int) -> None:
    host, device, size = piece
    chunk.under_way = True
    checked(driver().cuMemcpyDtoHAsync(chunk.address, device, size, stream))
    chunk.event.record(stream, is_current=True).wait()
    chunk.under_way = False
    ctypes.memmove(host, chunk.address, size)


def _received(chunk: _Chunk, nbytes: int) -> bytes:
    """Return the first bytes of a chunk after the work that wrote them is complete."""
    chunk.under_way = False
    return _native.results_at(chunk.address, nbytes, 0)


def _check_inside(host: Any, buffer: PoolBuffer, offset: int) -> None:
    size = memoryview(host).nbytes
    if not 0 <= offset <= buffer.nbytes - size:
        raise OptionError(f"{size:_} bytes at {offset:_} are not inside a buffer of {buffer.nbytes:_}")


def _address_of(view: memoryview) -> int:
    """Return the address of contiguous bytes, which may be read-only."""
    if not view.readonly:
        return ctypes.addressof(ctypes.c_char.from_buffer(view))
    import numpy as np  # a dependency of cuda-core

    return int(np.frombuffer(view, np.uint8).ctypes.data)


_stagings: dict[int, Staging] = {}
_stagings_lock = process_lock()


def staging(gpu: Gpu) -> Staging:
    """Return the staging memory of a GPU."""
    found = _stagings.get(gpu.index)
    if found is None:
        with _stagings_lock:
            found = _stagings.get(gpu.index)
            if found is None:
                found = _stagings[gpu.index] = Staging(gpu)
    return found
