r"""Null texts with the escape, such as `\N` of COPY and OUTFILE: compared with a field before its escapes are removed."""

from __future__ import annotations

import csv
import random
from typing import Any

import pytest

import headrace
from headrace import Context
from headrace.structure.dialect import Dialect
from headrace.testing.compare import assert_same_table
from headrace.testing.reference import ReferenceOptions, read
from headrace.testing.values import Words
from tests.isas import EACH_ISA

FIELDS = [r"\N", r"\\N", r"N", r"\\\N", r"\N ", r"x\N", r"a\\", r"\,", "", "5", r"\5", "7", '"\\N"', '""', '"N"', " \\N", "é\\,"]
NULLS = [[r"\N"], [r"\N", ""], [r"\N", "N"], [r"\\N", r"\N ", "5"], [r"a\\"]]


def text_of(rng: random.Random, rows: int) -> bytes:
    """Columns of anything, of numbers, of nulls, and of dates."""
    columns = [FIELDS, [r"\N", "1", "-22", r"3\3"], [r"\N", ""], [r"\N", "2024-01-31"]]
    lines = [",".join(rng.choice(texts) for texts in columns) for _ in range(rows)]
    return "\n".join(["a,b,c,d", *lines, ""]).encode()


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("nulls", NULLS, ids=str)
@pytest.mark.parametrize("given", [{}, {"quote_char": None}, {"skip_initial_space": True}], ids=str)
def test_every_chunk_reads_as_the_reference(given: dict[str, Any], nulls: list[str], isa: str) -> None:
    rng = random.Random(repr((given, nulls)))
    for rows in (1, 40, 200):
        data, quoted_null = text_of(rng, rows), rng.random() < 0.5
        words = Words(null=tuple(text.encode() for text in nulls), quoted_null=quoted_null, escape=b"\\")
        expected = read(data, ReferenceOptions(dialect=Dialect(escape_char="\\", **given), header=True, words=words))
        for chunk_bytes in (1, 7, 64, 65, 4096):
            table = headrace.read_csv(
                data, header=True, escape_char="\\", null_values=nulls, quoted_null=quoted_null, chunk_bytes=chunk_bytes,
                context=Context(isa=isa, threads=2), **given,
            )  # fmt: skip
            assert_same_table(table, expected)


def test_fields_by_hand() -> None:
    data = b"1\t\\N\n\\N\tx\\\ty\n3\t\\\\N\n4\tN\n"
    expected = {"column_1": [1, None, 3, 4], "column_2": [None, "x\ty", "\\N", "N"]}
    options: dict[str, Any] = {"delimiter": "\t", "quote_char": None, "header": False, "escape": "\\"}
    assert headrace.read_csv(data, null_values=["\\N"], **options).to_pydict() == expected
    given = headrace.read_csv(data, null_values={"column_1": ["\\N"]}, dtypes={"column_1": "int8"}, **options)
    assert given.to_pydict() == {"column_1": [1, None, 3, 4], "column_2": ["N", "x\ty", "\\N", "N"]}


def test_words_of_auto_have_it_too() -> None:
    """As with other words, a column of text keeps it."""
    table = headrace.read_csv(b"a,b\n1,x\n\\N,\\N\n2,\\,\n", escape_char="\\", null_values="auto")
    assert table.to_pydict() == {"a": [1, None, 2], "b": ["x", "N", ","]}


def test_a_first_record_of_values_is_no_header() -> None:
    r"""A null `\N` is no name."""
    data = b"1,\\N,2.5\n2,x,\\N\n3,\\N,1.5\n"
    table = headrace.read_csv(data, escape_char="\\", null_values=["\\N"])
    assert table.to_pylist()[0] == {"column_1": 1, "column_2": None, "column_3": 2.5}


@pytest.mark.parametrize("batch_bytes", [64, 100, 4096])
def test_scans(batch_bytes: int) -> None:
    data = text_of(random.Random(batch_bytes), 300)
    options: dict[str, Any] = {"header": True, "escape_char": "\\", "null_values": ["\\N"], "dtypes": {"b": "int64"}}
    whole = headrace.read_csv(data, **options)
    batches = list(headrace.scan_csv(data, batch_bytes=batch_bytes, **options).batches())
    for name in whole.column_names:
        assert [value for batch in batches for value in batch[name].to_pylist()] == whole[name].to_pylist()


@pytest.mark.parametrize("separator", ["\t", ","])
def test_a_file_as_python_writes_it(separator: str) -> None:
    r"""Texts with all that is escaped, by Python's module `csv`, beside nulls as `\N`."""
    rng = random.Random(separator)
    texts = [
        None if rng.random() < 0.3 else "".join(rng.choices(["N", "\\", separator, "\n", "x", "é"], k=4)) for _ in range(500)
    ]

    class Lines(list[str]):
        write = list.append

    lines = Lines()
    writer = csv.writer(lines, delimiter=separator, quoting=csv.QUOTE_NONE, quotechar=None, escapechar="\\", lineterminator="\n")
    for number, text in enumerate(texts):
        writer.writerow([number, "\0" if text is None else text])
    data = "".join(lines).replace("\0", "\\N").encode()
    table = headrace.read_csv(
        data, sep=separator, header=False, quote_char=None, escape_char="\\", null_values=["\\N"], chunk_bytes=64
    )
    assert table.to_pydict() == {"column_1": list(range(500)), "column_2": texts}
