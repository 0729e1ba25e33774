"""Launches the methods of Rabin and Karp on a GPU, in the order of one stream.

The first launches mark the positions of hits, and the host waits for their number. The last one writes the positions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np  # a dependency of cuda-core

from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape
from headrace.query.find.gpu.marks import DeviceText, Hits, mark_bytes, write_positions
from headrace.query.find.gpu.tuning import ROWS_OF_WORDS, FindTuning
from headrace.query.find.paper.methods import HYBRID, MATRIX, MethodPlan
from headrace.query.find.paper.programs import PREFIX_ITEMS, THREADS
from headrace.query.find.pattern.pattern import Pattern

_TASK, _RESULT = layout("FindTask"), layout("FindResult")
_PRINT = layout("Fingerprint")
_FILE, _PREFIXES = "query/find/paper/rabin_karp.cu", "query/find/paper/prefixes.cu"
_COUNT = Entry(_FILE, "count_windows", f"{_TASK.argument}{_PRINT.argument}PIP")
_MARK = Entry(_FILE, "mark_windows", f"{_TASK.argument}{_PRINT.argument}PIPPP")
_MULTIPLY = Entry(_PREFIXES, "multiply_tiles", f"{_TASK.argument}{_PRINT.argument}P")
_SCAN = Entry(_PREFIXES, "scan_products", "PQ")
_WRITE_PREFIXES = Entry(_PREFIXES, "write_prefixes", f"{_TASK.argument}{_PRINT.argument}PP")
_NO_HITS = _RESULT.packer().pack(0, 0, 0)
_MATRIX_BYTES = 16
_MAX_SHARED = 40 << 10  # bytes of shared memory for the text of a tile; longer windows are read from the text itself


@dataclass(frozen=True, slots=True)
class RabinKarpTuning:
    """Sizes of the kernels: threads of a block, and characters of a thread in a scan of prefixes."""

    threads: int = THREADS
    items: int = PREFIX_ITEMS

    @property
    def marks(self) -> FindTuning:
        """The sizes of tiles as the kernel that writes positions needs them."""
        return FindTuning(self.threads, ROWS_OF_WORDS)


class RabinKarpOnDevice:
    """Finds one pattern in one text of at least its length by a published method.

    Raises OptionError if the method runs on the CPU only.

    `pattern`: the pattern, which respects case.
    """

    def __init__(
        self, launcher: Launcher, text: DeviceText, pattern: Pattern, plan: MethodPlan, tuning: RabinKarpTuning | None = None
    ) -> None:
        plan.check_device()
        self._plan = plan
        self._launcher, self._text, self._tuning = launcher, text, tuning or RabinKarpTuning()
        self._bytes = launcher.put(pattern.pattern + bytes(-len(pattern) % 16))
        task = np.zeros(1, _TASK.dtype)
        task["text"], task["size"] = text.address, text.nbytes
        task["pattern"], task["length"] = self._bytes.address, len(pattern)
        self._task = task.tobytes()
        tile = self._tuning.marks.tile_marks
        self._tiles = -(-(text.nbytes - len(pattern) + 1) // tile)
        self._prefixes = self._multiplied() if plan.method.form == MATRIX else None
        stored = -(-(tile + plan.width - 1) // 4) * 4
        self._stored = stored if plan.method.form not in (MATRIX, HYBRID) and stored <= _MAX_SHARED else 0
        prefixes = _MATRIX_BYTES * (4 * self._tuning.threads + plan.width) if plan.method.form == HYBRID else 0
        defines = {"HR_FORM": plan.method.form, "HR_THREADS": self._tuning.threads}
        self._shape = Shape(defines, self._tiles, self._tuning.threads, self._stored or prefixes)

    def count(self) -> int:
        """Return the number of hits, which may overlap."""
        return self._found(_COUNT, ())

    def marks(self) -> Hits:
        """Find and mark all hits, which may overlap."""
        marks, counts, sums = self._launcher.allocate_group([], mark_bytes(self._tiles, self._tuning.marks))
        return Hits(marks, counts, sums, self._found(_MARK, (marks, counts)), 0)

    def write(self, hits: Hits, target: DeviceBuffer) -> None:
        """Write the positions of marked hits, ascending, as 64-bit numbers."""
        write_positions(self._launcher, [hits], [target], self._tuning.marks)

    def _found(self, entry: Entry, more: tuple[DeviceBuffer, ...]) -> int:
        result = self._launcher.put(_NO_HITS)
        args = self._task, self._plan.fields, self._prefixes, self._stored, result, *more
        self._launcher.launch(entry, self._shape, args)
        return int(self._launcher.fetch(result).view(_RESULT.dtype)[0]["count"])

    def _multiplied(self) -> DeviceBuffer:
        """Return the matrices of all prefixes of the text."""
        launcher, tuning = self._launcher, self._tuning
        tiles = -(-self._text.nbytes // (tuning.threads * tuning.items))
        prefixes = launcher.allocate((self._text.nbytes + 1) * _MATRIX_BYTES)
        products = launcher.allocate(tiles * _MATRIX_BYTES)
        defines = {"HR_THREADS": tuning.threads, "HR_ITEMS": tuning.items}
        shape = Shape(defines, tiles, tuning.threads)
        launcher.launch(_MULTIPLY, shape, (self._task, self._plan.fields, products))
        launcher.launch(_SCAN, Shape(defines, 1, tuning.threads), (products, tiles))
        launcher.launch(_WRITE_PREFIXES, shape, (self._task, self._plan.fields, products, prefixes))
        return prefixes
