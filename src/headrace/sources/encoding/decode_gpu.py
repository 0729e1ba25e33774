"""Text in another encoding on a GPU, decoded to UTF-8 there: sources/encoding/decode.cu. And the way between places of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.gpu.kernels.launcher import Entry, Launcher, Room, Shape
from headrace.sources.encoding.encoding import code_page

_SIZE = Entry("sources/encoding/decode.cu", "size_decoded", "PQPIP")
_PUT = Entry("sources/encoding/decode.cu", "put_decoded", "PQPIPP")
_THREADS = 256
_OWN_BYTES = 32
_CODINGS = ("", "utf-16-le", "utf-16-be")
_PAGE = np.dtype([("text", "S4", 256), ("length", "u1", 256)])


@dataclass(frozen=True, slots=True)
class DecodeShape:
    """Threads of a block."""

    threads: int = _THREADS

    @property
    def tile(self) -> int:
        """Bytes of the source in a tile."""
        return self.threads * _OWN_BYTES


DECODE_SHAPE = DecodeShape()


@dataclass(frozen=True, slots=True)
class Encoded:
    """Bytes of a source where kernels run.

    Parameters
    ----------
    room
        Where they are.
    source
        All of the source on the host, or a view of it.
    codec
        ``"utf-16-le"``, ``"utf-16-be"``, or that of a code page.
    begin
        The byte of the source that the room begins with.
    """

    room: Room
    source: _native.Source
    codec: str
    begin: int = 0

    @property
    def end(self) -> int:
        """The byte of the source behind them."""
        return self.begin + self.room.nbytes

    @property
    def coding(self) -> int:
        """The encoding's number among the kernels'."""
        return _CODINGS.index(self.codec) if self.codec in _CODINGS else 0


class Decoded:
    """A text in UTF-8, and where its characters are in the source.

    Parameters
    ----------
    text
        The text, where it was decoded.
    begins
        Where the text of each tile begins, and where the last ends.
    tile
        Bytes of the source in a tile.
    encoded
        What was decoded.
    """

    def __init__(self, text: Room, begins: NDArray[np.uint64], tile: int, encoded: Encoded) -> None:
        self.text = text
        self.source = encoded.source
        self._begins, self._tile, self._coding = begins, tile, encoded.coding
        self._first_byte, self._end = encoded.begin, encoded.end
        self.read: Callable[[int, int], bytes] = lambda begin, count: b""

    def origins(self, places: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The bytes of the source at which characters of the text begin; the end of what was decoded for the text's.

        What is read of the text is their tiles.
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
        """The place of the first character that begins at a byte of the source or behind it."""
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
        """The byte of the source at which the first of a tile's characters begins."""
        at = self._first_byte + tile * self._tile
        if not self._coding or not tile:
            return at
        units = np.frombuffer(self.source.read(at - 2, 4), np.uint8)[1 if self._coding == 1 else 0 :: 2] & 0xFC
        return at + 2 if units.tolist() == [0xD8, 0xDC] else at

    def _lengths(self, text: bytes) -> NDArray[np.int64]:
        """Of each byte of the text, how many bytes of the source the character has that begins there."""
        found = np.frombuffer(text, np.uint8)
        begins = (found & 0xC0) != 0x80
        if not self._coding:
            return begins.astype(np.int64)
        return 2 * begins + 2 * ((found >= 0xF0) & (found != 0xFF)).astype(np.int64)


def decode_on_gpu(launcher: Launcher, encoded: Encoded, shape: DecodeShape = DECODE_SHAPE) -> Decoded:
    """Decode a text; the host waits once, for the sizes of its tiles.

    Memory: the text, and 8 bytes for each tile of the source.

    Parameters
    ----------
    launcher
        Where kernels run.
    encoded
        What is decoded.
    shape
        Of the kernels.
    """
    coding, room = encoded.coding, encoded.room
    page = None if coding else launcher.put(np.frombuffer(_page(encoded.codec), np.uint8))
    tiles = -(-room.nbytes // shape.tile)
    begins: NDArray[np.uint64] = np.zeros(tiles + 1, np.uint64)
    defines = {"HR_THREADS": shape.threads}
    grid = Shape(defines, tiles, shape.threads)
    head = [room, room.nbytes, page, coding]
    sizes = launcher.room(max(tiles, 1) * 8)
    if tiles:
        launcher.launch(_SIZE, grid, [*head, sizes])
        np.cumsum(launcher.fetch(sizes).view(np.uint64), out=begins[1:])
    text = launcher.room(int(begins[-1]))
    if tiles:
        launcher.launch(_PUT, grid, [*head, launcher.put(begins[:-1]), text])
    return Decoded(text, begins, shape.tile, encoded)


def _page(codec: str) -> bytes:
    """The code page as the kernels have it."""
    characters = code_page(codec)
    assert characters is not None  # the codecs that are decoded whole are decoded before
    page: NDArray[np.void] = np.zeros(1, _PAGE)
    page["text"][0], page["length"][0] = characters, [len(character) for character in characters]
    return bytes(page.tobytes())
