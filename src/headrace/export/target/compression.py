"""Compresses output text block by block, on several threads."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from headrace.core.errors import MissingDependencyError
from headrace.core.options import choice

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

_GZIP_LEVEL = 6
_BATCH_BYTES = 4 << 20  # bytes of text in a member, enough that the cost of its header and its empty dictionary is negligible


@dataclass(frozen=True, slots=True)
class OutputCompression:
    """A compression format.

    In every format here, compressed files can be concatenated: the file of ``a`` followed by the file of ``b`` decompresses to
    ``ab``. So pieces are compressed independently, several at once.
    """

    name: str  # name of the format, a value of the option ``compression=``
    member: Callable[[bytes], bytes]  # compresses bytes to a complete compressed file; releases the GIL

    def compressed(self, blocks: Iterable[bytes], threads: int) -> Iterator[bytes]:
        """Yield compressed files of the blocks, in order; one even if there is no text."""
        from concurrent.futures import ThreadPoolExecutor  # slow to import, as are the compressors below

        with ThreadPoolExecutor(threads) as pool:
            waiting: deque[Future[bytes]] = deque()
            for piece in _gathered(blocks):
                waiting.append(self._begun(piece, pool))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            for future in waiting:
                yield future.result()

    def _begun(self, piece: bytes, pool: Executor) -> Future[bytes]:
        """Start to compress a piece on the pool. If the system has no thread left, the calling thread compresses it."""
        from concurrent.futures import Future

        try:
            return pool.submit(self.member, piece)
        except RuntimeError:
            done: Future[bytes] = Future()
            done.set_result(self.member(piece))
            return done


def _gathered(blocks: Iterable[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    size = count = 0
    for block in blocks:
        held.append(block)
        size += len(block)
        if size >= _BATCH_BYTES:
            yield b"".join(held)
            held, size, count = [], 0, count + 1
    if held or count == 0:
        yield b"".join(held)


def _gzip() -> Callable[[bytes], bytes]:
    compress = import_module("gzip").compress
    return lambda data: bytes(compress(data, _GZIP_LEVEL, mtime=0))


def _zstd() -> Callable[[bytes], bytes]:
    try:
        compress = import_module("compression.zstd").compress  # Python 3.14 and later
    except ImportError:
        try:
            compress = import_module("zstandard").compress
        except ImportError:
            raise MissingDependencyError.of("zstandard", "compression", "compression='zstd'") from None
    return lambda data: bytes(compress(data))


_MAKERS: dict[str, Callable[[], Callable[[bytes], bytes]]] = {
    "gzip": _gzip,
    "zstd": _zstd,
    "bz2": lambda: import_module("bz2").compress,
    "xz": lambda: import_module("lzma").compress,
}
COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}  # compression by suffix of a path


def compression_of(option: object, target: object) -> OutputCompression | None:
    """Return the format that the option ``compression=`` names; ``"infer"``: by the target's suffix, if the target is a path.

    Raise OptionError if the option names no format. Raise MissingDependencyError if the format's package is not installed.
    """
    if isinstance(option, str) and option == "infer":
        path = os.fspath(target) if isinstance(target, str | os.PathLike) else ""
        option = COMPRESSED.get(os.path.splitext(path)[1].lower())
    if option is None:
        return None
    name = choice("compression", option, ("infer", *_MAKERS))
    return OutputCompression(name, _MAKERS[name]())
