"""Launches the conversion of texts of many columns, all strings, by a list of their fields (listed_strings.cu)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.columns.convert.gpu.column_group import ColumnGroup
from headrace.columns.convert.gpu.layouts import CONVERT_TASK
from headrace.columns.convert.gpu.tuning import LISTED_DEFINES
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape
from headrace.structure.gpu.find import TileStructure

LIST_FIELDS = Entry("columns/convert/gpu/general/convert.cu", "list_fields", f"PPPPPPQ{CONVERT_TASK.argument}")
MEASURE_LISTED = Entry("columns/convert/gpu/general/listed_strings.cu", "measure_listed", "PPPPPQII")
CONVERT_LISTED = Entry(MEASURE_LISTED.file, "convert_listed", "PPPPPPQII")
UNLISTED_BYTES = 1 << 40
"""Bytes of the first column if some fields could not be listed, at least."""


@dataclass(frozen=True, slots=True)
class ListedStrings:
    """The fields of a text, and the bytes of its strings."""

    ends: DeviceBuffer
    """The end of each field, counted from its record's begin: 2 bytes for each."""
    begins: DeviceBuffer
    """The first byte of each record."""
    sums: DeviceBuffer
    """Bytes for each group of records and column; replaced by their offsets once they are scanned."""
    groups: Any
    """Number of groups of records."""


def list_strings(
    launcher: Launcher,
    searched: tuple[DeviceBuffer, TileStructure],
    columns: tuple[ColumnGroup, DeviceBuffer],
    shape: Shape,
    task: bytes,
    rows: Any,
) -> ListedStrings:
    """List the fields of a text of up to `rows` records, and measure its strings."""
    (text, structure), (group, table) = searched, columns
    groups = -(-rows // LISTED_DEFINES["HR_ROWS"])
    declined = launcher.allocate(16, fill=0)
    sizes = 2 * rows * group.width, 8 * (rows + 1), 8 * groups * group.strings
    ends, begins, sums = launcher.allocate_group([], sizes)
    launcher.launch(LIST_FIELDS, shape, [text, structure.entries, structure.totals, ends, begins, declined, rows, task])
    launcher.launch(
        MEASURE_LISTED, _shape(groups, group), [ends, structure.totals, declined, table, sums, groups, group.width, group.strings]
    )
    return ListedStrings(ends, begins, sums, groups)


def convert_listed(
    launcher: Launcher,
    text: DeviceBuffer,
    listed: ListedStrings,
    columns: tuple[ColumnGroup, DeviceBuffer],
    validated: DeviceBuffer,
) -> None:
    """Convert listed strings."""
    group, table = columns
    args = [text, listed.ends, listed.begins, table, listed.sums, validated, text.nbytes, group.width, group.strings]
    launcher.launch(CONVERT_LISTED, _shape(listed.groups, group), args)


def _shape(groups: Any, group: ColumnGroup) -> Shape:
    threads = LISTED_DEFINES["HR_THREADS"]
    return Shape(LISTED_DEFINES, -(-groups * group.strings // threads), threads)
