"""Law 7: inside a stage, a folder imports only from folders before it, and no folder has more than 20 files.

The order is `ORDER`; ``.`` stands for the files of the stage itself. Bindings may include every folder. A place that breaks the
order today is named in `EXCEPTIONS`. That list may only get shorter: an exception that is not needed is a finding, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from checks.import_order import imports_of
from checks.tree import NATIVE, Finding, files, name_of

ORDER: dict[str, tuple[str, ...]] = {
    "core": ("cpu", "layouts", "process", ".", "expressions"),
    "core/cpu": ("threads", "."),
    "primitives": (".", "cpu"),
    "gpu": ("device", "block", "containers", "memory", "transfer", "kernels"),
    "sources": ("compression", "encoding", "kinds", "."),
    "structure": (".", "cpu", "gpu"),
    "columns": (".", "rules", "plan", "buffers", "records", "convert", "dictionary", "infer", "faults", "finish", "load"),
    "columns/rules": ("common", "numbers", "dates", "."),
    "columns/convert": ("cpu", "gpu"),
    "columns/convert/gpu": (".", "fast", "general"),
    "export": ("arrow", "target", "text", "."),
    "arrange": ("bucket", "histogram", "gather", "filter", "multisplit", "partition_rows", "sort", "search"),
    "arrange/multisplit": ("cpu", "gpu", "paper", "."),
    "arrange/sort": (".", "cpu", "gpu"),
    "arrange/sort/gpu": ("common", "lsd", "msd", "single_launch", "heavy_hitters", "."),
    "arrange/sort/gpu/msd": (".", "paper"),
    "index": (".", "hash_map", "sorted_map"),
    "index/sorted_map": (".", "cpu", "gpu"),
    "index/hash_map": ("rules", "cpu", "gpu", "paper", "."),
    "index/hash_map/gpu": (".", "block_batch", "tables", "multimap"),
    "query": ("find", "match", "lines"),
    "query/find": ("pattern", "cpu", "gpu", "column", "paper", "."),
    "query/find/gpu": (".", "pattern_set"),
    "query/lines": ("automaton", "."),
    "query/match": ("automaton", "regex", "cpu", "gpu", "."),
    "store": ("dictionary", "files", "keys", "."),
    "store/dictionary": ("rules", "cpu", "gpu", "paper", "."),
    "api": ("options", ".", "load", "sniff", "read", "scan", "store"),
    "cli": ("common", "grep", "view", "report", "bench", "."),
}
"""Folders of a stage (or of a folder in it), lowest first. To add a folder: its name, at its place."""

EXCEPTIONS: frozenset[tuple[str, str]] = frozenset({})
"""Pairs of a file and an import that the order forbids, relative to src/headrace."""

MAX_FILES = 20
"""Files in one folder, without ``__init__.py``."""

CROWDED: dict[str, int] = {}
"""Folders that have more files today: their count may only fall."""


def check(root: Path) -> list[Finding]:
    package = root / "src" / "headrace"
    broken = dict(_broken(package))
    found = [
        Finding(name_of(package / importer, root), line, f"may not import {imported}: the order in checks/folders.py forbids it")
        for (importer, imported), line in broken.items()
        if (importer, imported) not in EXCEPTIONS
    ]
    found += [
        Finding("checks/folders.py", 0, f"{importer} does not import {imported}: take the exception out")
        for importer, imported in EXCEPTIONS - set(broken)
        if (package / importer).parent.exists()
    ]
    return found + _mutual(package, root) + _crowded(package, root)


def _broken(package: Path) -> Iterator[tuple[tuple[str, str], int]]:
    """Imports against the order, each with its line."""
    for importer, imported, line in _imports(package):
        if not _is_allowed(importer, imported):
            yield (str(importer), str(imported)), line


def _imports(package: Path) -> Iterator[tuple[PurePosixPath, PurePosixPath, int]]:
    """Imports of files of the package but bindings, each with its line."""
    for path in files(package, ".py", *NATIVE):
        importer = PurePosixPath(path.relative_to(package).as_posix())
        if importer.stem == "bindings":
            continue
        for line, module in imports_of(path):
            imported = _file_of(package, module, importer.suffix)
            if imported is not None:
                yield importer, imported, line


def _mutual(package: Path, root: Path) -> list[Finding]:
    """Folders that import from one of their subfolders and are imported by it."""
    pairs = {(importer.parent, imported.parent) for importer, imported, _ in _imports(package)}
    return [
        Finding(
            name_of(package / folder, root), 0, f"imports {inner.name}, which imports it: give both a place in checks/folders.py"
        )
        for folder, inner in sorted(pairs)
        if inner.parent == folder and (inner, folder) in pairs
    ]


def _file_of(package: Path, module: str, suffix: str) -> PurePosixPath | None:
    """The file that an import names; None if it is no file of the package."""
    name = module.replace(".", "/")
    if suffix != ".py":
        folder, _, ending = name.rpartition("/")
        return PurePosixPath(f"{folder}.{ending}")
    for candidate in (f"{name}.py", f"{name}/__init__.py"):
        if (package / candidate).is_file():
            return PurePosixPath(candidate)
    return None


def _is_allowed(importer: PurePosixPath, imported: PurePosixPath) -> bool:
    """Return whether every order that has both files has the imported one's folder first, or the same folder."""
    for folder, order in ORDER.items():
        places = [_place(path, folder, order) for path in (importer, imported)]
        if None not in places and places[1] > places[0]:  # type: ignore[operator]
            return False
    return True


def _place(path: PurePosixPath, folder: str, order: tuple[str, ...]) -> int | None:
    """Return the position of a file's folder in the order of `folder`; None if the file is elsewhere."""
    try:
        inside = path.relative_to(folder).parts
    except ValueError:
        return None
    name = inside[0] if len(inside) > 1 else "."
    return order.index(name) if name in order else None


def _crowded(package: Path, root: Path) -> list[Finding]:
    folders: dict[Path, int] = {}
    for path in files(package, ".py", ".toml", *NATIVE):
        if path.name != "__init__.py":
            folders[path.parent] = folders.get(path.parent, 0) + 1
    return [
        Finding(name_of(folder, root), 0, f"{count} files, {MAX_FILES} at most")
        for folder, count in folders.items()
        if count > CROWDED.get(folder.relative_to(package).as_posix(), MAX_FILES)
    ]
