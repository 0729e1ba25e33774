"""Joins the source of a kernel's program: one text with all its headers, and macros from a finite list.

A program is one ``.cu`` file of the package with one value of each of its macros. The headers that it includes are inserted, each
once, with ``#line`` directives, so the compiler's messages name the package's files. Only headers of the package are allowed: a
CUB include costs seconds a program, and the cache key would have to include its folder. A table beside the file (`LISTS`) has the
values of each macro, so every program can be compiled ahead of time.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from headrace.core.errors import HeadraceError, OptionError

PACKAGE = Path(__file__).parents[2]
LISTS = ("programs.py", "tuning.py")
"""Modules that may list the programs of a folder's kernels as ``PROGRAMS``: the first of them that the folder has."""
ANY = "*"  # a macro with this among its values takes any text
SUBSET = "&"
"""A macro with this among its values is a bit mask: beside the listed numbers, it takes any number.

A program serves every mask whose bits it has. The listed ones are compiled ahead of time. The others leave out code that a call
does not need, and are compiled at their first use, unless a listed one serves.
"""

_INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|(\S+))')
_ONCE = re.compile(r"\s*#\s*pragma\s+once\b")
_CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|endif)\b")

Value = int | str
Programs = Sequence[tuple[str, Mapping[str, Sequence[Value]]]]
"""Pairs of a file in a folder and the values of its macros; each combination of the values is a program."""


class KernelSourceError(HeadraceError, ValueError):
    """A kernel's source cannot be joined or compiled: a mistake in this package, or in an expression that a user gave."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A program: a file, and a value of each of its macros.

    >>> str(Variant.of("primitives/copy.cu", {"HR_WIDTH": 4}))
    'primitives/copy.cu HR_WIDTH=4'
    """

    file: str  # path below the package's folder, such as ``"primitives/copy.cu"``
    defines: tuple[tuple[str, Value], ...] = ()  # pairs of a macro and its value, by name

    @classmethod
    def of(cls, file: str, defines: Mapping[str, Value]) -> Variant:
        """Return the variant. Raise OptionError if the file's folder does not list it."""
        variant = cls(file, tuple(sorted(defines.items())))
        folder, _, name = file.rpartition("/")
        if not any(_covers(table, defines) for listed, table in programs_in(folder) if listed == name):
            raise OptionError(f"{folder} lists no program {variant}")
        return variant

    @property
    def bits(self) -> int:
        """Number of bits in the masks."""
        masks = masks_of(self.file)
        return sum(int(value).bit_count() for name, value in self.defines if name in masks)

    @property
    def servers(self) -> list[Variant]:
        """Programs compiled ahead of time that serve this one, those with the fewest bits first."""
        return sorted((listed for listed in listed_variants(self.file) if listed.serves(self)), key=lambda listed: listed.bits)

    def serves(self, other: Variant) -> bool:
        """Return whether this program has the kernels of another one, with at least the bits of its masks."""
        if self.file != other.file or len(self.defines) != len(other.defines):
            return False
        masks = masks_of(self.file)
        return all(
            name == known and (value == wanted or (name in masks and int(wanted) & ~int(value) == 0))
            for (name, value), (known, wanted) in zip(self.defines, other.defines, strict=True)
        )

    def __str__(self) -> str:
        return " ".join([self.file, *(f"{name}={value}" for name, value in self.defines)])


@cache
def programs_in(folder: str) -> Programs:
    """Return the programs of a folder of the package, such as ``"primitives"``; none if it has no module of `LISTS`."""
    for name in LISTS:
        if (PACKAGE / folder / name).is_file():
            listed: Programs = import_module(".".join((PACKAGE.name, *Path(folder).parts, Path(name).stem))).PROGRAMS
            return listed
    return ()


@cache
def masks_of(file: str) -> Mapping[str, Value]:
    """Return the macros of a file that are bit masks, with all bits of the listed numbers."""
    masks: dict[str, Value] = {}
    for table in _tables_of(file):
        for macro, values in table.items():
            for value in values if SUBSET in values else ():
                masks[macro] = int(masks.get(macro, 0)) | (0 if value == SUBSET else int(value))
    return masks


def whole_masks(file: str, defines: Mapping[str, Value]) -> dict[str, Value]:
    """Return macros with all bits in their masks."""
    masks = masks_of(file)
    return {name: masks.get(name, value) for name, value in defines.items()}


def _tables_of(file: str) -> list[Mapping[str, Sequence[Value]]]:
    folder, _, name = file.rpartition("/")
    return [table for listed, table in programs_in(folder) if listed == name]


def all_programs() -> Iterator[tuple[str, Mapping[str, Sequence[Value]]]]:
    """Yield each listed file of the package with one of its tables of macros and values."""
    for folder in sorted({path.parent.relative_to(PACKAGE).as_posix() for name in LISTS for path in PACKAGE.rglob(name)}):
        yield from ((f"{folder}/{name}", table) for name, table in programs_in(folder))


def all_variants() -> Iterator[Variant]:
    """Yield every program of the package once. A macro that takes any text appears with its other values."""
    for file in dict.fromkeys(file for file, _ in all_programs()):
        yield from listed_variants(file)


@cache
def listed_variants(file: str) -> Sequence[Variant]:
    """Return the programs of a file that are compiled ahead of time."""
    found: dict[Variant, None] = {}
    for table in _tables_of(file):
        names = sorted(table)
        for values in itertools.product(*([value for value in table[name] if value not in (ANY, SUBSET)] for name in names)):
            found[Variant(file, tuple(zip(names, values, strict=True)))] = None
    return tuple(found)


def include_path() -> str:
    """Return the folder of the package's CUDA headers, for the compiler's option ``-I``.

    The headers need C++20, and no header of CUDA. They may change with every version of this package.

    Examples
    --------
    >>> import pathlib
    >>> pathlib.Path(include_path(), "index/hash_map/gpu/hash_map_ref.cuh").exists()
    True
    """
    return str(PACKAGE)


def _covers(table: Mapping[str, Sequence[Value]], defines: Mapping[str, Value]) -> bool:
    return table.keys() == defines.keys() and all(
        value in table[name] or ANY in table[name] or SUBSET in table[name] for name, value in defines.items()
    )


def joined_source(variant: Variant, package: Path = PACKAGE) -> str:
    """Return the program as one text without includes.

    Raise KernelSourceError if a header is not part of the package, or is included conditionally.
    """
    lines = [f"#define {name} {value}" for name, value in variant.defines]
    return "\n".join([*lines, _body(variant.file, package)]) + "\n"


@cache
def _body(file: str, package: Path) -> str:
    """Return a file with its headers. A first read asks for up to ten programs of a few files, by several masks."""
    lines: list[str] = []
    _join(file, package, set(), lines)
    return "\n".join(lines)


def _join(file: str, package: Path, seen: set[str], out: list[str]) -> None:
    """Append the lines of `file` to `out`, with its headers inserted. `seen`: files that are inserted already."""
    seen.add(file)
    try:
        text = (package / file).read_text(encoding="utf-8")
    except OSError as error:
        raise KernelSourceError(f"no source {file!r} in the package: {error.strerror}") from None
    out.append(f'#line 1 "headrace/{file}"')
    depth = 0  # nesting of #if; an include inside one is an error, since later includes of its header would be left out
    for number, line in enumerate(text.splitlines(), 1):
        if "#" not in line:  # a fast path for most lines: a process joins ten programs of 2,500 lines before its first read
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
