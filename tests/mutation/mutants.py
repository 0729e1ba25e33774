"""Reads the list of planted errors (`mutants/*.toml`) and checks each row against the source."""

from __future__ import annotations

import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LISTS = Path(__file__).parent / "mutants"
PACKAGE = "src/headrace"
NATIVE = "native:"
"""Prefix of a near test that is a program of tests/native."""

_KEYS = {"id", "line", "choice", "token", "becomes", "near", "survives"}


class MutantError(ValueError):
    """A row of the list does not fit the source, or has an invalid value."""


@dataclass(frozen=True)
class Mutant:
    """One planted error.

    Parameters
    ----------
    name
        Unique in the list, such as ``"fast-int-eight-digits"``.
    file
        Path below the package.
    line
        A piece of the file that occurs exactly once in it.
    choice
        The expression or statement inside `line` that gets a mutated form.
    token, becomes
        Text in `choice`, where it occurs exactly once, and its replacement.
    near
        Tests that must find the error: arguments of pytest, or ``native:`` and a program of tests/native.
    survives
        Why no test can find it; empty for an error that tests must find.
    """

    name: str
    file: str
    line: str
    choice: str
    token: str
    becomes: str
    near: tuple[str, ...]
    survives: str = ""

    @property
    def number(self) -> int:
        """The value of HEADRACE_MUTANT that selects it: a hash, so that a new row changes no other row's code."""
        return zlib.crc32(self.name.encode()) & 0x7FFFFFFF

    @property
    def mutated(self) -> str:
        """The choice with the error in it."""
        return self.choice.replace(self.token, self.becomes)

    @property
    def group(self) -> str:
        """Its row in the summary: CUDA, C++ or Python."""
        suffix = Path(self.file).suffix
        return {".cu": "CUDA", ".cuh": "CUDA", ".py": "Python"}.get(suffix, "C++")

    def check(self, text: str) -> None:
        """Raise MutantError unless the row fits the text of its file."""
        for part, name, whole, where in (
            (self.line, "line", text, self.file),
            (self.choice, "choice", self.line, "its line"),
            (self.token, "token", self.choice, "its choice"),
        ):
            if whole.count(part) != 1 or not part:
                raise MutantError(f"{self.name}: {name} {part!r} occurs {whole.count(part)} times in {where}, not once")
        if self.mutated == self.choice:
            raise MutantError(f"{self.name}: the token is replaced by itself")
        if not self.near:
            raise MutantError(f"{self.name}: no near tests")

    def span(self, text: str) -> tuple[int, int]:
        """The choice's place in the text of the file."""
        begin = text.index(self.line) + self.line.index(self.choice)
        return begin, begin + len(self.choice)


def read_mutants(folder: Path = LISTS) -> list[Mutant]:
    """All rows, in the order of the lists.

    Raises
    ------
    MutantError
        A key or a group of tests is unknown, or a name occurs twice.
    """
    found: list[Mutant] = []
    for path in sorted(folder.glob("*.toml")):
        with path.open("rb") as listed:
            tables = tomllib.load(listed)
        for one in tables["file"]:
            found += _mutants_of(one, tables.get("near", {}))
    names = [one.name for one in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice or len({one.number for one in found}) < len(found):
        raise MutantError(f"these names, or their numbers, occur twice: {sorted(twice)}")
    return found


def _mutants_of(table: Mapping[str, Any], groups: Mapping[str, Sequence[str]]) -> Iterator[Mutant]:
    for row in table["mutants"]:
        if unknown := row.keys() - _KEYS:
            raise MutantError(f"{row.get('id')}: unknown keys {sorted(unknown)}")
        near = row.get("near", table.get("near", []))
        if missing := [name for name in near if name not in groups]:
            raise MutantError(f"{row['id']}: no group of near tests is named {missing}")
        tests = tuple(test for name in near for test in groups[name])
        choice = row.get("choice", row["line"])
        yield Mutant(row["id"], table["path"], row["line"], choice, row["token"], row["becomes"], tests, row.get("survives", ""))
