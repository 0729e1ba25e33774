"""Where a load on a GPU runs, how it cuts the text, and what it does not know."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

from headrace.columns.convert.gpu.fast.arguments import RowShape
from headrace.columns.convert.gpu.layouts import ConvertShape
from headrace.gpu.kernels.launcher import Launcher, Room
from headrace.structure.gpu.launches import FindShape


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GpuShape:
    """Tiles of both passes: the search's shape, threads of the conversion, and fields that it looks at together.

    `ahead`: the conversion is launched behind the search, before anything is counted, where there is room for what is expected.
    """

    find: FindShape = field(default_factory=FindShape)
    threads: int = 256
    window: int = 4096
    blocks: int = 4
    rows: RowShape = field(default_factory=RowShape)
    numbers_rows: RowShape = field(default_factory=lambda: RowShape(threads=128, records=2, blocks=8))
    quoted_rows: RowShape = field(default_factory=lambda: RowShape(quotes=True, threads=160, head=2048, blocks=7))
    ahead: bool = True

    def __post_init__(self) -> None:
        tiles = {self.rows.tile, self.numbers_rows.tile, self.quoted_rows.tile, self.find.tile}
        assert len(tiles) == 1  # all read the search's

    def of_rows(self, *, quoted: bool, strings: bool) -> RowShape:
        """Of the conversion by rows, of a text with quotes or strings. Without them records are short, and nothing waits for
        places of strings: then two of a thread hide each other's waits.
        """
        return self.quoted_rows if quoted else self.rows if strings else self.numbers_rows

    def convert(self, form: str) -> ConvertShape:
        """The conversion's, of a text that this form of the search reads."""
        forms = {"quotes": form != "bare", "steps": form == "steps"}
        return ConvertShape(threads=self.threads, tile=self.find.tile, window=self.window, blocks=self.blocks, **forms)


@cache
def convert_program(shape: GpuShape, form: str, writes: bool) -> tuple[dict[str, int], int, int]:
    """Macros, threads, and shared memory."""
    found = shape.convert(form)
    return found.defines(writes=writes), found.threads, found.shared_bytes


@cache
def by_steps(shape: GpuShape) -> GpuShape:
    """The same shape, with the dialect's automaton to search every text."""
    return replace(shape, find=replace(shape.find, only_steps=True))


USUAL_SHAPE = GpuShape()
"""What is made of a shape is kept by its identity, so whoever wants no other takes this one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where kernels run, the text there, the shape of their tiles, and what that is called."""

    launcher: Launcher
    text: Room
    shape: GpuShape = USUAL_SHAPE
    device: str = "cpu"
