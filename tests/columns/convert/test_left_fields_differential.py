"""Tests fields that the fast conversion leaves to the rules, under the fiber harness against `read_csv` on the CPU."""

from __future__ import annotations

import random

import pytest

import headrace
from headrace.columns.faults.gpu import fault_list
from tests.columns.load.load_gpu_cases import LARGER_SHAPE, check, read_on_fibers

pytestmark = pytest.mark.fibers

USUAL = {
    "int32": lambda rng: str(rng.randrange(-99999, 99999)),
    "int64": lambda rng: str(rng.randrange(10**12)),
    "float64": lambda rng: f"{rng.uniform(-99, 99):.3f}",
    "date32": lambda rng: f"2024-0{rng.randrange(1, 10)}-17",
    "timestamp[s]": lambda rng: f"2024-0{rng.randrange(1, 10)}-17 12:00:0{rng.randrange(10)}",
    "string": lambda rng: rng.choice(["é", "word", "", "two words"]),
    "boolean": lambda rng: rng.choice(["true", "FALSE", "False"]),
    "uint8": lambda rng: str(rng.randrange(256)),
}
"""Types, and their fields that the fast conversion reads."""
ODD = ["n/a", "x" * 40, "-", "1e400", "0x1f", "12.5.1", "99999999999999999999999", "2024-02-30", " 7", "inf", "y" * 5000, "1,5"]
ODD_QUOTED = ['"1""2"', '""', '"a,b"', '"""', '" 7 "']
TYPES = list(USUAL)


def text_of(rng: random.Random, rows: int, share: float, odd: list[str], types: list[str] = TYPES) -> bytes:
    def field(type_: str) -> str:
        return rng.choice(odd) if type_ != "string" and rng.random() < share else USUAL[type_](rng)

    return "".join(",".join(map(field, types)) + "\n" for _ in range(rows)).encode()


def unquoted(odd: list[str]) -> list[str]:
    return [text for text in odd if "," not in text and len(text) < 1000]


@pytest.mark.parametrize("on_error", ["null", "reject"])
def test_a_tile_with_faults_is_not_declined(left, on_error):
    data = text_of(random.Random(on_error), 400, 0.02, [text for text in unquoted(ODD) if len(text) < 32])
    check(data, header=False, schema=TYPES, on_error=on_error, skew=3, shape=LARGER_SHAPE)
    assert all(marked == 0 for marked, _ in left)
    assert left


@pytest.mark.parametrize("on_error", ["null", "reject"])
@pytest.mark.parametrize(("period", "is_declined"), [(4, False), (3, True)])
def test_a_tile_has_places_for_108_odd_fields(period, is_declined, on_error, left):
    """A tile has 341 records of 12 bytes: 86 odd fields fit, 114 do not."""
    rows = ["n/a,1234567\n" if row % period == 0 else f"{row:03},1234567\n" for row in range(1000)]
    check("".join(rows).encode(), header=False, schema=["int32", "int64"], on_error=on_error, shape=LARGER_SHAPE)
    assert left
    assert all((marked != 0) == is_declined for marked, _ in left)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("share", [0.005, 0.1, 0.9])
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("on_error", ["null", "reject"])
def test_odd_fields_among_short_and_long_records(share, quoted, on_error):
    """Tiles are declined beside tiles whose odd fields are listed, and records reach from one into the other."""
    rng = random.Random(f"{share}{quoted}{on_error}")
    data = text_of(rng, 500, share, ODD + ODD_QUOTED[:3] if quoted else ODD)
    for skew in (0, 9):
        check(data, header=False, schema=TYPES, on_error=on_error, skew=skew, shape=LARGER_SHAPE)
    check(data, header=False, schema=TYPES, on_error=on_error, lenient_quotes=True)


@pytest.mark.parametrize("quoted", [False, True])
def test_kinds_of_inferred_columns(quoted):
    """Odd fields are of other kinds than those of the sample, so the columns change their types."""
    rng = random.Random(quoted)
    data = text_of(rng, 300, 0.0, ODD) + text_of(rng, 300, 0.01, unquoted(ODD) + ODD_QUOTED[:2] * quoted)
    check(data, header=False, shape=LARGER_SHAPE)
    check(data.replace(b"n/a", b"1.5"), header=False, null_values=["", "-"])


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1.8e308"])
def test_a_number_beyond_float64_is_text_if_inferred_and_an_overflow_if_not(text):
    data = "".join(f"{row}.5,x\n" for row in range(200)).encode() + f"{text},x\n".encode()
    check(data, header=False, shape=LARGER_SHAPE)
    assert headrace.read_csv(data, header=False)["column_1"].to_pylist()[-1] == text
    check(data, header=False, schema=["float64", "string"], on_error="null", shape=LARGER_SHAPE)
    given = headrace.read_csv(data, header=False, schema=["float64", "string"], on_error="null")
    assert (given["column_1"].to_pylist()[-1], given.rejects["kind"].to_pylist()) == (None, ["overflow"])


def test_raised_faults():
    data = text_of(random.Random(5), 300, 0.01, unquoted(ODD))
    for columns in (None, [0, 2, 5]):
        options = {"header": False, "schema": TYPES, "columns": columns, "on_error": "raise"}
        with pytest.raises(headrace.ParseError) as expected:
            headrace.read_csv(data, **options)
        with pytest.raises(headrace.ParseError) as found:
            read_on_fibers(data, shape=LARGER_SHAPE, **options)
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("capacity", [1, 7, 60])
def test_lists_without_room(capacity, monkeypatch):
    """Tiles whose fields the list has no room for are converted by the general path."""
    monkeypatch.setattr(fault_list, "MAX_FAULTS", capacity)
    data = text_of(random.Random(capacity), 400, 0.02, [*unquoted(ODD), "+5", "007", "1E2"])
    check(data, header=False, schema=TYPES, on_error="null", shape=LARGER_SHAPE)
