"""Tests that misuse of encoded columns raises errors that name the cause, and that damaged codes are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import headrace
from headrace import dictionary
from headrace.core.buffer import copy_of, empty_buffer
from tests.store.dictionary.dictionary_cases import column_of

MAIN = dictionary.encode(column_of("int32", [3, 1, None]))
TEXTS = dictionary.encode(column_of("string", [b"x"]))
DELTA = column_of("int32", [2])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: dictionary.encode(7), "column"),
        (lambda: dictionary.encode([1, "x"]), "column has values that are not of one type"),
        (lambda: dictionary.encode([[1]]), "column"),
        (lambda: dictionary.encode(np.zeros((1, 2))), "column must be .* one dimension"),
        (lambda: dictionary.encode(np.zeros(1, "f2")), "float16"),
        (lambda: dictionary.encode(np.array(["2020"], "M8[Y]")), "convert it to days"),
        (lambda: dictionary.decode(MAIN, slice(0, 1.5)), "slice"),
        (lambda: dictionary.encode(DELTA, method="quick"), "method"),
        (lambda: dictionary.decode(DELTA), "column"),
        (lambda: dictionary.decode(MAIN, [3]), "1 row number is outside of the 3 items"),
        (lambda: dictionary.decode(MAIN, [-1]), "outside"),
        (lambda: dictionary.merge(DELTA, DELTA), "main"),
        (lambda: dictionary.merge(MAIN, column_of("int64", [2])), "int64"),
        (lambda: dictionary.merge(MAIN, DELTA, [True]), "keep must be an array of 4 bools"),
        (lambda: dictionary.merge(MAIN, DELTA, [1, 1, 1, 1]), "keep must be an array of 4 bools"),
        (lambda: dictionary.filtered(MAIN, np.ones((3, 1), bool)), "keep must be an array of 3 bools"),
        (lambda: dictionary.merge_columns({"a": MAIN}, {"b": DELTA}), "deltas have the columns"),
        (lambda: dictionary.merge_dictionaries(MAIN.dictionary, TEXTS.dictionary), "string"),
        (lambda: dictionary.merge_dictionaries(MAIN.dictionary, MAIN.dictionary, method="hash"), "method"),
        (lambda: dictionary.merge_dictionaries(TEXTS.dictionary, TEXTS.dictionary, method="mum"), "method"),
        (lambda: dictionary.pack(np.array([4]), 2), "codes are not all in the range from 0 to 3"),
        (lambda: dictionary.pack(np.array([-1]), 2), "codes are not all in the range"),
        (lambda: dictionary.pack(np.array([1]), 33), "bits"),
        (lambda: dictionary.unpack(empty_buffer(8), 3, 22), "words has 8 bytes"),
        (lambda: replace(MAIN, words=empty_buffer(0)), "words has 0 bytes"),
        (lambda: replace(MAIN, validity=None), "validity"),
        (lambda: replace(MAIN, validity=empty_buffer(0)), "validity has 0 bytes"),
        (lambda: replace(MAIN, null_count=0), "validity"),
        (lambda: replace(MAIN, null_count=4), "null_count"),
        (lambda: replace(MAIN, dictionary=column_of("int32", [])), "dictionary is empty"),
        (lambda: replace(MAIN, dictionary=column_of("int32", [None])), "dictionary must have no nulls"),
    ],
)
def test_misuse(call: Callable[[], object], said: str) -> None:
    with pytest.raises(headrace.OptionError, match=said):
        call()


def test_codes_without_a_value() -> None:
    """A damaged code that no value has is reported by decode, and reads no memory outside of a table in a merge."""
    three = dictionary.encode(column_of("int32", [3, 1, 2]))
    damaged = replace(three, words=copy_of(bytes([0b111111, 0, 0, 0, 0, 0, 0, 0])))
    with pytest.raises(headrace.OptionError, match="a code is 3, and the dictionary has 3 values"):
        dictionary.decode(damaged)
    assert len(dictionary.merge(damaged, DELTA)) == 4


def test_columns_of_nulls() -> None:
    table = headrace.read_csv(b"a,b\n,1\n,2\n")
    nulls = table["a"] if table["a"].type.name == "null" else column_of("string", [None, None])
    encoded = dictionary.encode(nulls)
    merged = dictionary.merge(encoded, nulls, [True, False, True, True])
    assert dictionary.decode(merged).to_pylist() == [None] * 3
    assert (merged.bits, merged.nbytes - merged.validity.nbytes) == (0, merged.dictionary.offsets.nbytes)


def test_views_and_codes() -> None:
    """String views and dictionaries of strings become plain strings; the code of a null may be any number."""
    text = b"x\nb\n\na long text that is not in its view\nb\n"
    for form in ("view", "dictionary"):
        column = headrace.read_csv(text, strings=form, skip_blank_lines=False)["x"]
        for part in (column, column.slice(1, 3)):
            assert dictionary.decode(dictionary.encode(part)).to_pylist() == part.to_pylist()
