"""Decodes text in another encoding to UTF-8 in GPU memory (decode.cu), and maps positions between text and source."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape
from headrace.sources.encoding.encoding import code_page

_SIZE = Entry("sources/encoding/decode.cu", "size_decoded", "PQPIPP")
_PUT = Entry("sources/encoding/decode.cu", "put_decoded", "PQPIPP")
_THREADS = 256
_THREAD_BYTES = 32
_STATE_BYTES = 16  # bytes of a tile's state (gpu/block/block_look_back.cuh)
_CODINGS = ("", "utf-16-le", "utf-16-be")


@dataclass(frozen=True, slots=True)
class DecodeShape:
    """Launch configuration: threads of a block."""

    threads: int = _THREADS

    @property
    def tile(self) -> int:
        """Bytes of the source in a tile."""
        return self.threads * _THREAD_BYTES


DECODE_SHAPE = DecodeShape()


@dataclass(frozen=True, slots=True)
class Encoded:
    """Bytes of a source in the memory that kernels read."""

    buffer: DeviceBuffer  # the memory
    source: _native.Source  # the whole source for native readers
    codec: str  # `"utf-16-le"`, `"utf-16-be"`, or the codec of a code page
    begin: int = 0  # offset in the source of the first byte of `buffer`

    @property
    def end(self) -> int:
        """Offset in the source of the end of `buffer`."""
        return self.begin + self.buffer.nbytes

    @property
    def coding(self) -> int:
        """Number of the encoding for the kernels (`Coding` in decode.cu)."""
        return _CODINGS.index(self.codec) if self.codec in _CODINGS else 0


class Decoded:
    """A text in UTF-8, and the map from its characters to the source.

    `begins`: offset of the text of each tile, and the end of the last.
    `tile`: bytes of the source in a tile.
    `head`: the first bytes of the text.
    """

    def __init__(self, text: DeviceBuffer, begins: NDArray[np.uint64], tile: int, encoded: Encoded, head: bytes) -> None:
        self.text, self.head = text, head
        self.source = encoded.source
        self._begins, self._tile, self._coding = begins, tile, encoded.coding
        self._first_byte, self._end = encoded.begin, encoded.end
        self.read: Callable[[int, int], bytes] = lambda begin, count: b""

    def origins(self, places: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the source offsets of the characters at `places` of the text; for the text's end, the end of the decoded bytes.

        Only the text of their tiles is read.
        """
        found: NDArray[np.uint64] = np.full(len(places), self._end, np.uint64)
        numbers: NDArray[np.intp] = np.searchsorted(self._begins, places, "right") - 1
        inside = places < self.text.nbytes
        for number in np.unique(numbers[inside]).tolist():
            begin, end = (int(place) for place in self._begins[number : number + 2])
            lengths = self._lengths(self.read(begin, end - begin))
            starts = np.cumsum(lengths) - lengths + self._first(number)
            own = inside & (numbers == number)
            found[own] = starts[(places[own] - np.uint64(begin)).astype(np.int64)]
        return found

    def place_of(self, origin: int) -> int:
        """Return the offset in the text of the first character that begins at byte `origin` of the source or after it."""
        if origin >= self._end:
            return self.text.nbytes
        if origin <= self._first_byte:
            return 0
        number = (origin - self._first_byte) // self._tile
        begin, end = int(self._begins[number]), int(self._begins[number + 1])
        lengths = self._lengths(self.read(begin, end - begin))
        starts = np.cumsum(lengths) - lengths + self._first(number)
        found = np.flatnonzero((lengths != 0) & (starts >= origin))
        return begin + int(found[0]) if len(found) else end

    def _first(self, tile: int) -> int:
        """Return the source offset of the first character of a tile."""
        at = self._first_byte + tile * self._tile
        if not self._coding or not tile:
            return at
        units = np.frombuffer(self.source.read(at - 2, 4), np.uint8)[1 if self._coding == 1 else 0 :: 2] & 0xFC
        return at + 2 if units.tolist() == [0xD8, 0xDC] else at

    def _lengths(self, text: bytes) -> NDArray[np.int64]:
        """Return, for each byte of the text, the source bytes of the character that begins there; 0 if none does."""
        found = np.frombuffer(text, np.uint8)
        begins = (found & 0xC0) != 0x80
        if not self._coding:
            return begins.astype(np.int64)
        return 2 * begins + 2 * ((found >= 0xF0) & (found != 0xFF)).astype(np.int64)


def decode_on_gpu(launcher: Launcher, encoded: Encoded, head_bytes: int, shape: DecodeShape = DECODE_SHAPE) -> Decoded:
    """Decode a text; the host waits once, for the text's size.

    Memory: the text, and 24 bytes a tile of the source.

    `head_bytes`: bytes of the text that the host decodes itself, about, so that it need not wait for the kernels.
    """
    coding, buffer = encoded.coding, encoded.buffer
    page = None if coding else launcher.put(np.frombuffer(_page(encoded.codec), np.uint8))
    tiles = -(-buffer.nbytes // shape.tile)
    grid = Shape(_defines(shape.threads), tiles, shape.threads)
    args = [buffer, buffer.nbytes, page, coding]
    states, offsets = launcher.allocate_group([(tiles + 1) * _STATE_BYTES], [(tiles + 1) * 8])
    raw = _raw_head(encoded, head_bytes)  # before the kernels, for which its copy would wait
    begins: NDArray[np.uint64] = np.zeros(1, np.uint64)
    if tiles:
        launcher.launch(_SIZE, grid, [*args, states, offsets])
    head = _decoded_head(encoded.codec, raw)
    if tiles:
        begins = launcher.fetch(offsets).view(np.uint64)
    text = launcher.allocate(int(begins[-1]))
    if tiles:
        launcher.launch(_PUT, grid, [*args, offsets, text])
    return Decoded(text, begins, shape.tile, encoded, head)


@cache
def _defines(threads: int) -> dict[str, int]:
    return {"HR_THREADS": threads}


def _raw_head(encoded: Encoded, size: int) -> bytes:
    """Return the bytes of the source that decode to about `size` bytes; none if it is a part that begins later."""
    if encoded.begin != 0:
        return b""
    return bytes(encoded.source.read(0, min(size * (2 if encoded.coding else 1), encoded.buffer.nbytes)))


def _decoded_head(codec: str, raw: bytes) -> bytes:
    """Return the text of the first bytes of a source, up to one that cannot be decoded."""
    decoder = codecs.getincrementaldecoder(codec)()
    try:
        return decoder.decode(raw).encode()
    except UnicodeDecodeError as error:
        return raw[: error.start].decode(codec).encode()


@lru_cache(16)
def _page(codec: str) -> bytes:
    """Return the code page in the layout of ``ByteTable`` of decode_rules.hpp."""
    characters = code_page(codec)
    assert characters is not None  # text in other codecs was decoded as a whole before
    page: NDArray[np.void] = np.zeros(1, layout("ByteTable").dtype)
    page["text"][0] = np.array(characters, "S4").view("<u4")
    page["length"][0] = [len(character) for character in characters]
    page["keeps_ascii"] = all(characters[byte] == bytes([byte]) for byte in range(128))
    return bytes(page.tobytes())
