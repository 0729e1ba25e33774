"""Source of a kernel's program: one text with all its headers in it, and macros from a finite list.

A program is one ``.cu`` file of the package for one value of each of its macros. The headers that it includes are joined into
it, each once, with ``#line``, so that the compiler's messages name our files; there is no header that is not ours (any CUB
include costs seconds a program, and NVRTC's cache key would have to know the folder). Which values a macro may have is in
``variants.toml`` beside the file, so everything that can ever be compiled can be compiled beforehand.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from headrace.core.errors import HeadraceError, OptionError

PACKAGE = Path(__file__).parents[2]
LIST = "variants.toml"
"""In each folder that has kernels: what they are compiled to."""
ANY = "*"
"""A macro with this among its values takes any text."""

_INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|(\S+))')
_ONCE = re.compile(r"\s*#\s*pragma\s+once\b")
_CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|endif)\b")

Value = int | str


class KernelSourceError(HeadraceError, ValueError):
    """A kernel's source cannot be joined or compiled: a mistake in this package, or in an expression that a user gave."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A program: a file, and a value of each of its macros.

    Parameters
    ----------
    file
        Path below the package's folder, such as ``"primitives/copy.cu"``.
    defines
        Pairs of a macro and its value, by name.

    Examples
    --------
    >>> str(Variant.of("primitives/copy.cu", {"HR_WIDTH": 4}))
    'primitives/copy.cu HR_WIDTH=4'
    """

    file: str
    defines: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, file: str, defines: Mapping[str, Value]) -> Variant:
        """The variant, if `variants.toml` of the file's folder lists it.

        Raises
        ------
        OptionError
            It does not.
        """
        variant = cls(file, tuple(sorted(defines.items())))
        path = PACKAGE / file
        if not any(_covers(table, defines) for table in tables(path.parent).get(path.name, ())):
            raise OptionError(f"{Path(file).parent / LIST} lists no program {variant}")
        return variant

    def __str__(self) -> str:
        return " ".join([self.file, *(f"{name}={value}" for name, value in self.defines)])


@cache
def tables(folder: Path) -> dict[str, list[dict[str, list[Value]]]]:
    """Name of a file in the folder to its tables of macros and values; none where nothing is listed."""
    try:
        with (folder / LIST).open("rb") as listed:
            return tomllib.load(listed)
    except FileNotFoundError:
        return {}


def all_tables() -> Iterator[tuple[str, dict[str, list[Value]]]]:
    """Every file of the package that is listed, with each of its tables."""
    for folder in sorted(path.parent for path in PACKAGE.rglob(LIST)):
        for name, listed in tables(folder).items():
            file = (folder / name).relative_to(PACKAGE).as_posix()
            yield from ((file, table) for table in listed)


def all_variants() -> Iterator[Variant]:
    """Every program of the package, each once. A macro that takes any text is there with its other values."""
    found: dict[Variant, None] = {}
    for file, table in all_tables():
        names = sorted(table)
        for values in itertools.product(*([value for value in table[name] if value != ANY] for name in names)):
            found[Variant(file, tuple(zip(names, values, strict=True)))] = None
    yield from found


def _covers(table: Mapping[str, list[Value]], defines: Mapping[str, Value]) -> bool:
    return table.keys() == defines.keys() and all(value in table[name] or ANY in table[name] for name, value in defines.items())


def joined_source(variant: Variant, package: Path = PACKAGE) -> str:
    """The program as one text that includes nothing.

    Raises
    ------
    KernelSourceError
        A header is not of the package, or is included where a macro decides.
    """
    lines = [f"#define {name} {value}" for name, value in variant.defines]
    _join(variant.file, package, set(), lines)
    return "\n".join(lines) + "\n"


def _join(file: str, package: Path, seen: set[str], out: list[str]) -> None:
    """Append the lines of `file` to `out`, its headers in their places; `seen` are files that are in already."""
    seen.add(file)
    try:
        text = (package / file).read_text(encoding="utf-8")
    except OSError as error:
        raise KernelSourceError(f"no source {file!r} in the package: {error.strerror}") from None
    out.append(f'#line 1 "headrace/{file}"')
    depth = 0  # of #if; the first header inside one would be joined, and later includes of it left out wrongly
    for number, line in enumerate(text.splitlines(), 1):
        if (
            "#" not in line
        ):  # of most lines nothing else is asked: a process joins ten programs of 2,500 lines before its first read
            out.append(line)
            continue
        if found := _CONDITION.match(line):
            depth += -1 if found.group(1) == "endif" else 1
        found = _INCLUDE.match(line)
        if found is None:
            out.append("" if _ONCE.match(line) else line)
            continue
        header, foreign = found.groups()
        if header is None:
            raise KernelSourceError(f"{file}:{number}: {foreign} is no header of this package; a kernel includes no other")
        if depth:
            raise KernelSourceError(f"{file}:{number}: {header!r} is included inside #if; include it above")
        if header in seen:
            out.append("")
        else:
            _join(header, package, seen, out)
            out.append(f'#line {number + 1} "headrace/{file}"')
