"""Codes of a few bits, which are translated in groups, are those of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from headrace import Context, dictionary

COUNTS = (1, 2, 3, 4, 5, 8, 9, 16, 17, 100, 256, 257)


@pytest.mark.parametrize("rows", [64, 127, 128, 1000, 5000, 70_000])
@pytest.mark.parametrize("new", ["before", "between", "after", "none", "many"])
def test_merges_of_few_values(rows, new):
    random = np.random.default_rng(rows)
    for count in COUNTS:
        values = np.arange(count, dtype=np.int64) * 10
        added = {
            "before": [-5],
            "between": [10 * (count // 2) - 5],
            "after": [10 * count],
            "none": [0],
            "many": list(range(-3, 10 * count, 3)),
        }[new]
        main = np.concatenate([values, values[random.integers(0, count, rows)]])
        delta = np.array(added * 3)
        for threads in (1, 2):
            found = dictionary.merge(dictionary.encode(main), delta, context=Context(threads=threads))
            distinct, codes = np.unique(np.concatenate([main, delta]), return_inverse=True)
            assert found.dictionary.to_pylist() == distinct.tolist()
            assert (dictionary.unpack(found.words, found.bits, len(found)) == codes).all()


def test_a_merge_of_few_values_with_nulls():
    main = [None, *range(4), *[3, None, 1] * 1000]
    found = dictionary.merge(dictionary.encode(main), [2, None, -1])
    assert dictionary.decode(found).to_pylist() == [*main, 2, None, -1]
