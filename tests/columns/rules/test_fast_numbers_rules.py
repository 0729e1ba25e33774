"""Limits of the fast forms of numbers, dates and times: each text beside one that the same form takes.

Every value is given in one column of a given type, with eight good rows around it. So loops over several rows also encounter it.
The expectations are written by hand; None is a fault.
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

from headrace import Context, _native, read_csv
from tests.columns.rules.fast_numbers_cases import GOOD, VALUES

pytestmark = pytest.mark.isas

ISAS = _native.isas()


MARKED: dict[str, Any] = {
    "1,234": 1234.0, "12,345": 12345.0, "123,456": 123456.0, "1234,567": None, "12345,678": None, "-123,456": -123456.0,
    "-1234,567": None, "1,234,567": 1234567.0, "1,23": None, "1,2345": None, ",123": None, "-,123": None, "1,234,56": None,
    "1,234.5": 1234.5, "1234.5": 1234.5, "1234,567.5": None, "1.234,567": None, "1.5.5": None, "1,,234": None, "123,4567": None,
    "12,34,567": None, "123,": None, "123,456.": 123456.0, "1,234,567,890,12": None, "999,999,999,999": 999999999999.0,
    "1,234,567.25": 1234567.25, "1,23.456": None,
}  # fmt: skip
"""Texts with a comma between groups of three digits; the second and third of groups are as strict as the first."""


def _same(found: object, expected: object) -> bool:
    if isinstance(found, float) and isinstance(expected, float):
        return struct.pack("d", found) == struct.pack("d", expected)
    return found == expected and type(found) is type(expected)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("kind", VALUES)
def test_values_at_the_limits_of_fast_forms(kind: str, quoted: bool, isa: str) -> None:
    good = GOOD.get(kind, "01:00:00" if kind.startswith("time32") else "1")
    texts = [text for value in VALUES[kind] for text in (*[good] * 8, value)]
    data = "".join(f'"{text}"|x\n' if quoted else f"{text}|x\n" for text in texts).encode()
    table = read_csv(data, sep="|", header=False, schema=[kind, "string"], on_error="null", context=Context(isa=isa))
    found = table["column_1"].to_pylist()
    for place, (text, expected) in enumerate(VALUES[kind].items()):
        value = found[9 * place + 8]
        assert _same(value, expected), (text, value, expected)
        assert found[9 * place] is not None
    assert len(table.rejects) == sum(expected is None for expected in VALUES[kind].values())


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("rows", [1, 8])
@pytest.mark.parametrize(("thousands", "decimal"), [(",", "."), (".", ","), ("_", ".")])
def test_groups_of_digits_are_strict(thousands: str, decimal: str, rows: int, isa: str) -> None:
    """Also the first group, which has at most three digits: "1234,567" is no number."""
    swap = str.maketrans({",": thousands, ".": decimal})
    for text, expected in MARKED.items():
        if thousands == "_" and "," not in text:
            continue
        data = (text.translate(swap) + "|x\n").encode() * rows
        options = {"sep": "|", "header": False, "thousands": thousands, "decimal": decimal, "context": Context(isa=isa)}
        given = read_csv(data, schema=["float64", "string"], on_error="null", **options)
        assert given["column_1"].to_pylist() == [expected] * rows, text
        inferred = read_csv(data, **options)
        is_text = str(inferred.schema["column_1"]) == "string"
        assert is_text == (expected is None), text
        if expected is not None and expected.is_integer() and "." not in text:
            as_integer = read_csv(data, schema=["int64", "string"], **options)
            assert as_integer["column_1"].to_pylist() == [int(expected)] * rows


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("thousands", [None, "_"])
@pytest.mark.parametrize("text", ["1.5", "12.5", ".5", "1.", "1.5,5", "1,5.5", "1234.5", "-1.5", "1.234,5"])
def test_a_point_is_no_part_of_a_number_with_another_decimal_mark(text: str, thousands: str | None, isa: str) -> None:
    data = f"{text}|x\n".encode() * 9
    options = {"sep": "|", "header": False, "thousands": thousands, "decimal": ",", "context": Context(isa=isa)}
    assert str(read_csv(data, **options).schema["column_1"]) == "string"
    given = read_csv(data, schema=["float64", "string"], on_error="null", **options)
    assert (given["column_1"].null_count, len(given.rejects)) == (9, 9)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize(
    ("text", "kind"),
    [("10", "int64"), ("0", "int64"), ("00", "string"), ("07", "string"), ("012345678", "string"), ("0.5", "float64"),
     ("00.5", "string"), ("-0.5", "float64"), ("-07", "string"), ("09.5", "string"), ("01", "string"), ("1e5", "float64")],
)  # fmt: skip
def test_numbers_with_leading_zeros_stay_text_behind_a_guess(text: str, kind: str, isa: str) -> None:
    """The sample makes the column a number. The first text that is none follows the sample."""
    first = b"1\n" if kind == "int64" or text in {"00", "07", "012345678", "-07", "01"} else b"1.5\n"
    data = first * 200_000 + text.encode() + b"\n" + first * 9
    table = read_csv(data, header=False, context=Context(isa=isa))
    assert str(table.schema["column_1"]) == kind


@pytest.mark.parametrize("isa", ISAS)
def test_what_lies_behind_a_field_is_no_digit_of_it(isa: str) -> None:
    """The fast forms read 16 bytes from a field's beginning on, whatever its length."""
    texts = [str(10**size // 9) for size in range(1, 19)]
    data = "".join(f"{text},99999999999999999999\n" for text in texts).encode()
    table = read_csv(data, header=False, schema=["int64", "string"], context=Context(isa=isa))
    assert table["column_1"].to_pylist() == [int(text) for text in texts]
    table = read_csv(data, header=False, schema=["float64", "string"], context=Context(isa=isa))
    assert table["column_1"].to_pylist() == [float(text) for text in texts]


@pytest.mark.parametrize("isa", ISAS)
def test_digits_after_a_field_are_no_exponent_of_it(isa: str) -> None:
    data = "".join(f"1e|{number}\n" for number in range(1000)).encode()
    table = read_csv(data, sep="|", header=False, schema=["float64", "int64"], on_error="null", context=Context(isa=isa))
    assert (table["column_1"].null_count, len(table.rejects)) == (1000, 1000)
