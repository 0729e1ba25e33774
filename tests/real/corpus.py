"""Compares headrace, DuckDB and a third reader on DuckDB's own CSV tests: with the same options, do they agree on every cell?

``python tests/real/corpus.py FOLDER`` prints the table; ``--write`` puts it into docs/duckdb-corpus.md instead. The facts stated
for each file, and why readers differ, are in corpus.toml. Every record counts as data, the one with the names too, and every
field is text. So names are compared as well, and types are not.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from corpus_readers import Answer, Stated, ask, difference, third_reader

NOTES = tomllib.loads(Path(__file__).with_name("corpus.toml").read_text(encoding="utf-8"))
COMMITTED = Path(__file__).parents[1] / "data/duckdb-csv"
PAGE = Path(__file__).parents[2] / "docs/duckdb-corpus.md"
PACKAGES = {"DuckDB": "duckdb", "PyArrow": "pyarrow", "pandas": "pandas"}

PAGE_TEXT = """# DuckDB's CSV tests, file by file

Written by `python tests/real/corpus.py FOLDER --write`, and checked by tests/real/test_corpus_differential.py.

{files} files; the {count} below `{folder}` have the same bytes and are one line, so there are {lines} lines. Each file is read by
headrace, DuckDB and a third reader ({thirds} lines) with the same dialect (tests/real/corpus.toml). Every record counts,
the one with the names too. Each cell is compared as text or null. For pandas and csv, which know no null, it is the empty text.

Versions: {versions}.

| | lines |
| --- | ---: |
| all readers give the same rows and cells | {same} |
| headrace reads the file, a peer differs or refuses | {differs} |
| headrace refuses the file, a peer may or may not | {refused} |
| DuckDB answers as headrace does, refusals included | {duckdb} |
| the third reader answers as headrace does, refusals included | {third} |

Not in tests/data: {left_out}; and the other files below `{folder}`. With the folder's path in `HEADRACE_DUCKDB_CSV`
they are tested too. The peers' columns say how they differ from headrace.

| file | stated | headrace: rows | DuckDB | third reader | verdict | why |
| --- | --- | ---: | --- | --- | --- | --- |
{table}
"""


@dataclass(frozen=True)
class Case:
    """A file, the facts stated for it, its third reader, and why each peer differs, or why we refuse the file."""

    name: str
    path: Path
    form: Stated
    third: str
    columns: int
    why: Mapping[str, str]

    @property
    def stated(self) -> str:
        """The dialect where it is not the default."""
        default = asdict(Stated())
        return ", ".join(f"{name}={value!r}" for name, value in asdict(self.form).items() if value != default[name])


@dataclass(frozen=True)
class Outcome:
    """Our result for a file, and how the peers' answers differ from ours: empty if they do not."""

    case: Case
    ours: Answer
    differences: Mapping[str, str]

    @property
    def verdict(self) -> str:
        """In one word."""
        return "refused" if self.ours.rows is None else "differs" if any(self.differences.values()) else "same"

    @property
    def to_explain(self) -> set[str]:
        """Outcomes that need a reason: ``ours`` if we refuse the file, ``duckdb`` and ``third`` if they differ."""
        refused = {"ours"} if self.ours.rows is None else set()
        return refused | {who for who, what in self.differences.items() if what}


def cases(folder: Path) -> Iterator[Case]:
    """The files below the folder, in the order of their names."""
    kept = None
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "LICENSE"):
        name = path.relative_to(folder).as_posix()
        if name.startswith(NOTES["folded"]["folder"] + "/"):
            content = path.read_bytes()
            assert kept in {None, content}, f"{name} is not like the others"
            if kept is not None:
                continue
            kept = content
        yield _case(name, path)


def _case(name: str, path: Path) -> Case:
    notes = dict(NOTES["files"].get(name, {}))
    why, reader = notes.pop("why", {}), notes.pop("reader", None)
    columns = notes.pop("columns", 1)
    if "null_values" in notes:
        notes["null_values"] = tuple(notes["null_values"])
    if notes.get("quote_char") == "":
        notes["quote_char"] = None
    form = Stated(**notes)
    return Case(name, path, form, reader or third_reader(form), columns, why)


def compare(case: Case) -> Outcome:
    """Compare all three readers. DuckDB, PyArrow and pandas get the number of columns: ours, or as stated."""
    ours = ask("headrace", case.path, case.form)
    width = len(ours.rows[0]) if ours.rows else case.columns
    peers = {"duckdb": "DuckDB", "third": case.third}
    return Outcome(case, ours, {who: difference(ours, ask(name, case.path, case.form, width)) for who, name in peers.items()})


@dataclass(frozen=True)
class Line:
    """A line of the page's table."""

    name: str
    stated: str
    headrace: str
    duckdb: str
    third: str
    verdict: str
    why: str

    def __str__(self) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in astuple(self)) + " |"

    @staticmethod
    def parse(text: str) -> Line | None:
        """Parse the result of `str`; None for any other text."""
        if not text.startswith("| `"):
            return None
        cells = re.split(r"(?<!\\) \| ", text[2:-2])
        return Line(*(cell.replace("\\|", "|") for cell in cells))


def line(outcome: Outcome) -> Line:
    """The outcome in words."""
    case, ours = outcome.case, outcome.ours
    peers = {"duckdb": "DuckDB", "third": case.third}
    told = {who: outcome.differences[who] or "same" for who in peers}
    reasons: dict[str, list[str]] = {}
    for who, reason in case.why.items():
        reasons.setdefault(NOTES["reasons"][reason], []).append(peers.get(who, "headrace"))
    return Line(
        name=f"`{case.name}`",
        stated=f"`{case.stated}`" if case.stated else "",
        headrace=f"{len(ours.rows):,}" if ours.rows is not None else f"refuses: {ours.error}",
        duckdb=told["duckdb"],
        third=f"{case.third}: {told['third']}",
        verdict=outcome.verdict,
        why="; ".join(f"{', '.join(who)}: {reason}" for reason, who in reasons.items()),
    )


def page(lines: Sequence[Line], versions: str) -> str:
    """The whole page."""
    verdicts, folded = Counter(line.verdict for line in lines), NOTES["folded"]
    thirds = Counter(line.third.partition(":")[0] for line in lines)
    text = PAGE_TEXT.format(
        files=len(lines) + folded["count"] - 1,
        lines=len(lines),
        thirds=", ".join(f"{name} {count}" for name, count in thirds.most_common()),
        versions=versions,
        same=verdicts["same"],
        differs=verdicts["differs"],
        refused=verdicts["refused"],
        duckdb=sum(line.duckdb == "same" for line in lines),
        third=sum(line.third.endswith(": same") for line in lines),
        left_out="; ".join(f"`{name}` ({reason})" for name, reason in NOTES["left_out"].items()),
        table="\n".join(map(str, lines)),
        **folded,
    )
    return "\n\n".join(_wrapped(paragraph) for paragraph in text.split("\n\n"))


def _wrapped(paragraph: str) -> str:
    """Wrap prose at 100 columns; headings and tables have lines of their own."""
    if paragraph.startswith(("#", "|")):
        return paragraph
    return "\n".join(textwrap.wrap(" ".join(paragraph.split()), 100, break_long_words=False, break_on_hyphens=False))


@cache
def versions() -> str:
    """Return the versions of the peers that are installed."""
    return ", ".join(f"{name} {version(package)}" for name, package in PACKAGES.items())


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Compare readers on DuckDB's CSV tests.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true", help="write docs/duckdb-corpus.md")
    given = parser.parse_args()
    outcomes = [compare(case) for case in cases(given.folder)]
    text = page([line(outcome) for outcome in outcomes], versions())
    if given.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    unexplained = [outcome for outcome in outcomes if outcome.to_explain != set(outcome.case.why)]
    for outcome in unexplained:
        sys.stderr.write(
            f"{outcome.case.name}: to explain: {sorted(outcome.to_explain)}, explained: {sorted(outcome.case.why)}\n"
        )
    sys.exit(bool(unexplained))


if __name__ == "__main__":
    main()
