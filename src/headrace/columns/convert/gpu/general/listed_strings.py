"""Launches the conversion of texts of many columns, all strings, by a list of their fields (listed_strings.cu)."""

from __future__ import annotations

from typing import Any

from headrace.columns.convert.gpu.column_group import ColumnGroup
from headrace.columns.convert.gpu.layouts import CONVERT_TASK
from headrace.columns.convert.gpu.string_offsets import scan_string_sizes
from headrace.columns.convert.gpu.tuning import LISTED_DEFINES
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape
from headrace.structure.gpu.find import TileStructure

LIST_FIELDS = Entry("columns/convert/gpu/general/convert.cu", "list_fields", f"PPPPPPQ{CONVERT_TASK.argument}")
_MEASURE = Entry("columns/convert/gpu/general/listed_strings.cu", "measure_listed", "PQPPPPPPQII")
CONVERT_LISTED = Entry(_MEASURE.file, "convert_listed", "PQPPPPPIII")
_GROUP_ROWS = 64  # `group_rows` of listed_strings.cu
_STRIP_FIELDS = 64  # `strip_fields` of listed_strings.cu
UNLISTED_BYTES = 1 << 40
"""Bytes of the first column if some fields could not be listed, at least: UNLISTED_BYTES of listed_strings.cu."""


class ListedStrings:
    """The list of a text's fields: 2 bytes for each, and 8 for each record and each column of 64 records.

    `rows`: the number of records, or an upper bound.
    """

    def __init__(self, launcher: Launcher, text: DeviceBuffer, group: ColumnGroup, table: DeviceBuffer, rows: Any) -> None:
        self._launcher, self._text, self._table, self._rows = launcher, text, table, rows
        self._width, self._strings, self._groups = group.width, group.strings, -(-rows // _GROUP_ROWS)
        sizes = 2 * rows * self._width, 8 * (rows + 1), 8 * self._groups * self._strings
        self._declined, self._ends, self._begins, self._sums = launcher.allocate_group([16], sizes)

    def find(self, structure: TileStructure, shape: Shape, task: bytes, totals: DeviceBuffer) -> None:
        """List the fields, measure the strings, and scan their sizes.

        `shape`, `task`: launch configuration and ConvertTask of ``list_fields``.
        `totals`: a word for each column: receives its bytes.
        """
        launch = self._launcher.launch
        head = [self._text, structure.entries, structure.totals]
        launch(LIST_FIELDS, shape, [*head, self._ends, self._begins, self._declined, self._rows, task])
        found = [structure.totals, self._declined, self._sums]
        threads = LISTED_DEFINES["HR_THREADS"]
        measured = Shape(LISTED_DEFINES, -(-self._groups * self._strings // threads), threads)
        launch(_MEASURE, measured, [*self._listed, *found, self._groups, self._width, self._strings])
        scan_string_sizes(self._launcher, self._sums, (self._groups, self._strings), totals)

    def convert(self, validated: DeviceBuffer) -> None:
        """Convert the strings; `validated`: the word of `headrace.columns.load.gpu.estimate.validate_estimate`."""
        parts = -(-self._strings // _STRIP_FIELDS)
        shape = Shape(LISTED_DEFINES, self._groups * parts, LISTED_DEFINES["HR_THREADS"])
        self._launcher.launch(CONVERT_LISTED, shape, [*self._listed, self._sums, validated, self._width, self._strings, parts])

    @property
    def _listed(self) -> list[Any]:
        return [self._text, self._text.nbytes, self._ends, self._begins, self._table]
