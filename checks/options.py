"""The table of options agrees with the signature, the types and the documentation of `read_csv`.

docs/options.md has the table between two markers, and `CsvKeywords` has the types of the signature. ``python -m checks.options``
writes both.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from checks.tree import Finding

TABLES = {
    "files": "src/headrace/api/options/file_options.py",
    "text": "src/headrace/api/options/text_options.py",
    "columns": "src/headrace/api/options/column_options.py",
    "work": "src/headrace/api/options/work_options.py",
}
"""The file of each group of options."""
TYPES = "src/headrace/api/options/keywords.py"
READ = "src/headrace/api/read/read_csv.py"
PAGE = "docs/options.md"

_BLOCK = re.compile(r"(?<=<!-- options -->\n)(.*?)(?=<!-- end of options -->)", re.DOTALL)
_KEYWORDS = re.compile(
    r"(?<=    # types of read_csv, written by python -m checks.options\n)(.*?)(?=    # end of types\n)", re.DOTALL
)
_TITLES = {"files": "Files", "text": "Text", "columns": "Columns", "work": "Work"}
_NO_OPTIONS = {"source", "**aliases"}


class Row(NamedTuple):
    """A row of the table, as in its source."""

    line: int
    name: str
    default: str
    group: str
    help: str
    aliases: tuple[str, ...]
    flags: tuple[str, ...]


def check(root: Path) -> list[Finding]:
    rows = rows_of(root)
    if not rows:
        return []
    found = list(_names(rows))
    if (root / READ).is_file():
        found += _signature(rows, root)
    if not (root / PAGE).is_file() or _BLOCK.search((root / PAGE).read_text(encoding="utf-8")) is None:
        found.append(Finding(PAGE, 0, "has no table of options between its markers"))
    elif with_table((root / PAGE).read_text(encoding="utf-8"), rows) != (root / PAGE).read_text(encoding="utf-8"):
        found.append(Finding(PAGE, 0, "the table of options is out of date: run python -m checks.options"))
    return found


def rows_of(root: Path) -> list[Row]:
    """Return the rows of the tables of options."""
    return [
        _row(call, group)
        for group, table in TABLES.items()
        if (root / table).is_file()
        for call in ast.walk(ast.parse((root / table).read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Option"
    ]


def with_table(page: str, rows: list[Row]) -> str:
    """Return the page with the table of options as the rows have it."""
    return _BLOCK.sub(lambda _: _table(rows), page)


def _row(call: ast.Call, group: str) -> Row:
    values = {keyword.arg: keyword.value for keyword in call.keywords}
    flags = [
        ast.literal_eval(flag.args[0])
        for flag in ast.walk(values.get("flags", ast.Tuple([])))
        if isinstance(flag, ast.Call) and ast.unparse(flag.func) == "Flag"
    ]
    name = ast.literal_eval(call.args[0])
    words = [
        ast.literal_eval(word.args[0])
        for word in ast.walk(values.get("words", ast.Tuple([])))
        if isinstance(word, ast.Call) and ast.unparse(word.func) == "option"
    ]
    return Row(
        line=call.lineno,
        name=name,
        default=ast.unparse(values["default"]),
        group=group,
        help=ast.literal_eval(values["help"]),
        aliases=tuple(word for word in words if word != name),
        flags=tuple(flags),
    )


def _names(rows: list[Row]) -> Iterator[Finding]:
    """Findings for names, aliases and flags that occur twice."""
    seen: set[str] = set()
    for row in rows:
        for name in (row.name, *row.aliases, *row.flags):
            if name in seen:
                yield Finding(TABLES[row.group], row.line, f"{name} occurs twice")
            seen.add(name)


def _signature(rows: list[Row], root: Path) -> Iterator[Finding]:
    """Findings for options that `read_csv` has otherwise than the table."""
    function = _read_csv(root)
    pairs = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    parameters = {parameter.arg: (parameter, default) for parameter, default in pairs}
    types = _types(root)
    documented = [name for name in _documented(ast.get_docstring(function) or "") if name not in _NO_OPTIONS]
    passed = _passed(function)
    for row in rows:
        if row.name not in parameters:
            yield Finding(TABLES[row.group], row.line, f"read_csv has no parameter {row.name}")
            continue
        parameter, default = parameters[row.name]
        if default is None or ast.unparse(default) != row.default:
            shown = "none" if default is None else ast.unparse(default)
            yield Finding(READ, parameter.lineno, f"{row.name}: the default is {shown}, but {row.default} in {TABLES[row.group]}")
        if types.get(row.name) != (parameter.annotation and ast.unparse(parameter.annotation)):
            yield Finding(READ, parameter.lineno, f"{row.name}: the type is another one in {TYPES}: run python -m checks.options")
        if passed.get(row.name) != row.name:
            yield Finding(READ, parameter.lineno, f"{row.name}: read_csv does not pass it on as it is")
    for name in set(parameters) - {row.name for row in rows}:
        yield Finding(READ, parameters[name][0].lineno, f"{name}: has no row in the tables of options")
    if documented != list(parameters):
        wrong = sorted(set(documented) ^ set(parameters)) or ["their order"]
        yield Finding(READ, function.lineno, f"the docstring and the parameters differ in {', '.join(wrong)}")


def _read_csv(root: Path) -> ast.FunctionDef:
    tree = ast.parse((root / READ).read_text(encoding="utf-8"))
    return next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "read_csv")


def with_types(module: str, root: Path) -> str:
    """Return the module of types with those of the signature of `read_csv`."""
    source = (root / READ).read_text(encoding="utf-8")
    lines = [
        f"    {parameter.arg}: {ast.get_source_segment(source, parameter.annotation)}\n"
        for parameter in _read_csv(root).args.kwonlyargs
        if parameter.annotation is not None
    ]
    return _KEYWORDS.sub(lambda _: "".join(lines), module)


def _types(root: Path) -> Mapping[str, str]:
    tree = ast.parse((root / TYPES).read_text(encoding="utf-8")) if (root / TYPES).is_file() else ast.Module([], [])
    return {
        ast.unparse(node.target): ast.unparse(node.annotation)
        for owner in tree.body
        if isinstance(owner, ast.ClassDef) and owner.name == "CsvKeywords"
        for node in owner.body
        if isinstance(node, ast.AnnAssign)
    }


def _documented(docstring: str) -> list[str]:
    """Return the names that numpydoc's section of parameters explains, in order."""
    _, _, section = docstring.partition("Parameters\n----------\n")
    section = re.split(r"\n\n(?=\S+\n-+\n)", section)[0]
    return re.findall(r"^([\w*]+)$", section, re.MULTILINE)


def _passed(function: ast.FunctionDef) -> Mapping[str, str]:
    """Return the keywords of the call ``CsvKeywords(...)``, and their values."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and ast.unparse(node.func) == "CsvKeywords"]
    return {keyword.arg or "": ast.unparse(keyword.value) for call in calls for keyword in call.keywords}


def _table(rows: list[Row]) -> str:
    lines: list[str] = []
    for group, title in _TITLES.items():
        lines += [
            f"\n## {title}\n",
            "| option | default | meaning | command line | other names |",
            "| --- | --- | --- | --- | --- |",
        ]
        lines += [_line(row) for row in rows if row.group == group]
    return "\n".join([*lines, "", ""])


def _line(row: Row) -> str:
    flags, aliases = (", ".join(f"`{name}`" for name in names) for names in (row.flags, row.aliases))
    return f"| `{row.name}` | `{row.default}` | {row.help} | {flags} | {aliases} |"


def main() -> int:
    """Write the table into the page, and the types into their module."""
    root = Path(__file__).parents[1]
    page, types = root / PAGE, root / TYPES
    page.write_text(with_table(page.read_text(encoding="utf-8"), rows_of(root)), encoding="utf-8")
    types.write_text(with_types(types.read_text(encoding="utf-8"), root), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
