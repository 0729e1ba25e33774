"""Decides by simple rules whether the first record of a text is a header; the reference for `header="infer"`.

>>> holds_names([b"city", b"2024"], [[b"Rome", b"5"]], lambda text: "number" if text.isdigit() else "text")
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

COMPARED_RECORDS = 100
COMPARED_VALUES = 20
COMPARED_BYTES = 131072
_COMPARED_FIELDS = 20

Family = Callable[[bytes], str]  # maps a field's text to the family of values it belongs to: ``"text"``, or any other name


def holds_names(
    first: Sequence[bytes], below: Sequence[Sequence[bytes]], family: Family, nulls: Sequence[bytes] = (b"",)
) -> bool:
    """Return whether the first record is a header of the records after it.

    `first`, `below`: fields of the first record, and of the records compared with it.
    `family`: returns the family of a field that is not null.
    `nulls`: texts that mean null.
    """
    own = [family(text) if text else "" for text in first]
    if set(own) <= {"", "text"}:
        return "text" in own
    compared = below if "text" in own else below[:COMPARED_VALUES]
    others = [row for row in compared if list(row) != list(first)]
    if not others:
        return "text" in own
    columns = [[row[i] for row in others if len(row) > i and row[i] not in nulls] for i in range(len(first))]
    judged = {
        _judge(text, kind, column, family)
        for text, kind, column in zip(first, own, columns, strict=True)
        if kind and text not in nulls
    }
    if "name" in judged:
        return True
    values = [text for text, kind in zip(first, own, strict=True) if kind not in ("", "text")]
    if "value" in judged and ("again" in judged or len(set(values)) < len(values)):
        return False
    labelled = first[0] == b"" and all(row and row[0] != b"" for row in others)
    return labelled or "either" in judged or "again" in judged


def _without_numbers(text: bytes) -> list[object]:
    """Replace each run of digits by one mark: p1 and p22 have the same pattern, p1 and p do not."""
    parts: list[object] = []
    for is_digit, run in groupby(text, key=lambda byte: chr(byte).isdigit() and byte < 128):
        parts += ["number"] if is_digit else list(run)
    return parts


def _judge(text: bytes, kind: str, column: Sequence[bytes], family: Family) -> str:
    """Return the evidence of one column about the first record: "name", "value", "again", "either" or nothing."""
    if kind == "text" and any(_without_numbers(text) == _without_numbers(one) for one in column):
        return "again"
    kinds = [family(one) for one in column[:_COMPARED_FIELDS]]
    if not kinds:
        return "either" if kind == "text" else ""
    most = max(dict.fromkeys(kinds), key=kinds.count)
    if kind != "text" and (kind == most or kinds.count(kind) * 2 >= len(kinds)):
        return "value"
    if most == "text" or (kind == "text" and kinds.count(most) * 2 < len(kinds)):
        return "either"
    return "name"
