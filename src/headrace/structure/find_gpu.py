"""Where the records and fields of a text are, tile by tile, on a GPU.

Three forms read a text: by masks where there are no quotes, by masks with quotes, by an automaton's steps. Each but the last
says `Found.REDO` where it meets a byte that it cannot read; the kernels of the next one are launched behind it and do nothing
unless it did. So the form is chosen from the bytes, and nobody waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.core.arrays import Array, take
from headrace.core.crossings import Crossings
from headrace.core.device_memory import DeviceBuffer, device_pool
from headrace.core.gpu import Gpu, gpu
from headrace.core.kernels import Kernel, kernel
from headrace.core.scratch import zeroed
from headrace.core.staging import staging
from headrace.structure.dialect import Dialect
from headrace.structure.gpu_tables import ENTRY, TALLY, TOTALS, Found, Plain, plain_dialect, step_tables

_THREADS, _SCAN_THREADS = 128, 256
_SHAPE = {"HR_THREADS": _THREADS, "HR_ROWS": 16}
TILE_BYTES = _THREADS * 16 * 16


@dataclass(frozen=True, slots=True)
class TileStructure:
    """Where a text's tiles begin in its records, on a GPU, as work of `stream`.

    Parameters
    ----------
    entries
        One ENTRY for each tile, and one for the text's end.
    totals
        One TOTALS for each of `forms`; the first without `Found.REDO` holds.
    forms
        The ways to read the text that were launched: ``"bare"``, ``"quoted"``, ``"steps"``.
    tiles
        How many there are.
    skew
        How far the text's first byte is behind a boundary of 16: the first tile is as much shorter.
    stream
        Handle of the stream.
    """

    entries: DeviceBuffer
    totals: DeviceBuffer
    forms: tuple[str, ...]
    tiles: int
    skew: int
    stream: int

    def read(self, counted: Crossings | None = None) -> tuple[np.void, str]:
        """Wait for the totals; they, and the form that read the text."""
        totals: NDArray[np.void] = np.empty(len(self.forms), TOTALS)
        staging(self.totals.gpu).download(self.totals, totals.view("u1"), counted=counted or Crossings())
        answer = next(i for i, total in enumerate(totals) if not total["flags"] & Found.REDO)
        return totals[answer], self.forms[answer]


def find_tiles(text: Any, dialect: Dialect, *, card: Gpu | None = None) -> TileStructure | None:
    """Start to find the structure of a text on a GPU; nothing is waited for.

    Parameters
    ----------
    text
        An array of bytes on a GPU, or bytes of the host, which are copied to `card`.
    dialect
        How the text is written.
    card
        For bytes of the host; None for the first one.

    Returns
    -------
    TileStructure or None
        None where no form reads the dialect: quotes are lenient, or the automaton has more than 16 states.
    """
    forms = _forms(dialect)
    if forms is None:
        return None
    source = _on_gpu(text, card)
    search = _Search(gpu(source.device), source.address, source.nbytes, source.stream)
    for form, described in forms:
        search.launch(form, described)
    return search.found(tuple(form for form, _ in forms))


def _on_gpu(text: Any, card: Gpu | None) -> Array:
    if not isinstance(text, bytes | bytearray | memoryview):
        return take(text, "text")
    card = card or gpu(0)
    buffer = device_pool(card).take(max(len(text), 1))
    staging(card).upload(text, buffer, counted=Crossings())
    return Array(buffer.address, len(text), "|u1", buffer.device, "headrace", buffer.stream, True, buffer)


def _forms(dialect: Dialect) -> list[tuple[str, np.void]] | None:
    """The forms to launch, in order. The last one reads every text of the dialect."""
    bare, quoted = plain_dialect(dialect, quoted=False), plain_dialect(dialect, quoted=True)
    forms = [] if bare is None else [("bare", bare)]
    if bare is not None and not bare["flags"] & Plain.WATCHES:
        return forms
    if quoted is not None:
        return [*forms, ("quoted", quoted)]
    steps = step_tables(dialect)
    return None if steps is None else [*forms, ("steps", steps)]


class _Search:
    """Launches of one text. Every form has its own totals; the entries are the last one's that did something."""

    def __init__(self, card: Gpu, address: int, nbytes: int, stream: int | None) -> None:
        self._card, self._stream = card, stream
        self._skew = address % 16
        self._head = (address, nbytes)
        self._nbytes = nbytes
        self._tiles = -(-(nbytes + self._skew) // TILE_BYTES) if nbytes else 0
        self._scan_blocks = self._tiles // _SCAN_THREADS + 1
        self._entries = self._take((self._tiles + 1) * ENTRY.itemsize)
        self._totals = zeroed(card, 3 * TOTALS.itemsize, stream)
        self._tallies = self._take(max(2 * self._tiles, 1) * TALLY.itemsize)
        self._launched = 0

    def launch(self, form: str, described: np.void) -> None:
        """Start a form, behind the one before it."""
        totals = self._totals.address + self._launched * TOTALS.itemsize
        before = totals - TOTALS.itemsize if self._launched else 0
        self._launched += 1
        states = 0
        if form == "steps":
            states = self._by_steps(described, totals, before)
        elif self._tiles:
            shape = {"HR_QUOTED": int(form == "quoted"), "HR_UNROLL": 2, "HR_BLOCKS": 6, **_SHAPE}
            found = kernel("structure/find_plain.cu", "tally_plain", "PQ8sPPP", shape, self._card)
            self._start(found, self._tiles, _THREADS, (*self._head, described.tobytes(), self._tallies.address, totals, before))
        memory = self._scan_memory(form)
        sizes = (self._nbytes, TILE_BYTES, self._skew)
        args = (self._tallies.address, int(form == "quoted"), states, *sizes, self._entries.address, totals, before, memory)
        self._start(self._scan("scan_tiles", "PIPQIIPPPP"), self._scan_blocks, _SCAN_THREADS, args)

    def found(self, forms: tuple[str, ...]) -> TileStructure:
        """What there will be."""
        return TileStructure(self._entries, self._totals, forms, self._tiles, self._skew, self._entries.stream)

    def _by_steps(self, tables: np.void, totals: int, before: int) -> int:
        """Address of the tiles' states."""
        table = self._take(tables.nbytes)
        staging(self._card).upload(tables.tobytes(), table, counted=Crossings())
        self._maps = self._take(max(self._tiles, 1) * 8)
        self._chunks = self._take(max(self._tiles, 1) * _THREADS * tables["steps"].shape[1] // 2)
        self._states = self._take(self._tiles + 1)
        if not self._tiles:
            return self._states.address
        states = tables["steps"].shape[1]
        shape = {"HR_STATES": states, "HR_UNROLL": 1, "HR_BLOCKS": 1, **_SHAPE}
        maps = kernel("structure/find_steps.cu", "map_tiles", "PQPPPP", shape, self._card)
        tally = kernel("structure/find_steps.cu", "tally_steps", "PQPPPPPP", shape, self._card)
        head = (*self._head, table.address, self._chunks.address)
        self._start(maps, self._tiles, _THREADS, (*head, self._maps.address, before))
        args = (self._maps.address, self._tiles, self._states.address, before, self._scan_memory("maps"))
        self._start(self._scan("scan_maps", "PIPPP"), self._scan_blocks, _SCAN_THREADS, args)
        self._start(tally, self._tiles, _THREADS, (*head, self._states.address, self._tallies.address, totals, before))
        return self._states.address

    def _scan(self, entry: str, signature: str) -> Kernel:
        return kernel("structure/scan_tiles.cu", entry, signature, {"HR_THREADS": _SCAN_THREADS}, self._card)

    def _scan_memory(self, form: str) -> int:
        """Zeros for a scan: 64 bytes a block of what tiles have reached, 16 of maps, 8 of parities."""
        block = {"bare": 64, "quoted": 72, "steps": 64, "maps": 16}[form]
        self._memory = zeroed(self._card, (self._scan_blocks + 1) * block, self._stream)
        return self._memory.address

    def _start(self, found: Kernel, blocks: int, threads: int, args: tuple[Any, ...]) -> None:
        found.launch(blocks, threads, args, stream=self._stream)

    def _take(self, nbytes: int) -> DeviceBuffer:
        return device_pool(self._card).take(nbytes, self._stream)
