"""`null_values="auto"`: words are null in columns of values, and text in columns of text."""

from __future__ import annotations

import random

import pytest

import headrace
from headrace import Context, _native

WORDS = ["NA", "N/A", "n/a", "#N/A", "<NA>", "NULL", "null", "None", "NaN", "nan", "-", "--", "?", "."]
PARSERS = {"int64": int, "double": float, "bool": {"true": True, "false": False}.__getitem__}
VALUES = {"int64": ["1", "-22", "333"], "double": ["0.5", "1", "-2e3"], "bool": ["true", "false"]}


def check(texts: list[str], kind: str | None, **options: object) -> headrace.Table:
    """Compare a column of texts with values of one kind, or with text if `kind` is None."""
    table = headrace.read_csv("\n".join(["a,b", *(f"{text},1" for text in texts), ""]).encode(), null_values="auto", **options)  # type: ignore[arg-type]
    expected = [
        None if text == "" or (kind is not None and text in WORDS) else PARSERS[kind](text) if kind else text for text in texts
    ]
    assert table["a"].to_pylist() == expected
    assert table["a"].type.is_string == (kind is None)
    return table


@pytest.mark.parametrize("isa", _native.isas())
@pytest.mark.parametrize("kind", PARSERS)
def test_words_among_values(kind: str, isa: str) -> None:
    rng = random.Random(kind)
    texts = [*VALUES[kind], *rng.choices([*WORDS, "", *VALUES[kind]], k=300)]
    for chunk_bytes in (1, 7, 64, 4096):
        rng.shuffle(texts)
        check(texts, kind, chunk_bytes=chunk_bytes, context=Context(isa=isa, threads=2))


@pytest.mark.parametrize("place", [0, 150, 299])
def test_one_text_keeps_the_words(place: int) -> None:
    """The text may be in the first records or far after them."""
    texts = random.Random(place).choices([*WORDS, "", "17"], k=300)
    texts[place] = "Rome"
    for chunk_bytes in (1, 64, 4096):
        table = check(texts, None, chunk_bytes=chunk_bytes)
        assert table.report.columns[0].evidence.text == b"Rome"


@pytest.mark.parametrize("texts", [["NA"], ["NA", ""], ["", "NA", "-"] * 50])
def test_words_alone_are_text(texts: list[str]) -> None:
    check(texts, None)


def test_values_after_many_words() -> None:
    check(["NA"] * 200_000 + ["7"], "int64")


def test_given_types_true_words_and_quotes() -> None:
    data = b'a,b,c,d\nNA,NA,-,1\n1,x,yes,"NA"\n'
    table = headrace.read_csv(
        data, null_values="auto", dtypes={"b": "string", "c": "bool"}, true_values=["yes"], false_values=["-"]
    )
    assert table.to_pydict() == {"a": [None, 1], "b": ["NA", "x"], "c": [False, True], "d": ["1", "NA"]}
    assert any("null_values='auto'" in note for note in table.report.notes)
    assert "null_values='auto'" in str(table.report)


def test_a_list_holds_texts_alone() -> None:
    data = b"a,b\nauto,1\n5,NA\n"
    assert headrace.read_csv(data, null_values=["auto"]).to_pydict() == {"a": [None, 5], "b": ["1", "NA"]}


def test_a_proposal_has_the_words_it_found() -> None:
    data = b"id;price\n" + b"1;NA\n2;1.5\n3;-\n4;2.5\n" * 20
    sniffed = headrace.sniff_csv(data)
    assert sniffed.null_values == ("-", "NA") and sniffed.options["null_values"] == "auto"
    for table in (headrace.read_csv(data, dialect="auto"), headrace.read_csv(data, **sniffed.options)):
        assert table["price"].to_pylist() == [None, 1.5, None, 2.5] * 20
    given = headrace.read_csv(data, dialect="auto", null_values=["NA"])
    assert given["price"].type.is_string
    assert "null_values" not in headrace.sniff_csv(b"id;name\n1;x\n2;NA\n").options


def test_batches_have_the_types_of_the_first_records() -> None:
    data = b"a,b\n" + b"NA,1\n3,2\n" * 5000
    batches = list(headrace.scan_csv(data, null_values="auto", batch_bytes=4096).batches())
    assert [value for batch in batches for value in batch["a"].to_pylist()] == [None, 3] * 5000
