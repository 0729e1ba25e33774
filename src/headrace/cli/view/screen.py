"""Lays out a table on a screen of characters, and moves about in it by keys. It knows no terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headrace.api.picture import printable, text_width
from headrace.cli.view.lazy_rows import LazyRows

_MAX_CELL = 40
_GAP = 2
_HEADER_LINES = 2
_HELP = "q quit  / search  n N  g row"
_FAR = 1 << 62


@dataclass(slots=True)
class Screen:
    """A window on a table."""

    rows: LazyRows
    types: Mapping[str, str]  # the rows, and the type of each column by name
    height: int = 24
    width: int = 80  # size of the screen in characters
    top: int = 0
    left: int = 0  # first row and first column that are shown
    search: str = ""  # text that `n` and `N` look for
    message: str = ""  # shown in the last line until the next key
    entry: str = ""  # the key `/` or `g` and the text typed after it; empty if nothing is being typed

    @property
    def page(self) -> int:
        """Number of rows on the screen."""
        return max(self.height - _HEADER_LINES - 1, 1)

    def press(self, key: str) -> bool:
        """Do what a key says; return False if it ends the program. Keys are characters, or names such as ``"down"``."""
        self.message = ""
        if self.entry:
            self._type(key)
        elif key == "q":
            return False
        elif key in ("/", "g"):
            self.entry = key
        elif key in ("n", "N"):
            self._find(backwards=key == "N")
        else:
            self._move(key)
        return True

    def _move(self, key: str) -> None:
        steps = {"down": 1, "up": -1, "pagedown": self.page, "pageup": -self.page, "home": -_FAR, "end": _FAR}
        steps |= {"j": 1, "k": -1, " ": self.page, "b": -self.page, "G": _FAR}
        if key in steps:
            self._go(self.top + steps[key])
        elif key in ("right", "l"):
            self.left = min(self.left + 1, max(len(self.rows.names) - 1, 0))
        elif key in ("left", "h"):
            self.left = max(self.left - 1, 0)

    def _go(self, row: int) -> None:
        """Show a row at the top, or the last page."""
        row = max(row, 0)
        while self.rows.count < row + self.page and self.rows.read_on():
            pass
        self.top = min(row, max(self.rows.count - self.page, 0))

    def _type(self, key: str) -> None:
        kind, text = self.entry[0], self.entry[1:]
        if key in ("\n", "\r"):
            self.entry = ""
            if kind == "/" and text:
                self.search = text
                self._find()
            elif kind == "g" and text.isdecimal():
                self._go(int(text) - 1)
            elif text:
                self.message = f"{text!r} is not the number of a row"
        elif key == "\x1b":
            self.entry = ""
        elif key in ("\x7f", "\b", "backspace"):
            self.entry = self.entry[:-1]
        elif len(key) == 1 and key.isprintable():
            self.entry += key

    def _find(self, *, backwards: bool = False) -> None:
        if not self.search:
            self.message = "nothing to search for; type / and a text"
            return
        # A new search looks at the first row shown, too.
        start = self.top + (-1 if backwards else 1) if self.message != "" or self._is_hit(self.top) else self.top
        found = self.rows.find(self.search, start, backwards=backwards) if start >= 0 else None
        if found is None:
            self.message = f"{self.search!r}: no {'earlier' if backwards else 'later'} row"
            return
        self.top = found

    def _is_hit(self, row: int) -> bool:
        found = self.rows.row(row)
        return found is not None and any(cell is not None and self.search.casefold() in cell.casefold() for cell in found)

    def lines(self) -> list[str]:
        """Return the lines of the screen: names, types, rows, and a line of state."""
        shown = []
        for number in range(self.top, self.top + self.page):
            row = self.rows.row(number)
            if row is None:
                break
            shown.append((number, row))
        names = self.rows.names
        number_width = len(str(self.top + self.page))
        grid = [["", *map(printable, names[self.left :])], ["", *(self.types.get(name, "string") for name in names[self.left :])]]
        grid += [[str(number + 1), *(_cell(cell) for cell in row[self.left :])] for number, row in shown]
        lines = ["" for _ in grid]
        used = 0
        for at in range(len(grid[0])):
            if used >= self.width:
                break
            width = number_width if at == 0 else min(max(text_width(line[at]) for line in grid), _MAX_CELL)
            lines = [line + _fitted(row[at], width) + " " * _GAP for line, row in zip(lines, grid, strict=True)]
            used += width + _GAP
        lines = [_cut(line, self.width).rstrip() for line in lines]
        lines += [""] * (self.height - 1 - len(lines))
        return [*lines[: self.height - 1], _cut(self._state(len(shown)), self.width - 1)]

    def _state(self, shown: int) -> str:
        if self.entry:
            return ("search: " if self.entry[0] == "/" else "row: ") + self.entry[1:]
        if self.message:
            return self.message
        total = f"{self.rows.count:_}" if self.rows.is_complete else f"{self.rows.count:_} or more"
        rejected = f", {self.rows.rejected:_} rejected" if self.rows.rejected else ""
        first = self.top + 1 if shown else 0
        columns = f"column {self.left + 1} of {len(self.rows.names):_}"
        return f"rows {first:_} to {self.top + shown:_} of {total}{rejected}, {columns}   {_HELP}"


def _cell(text: str | None) -> str:
    return "null" if text is None else printable(text[: 4 * _MAX_CELL])


def _cut(text: str, width: int) -> str:
    """Return the beginning of a text that has at most `width` cells."""
    if len(text) * 2 <= width or text_width(text) <= width:
        return text
    end = used = 0
    for end, character in enumerate(text):
        used += text_width(character)
        if used > width:
            return text[:end]
    return text[: end + 1]


def _fitted(text: str, width: int) -> str:
    if text_width(text) > width:
        text = _cut(text, width - 1) + "…"
    return text + " " * (width - text_width(text))
