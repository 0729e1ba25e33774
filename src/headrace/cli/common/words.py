"""Formats the messages of commands: counts of records, faults, options as flags."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from headrace import Table
from headrace.api.report import Report
from headrace.core.errors import counted

_FAULTS_SHOWN = 5
_TEXT_SHOWN = 60


def shown(text: str) -> str:
    """Return the text in quotes, cut after 60 characters."""
    return repr(text if len(text) <= _TEXT_SHOWN else text[:_TEXT_SHOWN] + "...")


def in_flags(message: str, flags: Mapping[str, str]) -> str:
    """Return the message with the flag in place of each option that it names.

    A name that is also an English word is replaced only before "must" or "=".

    >>> in_flags("sep must be 1 to 8 bytes long; n_rows is no column 'n_rows'", {"sep": "--sep", "n_rows": "--n-rows"})
    "--sep must be 1 to 8 bytes long; --n-rows is no column 'n_rows'"
    >>> in_flags("with strip=True, pass union_by_name=True", {"strip": "--strip", "union_by_name": "--union-by-name"})
    'with --strip, pass --union-by-name'
    """
    for name, flag in flags.items():
        next_text = "" if "_" in name else "(?= must |=)"
        message = re.sub(rf"(?<![\w'-]){name}(?![\w'-]){next_text}(=True\b)?", flag, message)
    return message


def records(report: Report) -> str:
    """Return the counts of records, on one line."""
    parts = f"{report.rows:_} rows + {report.rejected:_} rejected + {report.skipped.total:_} skipped ({report.skipped})"
    return f"{report.records:_} = {parts}"


def print_table_faults(table: Table) -> None:
    """Print the faults of a table as `print_faults` does."""
    print_faults(table.report, list(table.rejects[:_FAULTS_SHOWN].iter_rows(named=True)))


def print_faults(
    report: Report, first: Sequence[dict[str, Any]], kept_in: str | None = None, *, command: str = "headrace load"
) -> None:
    """Print to standard error the number of faults, the first five, and how to get the others; nothing without faults.

    `first`: the first faults.
    `kept_in`: file that has all faults; None without one.
    `command`: command that writes such a file.
    """
    count = report.faults
    if not count:
        return
    lines = [f"headrace: {counted(count, 'fault')}, {counted(report.rejected, 'record')} rejected"]
    lines += [_fault(fault) for fault in first[:_FAULTS_SHOWN]]
    if kept_in:
        lines.append(f"  all of them: {kept_in!r}")
    elif count > _FAULTS_SHOWN:
        lines.append(f"  and {count - _FAULTS_SHOWN:_} more; {command} --rejects FILE keeps them all")
    print(*lines, sep="\n", file=sys.stderr)


def _fault(fault: dict[str, Any]) -> str:
    text = fault["text"] if fault["field"] is None else fault["field"]
    file = f"{fault['file']!r}, " if "file" in fault else ""
    where = f"  {file}record {fault['record']}, line {fault['line']}, byte {fault['byte']}"
    column = f", column {shown(fault['column'])}" if fault["column"] is not None else ""
    expected = f", expected {fault['expected']}" if fault["expected"] is not None else ""
    return f"{where}{column}: {fault['kind']}{expected}: {shown(text)}"
