"""Tests the conversion of texts on a GPU, in the fiber harness, against the CPU."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
import pytest

import headrace
from headrace.columns.column import Column
from headrace.core.buffer import copy_of
from headrace.encode.conversions_gpu import StringColumnBuffers, TextConversion, TextShape, run_together
from headrace.encode.dictionaries_gpu import text_dictionaries
from headrace.encode.texts import as_dictionary, as_views
from headrace.encode.texts_gpu import string_views
from headrace.testing.fibers.launcher import FiberLauncher

pytestmark = pytest.mark.fibers

SHAPE = TextShape(threads=64, slots=16)
ROWS = [0, 1, 31, 32, 33, 64, 511, 512, 513, 1100]


def column_of(rng: random.Random, rows: int, large: bool, few: bool) -> Column:
    """Return texts of all lengths around the inline size of a view, some null."""
    letters = ["", "a", "b", "ab", *("x" * length for length in (7, 8, 9, 11, 12, 13, 16, 17)), "x" * 7 + "y", "x" * 15 + "y"]
    letters += ["y" * 12 + "z", "ä" * 30, "long text " * 20]
    texts = [rng.choice(letters) + ("" if few else str(rng.randrange(rows * 3 + 1))) for _ in range(rows)]
    quoted = ['"' + text + '"' if rng.random() < 0.9 or few else "" for text in texts]
    data = "a\n" + "".join(f"{text}\n" for text in quoted)
    table = headrace.read_csv(data.encode(), dtypes={"a": "large_string" if large else "string"}, skip_blank_lines=False)
    return table["a"]


def buffers_of(launcher: FiberLauncher, column: Column) -> StringColumnBuffers:
    def put(buffer: Any) -> Any:
        return launcher.put(np.frombuffer(memoryview(buffer), np.uint8))

    validity = None
    if column.validity is not None:  # whole words
        validity = launcher.put(np.frombuffer(bytes(column.validity).ljust(-(-column.length // 32) * 4, b"\0"), np.uint8))
    return StringColumnBuffers(put(column.offsets), put(column.values), validity, column.length, column.type.bits // 8)


def bytes_of(launcher: FiberLauncher, buffer: Any) -> bytes:
    return launcher.fetch(buffer).tobytes()


def dictionaries_of(launcher: FiberLauncher, columns: list[Column], shape: TextShape) -> list[tuple[Any, Any, int]]:
    texts = [buffers_of(launcher, column) for column in columns]
    return run_together(launcher, [TextConversion(2 * len(texts), partial(text_dictionaries, launcher, texts, shape))])[0]


@pytest.mark.covering(default=2)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("few", [False, True])
def test_views(rows, large, few):
    launcher = FiberLauncher("random", rows)
    column = column_of(random.Random(rows), rows, large, few)
    expected = as_views(column, 2)
    found = run_together(launcher, [TextConversion(1, partial(string_views, launcher, buffers_of(launcher, column), SHAPE))])[0]
    assert found is not None
    assert bytes_of(launcher, found[0]) == bytes(expected.values)
    assert [bytes_of(launcher, buffer) for buffer in found[1]] == [bytes(data) for data in expected.data]


@pytest.mark.parametrize("most", [200, 333, 5000])
def test_views_in_several_buffers(most):
    launcher = FiberLauncher("random", most)
    column = column_of(random.Random(most), 700, False, False)
    shape = TextShape(threads=64, max_viewed=most)
    found = run_together(launcher, [TextConversion(1, partial(string_views, launcher, buffers_of(launcher, column), shape))])[0]
    if most == 200:
        assert found is None  # one text is longer
        return
    assert found is not None and len(found[1]) > 1 and all(buffer.nbytes <= most for buffer in found[1])
    made = as_views(column, 1)
    buffers = [copy_of(bytes_of(launcher, buffer)) for buffer in found[1]]
    views = Column(
        made.type, made.length, made.null_count, copy_of(bytes_of(launcher, found[0])), made.validity, data=tuple(buffers)
    )
    assert views.to_pylist() == column.to_pylist()


@pytest.mark.covering(default=2)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_dictionaries(rows, large, few, seed):
    launcher = FiberLauncher("random", rows + seed)
    column = column_of(random.Random(rows), rows, large, few)
    expected = as_dictionary(column, 2)
    assert expected.dictionary is not None and expected.dictionary.offsets is not None
    codes, texts, count = dictionaries_of(launcher, [column], SHAPE)[0]
    assert bytes_of(launcher, codes) == bytes(expected.values)
    assert count == expected.dictionary.length
    assert bytes_of(launcher, texts.offsets) == bytes(expected.dictionary.offsets)
    assert bytes_of(launcher, texts.values) == bytes(expected.dictionary.values)


@pytest.mark.parametrize("few", [(True, False, True, False), (False, True, True)])
def test_columns_become_dictionaries_together(few):
    """Columns whose tables are large enough at different sizes wait for each other, and keep their order."""
    rng, launcher = random.Random(5), FiberLauncher("random", 5)
    columns = [column_of(rng, 900, large=one, few=one) for one in few]
    before = launcher.waits
    found = dictionaries_of(launcher, columns, TextShape(threads=64, slots=64))
    assert launcher.waits - before == 3, "once for each size of the largest column's table"
    for column, (codes, texts, count) in zip(columns, found, strict=True):
        expected = as_dictionary(column, 1)
        assert expected.dictionary is not None and expected.dictionary.offsets is not None
        assert (bytes_of(launcher, codes), count) == (bytes(expected.values), expected.dictionary.length)
        assert bytes_of(launcher, texts.offsets) == bytes(expected.dictionary.offsets)
        assert bytes_of(launcher, texts.values) == bytes(expected.dictionary.values)
