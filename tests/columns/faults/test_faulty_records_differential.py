"""Records of faults that stay on the GPU, under the fiber harness: their order and texts, and the table built from them later."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import headrace
from headrace.columns.convert.gpu.layouts import FAULT, NO_FIELD
from headrace.columns.faults.gpu.faulty_records import FaultyRecords
from headrace.columns.faults.gpu.gather_records import LocatedRecords
from headrace.gpu.kernels.launcher import BufferSlice
from headrace.structure.dialect import Dialect
from headrace.testing.fibers.launcher import FiberLauncher
from tests.columns.faults.load_gpu_faults_cases import check
from tests.columns.load.load_gpu_cases import read_on_fibers

pytestmark = pytest.mark.fibers


def _faults(rng: np.random.Generator, count: int, records: int) -> np.ndarray:
    """Return faults of records of 4 bytes in no order, some of one record, a third of them of records as a whole."""
    faults = np.zeros(count, FAULT)
    faults["record"] = rng.integers(0, records, count)
    faults["record_begin"] = 4 * faults["record"]
    faults["column"] = rng.choice([NO_FIELD, 0, 1], count)
    faults["kind"] = np.where(faults["column"] == NO_FIELD, 3, rng.integers(0, 2, count))
    return faults


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("records", [1, 31, 32, 33, 300, 5000])
@pytest.mark.parametrize("count", [1, 31, 33, 255, 256, 257, 700])
def test_records_are_listed_in_order(records: int, count: int) -> None:
    faults = _faults(np.random.default_rng(count * records), count, records)
    launcher = FiberLauncher("random", count)
    data = b"".join(b"%03d\n" % (record % 1000) for record in range(records))
    text = launcher.put(np.frombuffer(b"h\n" + data, np.uint8))
    located = LocatedRecords(text, 2, BufferSlice(text, 2), Dialect(), None, are_lines=count % 2 == 0)
    room, counted = np.concatenate([faults, np.zeros(count % 3, FAULT)]), launcher.put(np.array([count], np.uint64))
    found = FaultyRecords(launcher, located, launcher.put(room), counted, records + count % 2)
    found.wait(launcher, located, count, records)
    numbers = np.unique(faults["record"])
    of_records = faults[faults["column"] == NO_FIELD]
    summary = found.summary
    assert (summary.records, summary.own) == (len(numbers), len(np.unique(of_records["record"])))
    assert (summary.of_fields, summary.ungathered, summary.bytes) == (count - len(of_records), 0, 4 * len(numbers))
    assert summary.record_kinds == (8 if len(of_records) else 0)
    assert summary.field_kinds == sum(1 << kind for kind in {*faults["kind"][faults["column"] != NO_FIELD].tolist()})
    assert launcher.fetch(found.numbers).view(np.uint64)[: len(numbers)].tolist() == numbers.tolist()
    found.copy(launcher)
    by_record, texts = found.gather(launcher, 2 if found.are_lines else None).fetch(launcher, [9, 9, 9, 3, 0, 2, 2], 2)
    assert texts.lines.tolist() == (numbers + np.uint64(2)).tolist()
    assert texts.bytes.tobytes() == b"".join(data[4 * number : 4 * number + 4] for number in numbers.tolist())
    assert texts.ends.tolist() == [4 * (rank + 1) for rank in range(len(numbers))]
    assert np.unique(by_record["record"]).tolist() == numbers.tolist()
    assert len(by_record) == summary.own + summary.of_fields


def test_a_record_without_a_line_end_is_not_gathered() -> None:
    launcher = FiberLauncher("random", 0)
    text = launcher.put(np.frombuffer(b"1\nx", np.uint8))
    faults = np.zeros(1, FAULT)
    faults["record"], faults["record_begin"] = 1, 2
    located, counted = LocatedRecords(text, 0, text, Dialect(), None), launcher.put(np.array([1], np.uint64))
    found = FaultyRecords(launcher, located, launcher.put(faults), counted, 2)
    found.wait(launcher, located, 1, 2)
    assert found.summary.ungathered == 1
    assert not found.are_gathered


TEXT = b"a,b\n" + b"".join(
    b"%d,%s\n" % (i, b"x%d" % i if i % 7 == 0 else b'"q" t"' if i % 5 == 0 else b"%d" % i) for i in range(400)
)


@pytest.mark.parametrize("on_error", ["null", "reject"])
@pytest.mark.parametrize("options", [{}, {"lenient_quotes": True}, {"max_rejects": 5}, {"row_index_name": "n"}], ids=str)
def test_rejects_need_the_text_no_more(on_error: str, options: dict[str, Any]) -> None:
    """The table is built when it is looked at. By then the caller may have overwritten the text."""
    data = TEXT if "lenient_quotes" in options else TEXT.replace(b'"q" t"', b"1")
    given = {"on_error": on_error, "dtypes": {"a": "int64", "b": "string" if "lenient_quotes" in options else "int8"}, **options}
    expected = headrace.read_csv(data, **given)
    assert len(expected.rejects)
    found, waits = read_on_fibers(data, **given)
    assert found is not None and found.report.faults == expected.report.faults
    first = found.rejects["text"]
    assert first is found.rejects["text"]
    assert repr(found.rejects.to_pydict()) == repr(expected.rejects.to_pydict())
    assert waits < 20


PLAIN = b"".join(b"%d,%s\n" % (i, b"x" if i % 7 == 3 else b"%d" % i) for i in range(300))


@pytest.mark.parametrize(
    ("data", "options", "numbered"),
    [
        (PLAIN, {}, 0),
        (PLAIN, {"skip_rows": 40}, 0),
        (b'"one\r\nname\r",b\n' + PLAIN, {"header": True}, 0),
        (PLAIN.replace(b",5\n", b",5\n\n"), {}, 1),
        (PLAIN.replace(b",5\n", b",5\n\n"), {"skip_blank_lines": False, "short_records": "null"}, 0),
        (PLAIN.replace(b",5\n", b",5\r\n"), {}, 1),
        (PLAIN.replace(b",5\n", b',"\n"\n'), {}, 1),
        (PLAIN.replace(b",5\n", b",5\r\n"), {"lineterminator": "\n"}, 1),
        (PLAIN.replace(b",5\n", b",5\n#\n"), {"comment": "#"}, 1),
    ],
)
def test_lines_are_counted_only_if_records_may_not_be_lines(monkeypatch, data, options, numbered) -> None:
    launched: list[str] = []
    launch = FiberLauncher.launch

    def seen(self: FiberLauncher, entry: Any, shape: Any, args: Any) -> None:
        launched.append(entry.name)
        launch(self, entry, shape, args)

    monkeypatch.setattr(FiberLauncher, "launch", seen)
    found = check(data, **{"header": False, "schema": ["int32", "int32"], "on_error": "null", **options})
    assert found is not None and len(found.rejects) > 20
    assert launched.count("number_lines") == numbered


def test_faults_of_columns_that_are_converted_twice() -> None:
    """Faults that stayed on the GPU are fetched if a later conversion lists others."""
    lines = [f"{i},{i},x" for i in range(300)]
    lines[100], lines[200], lines[250] = "z,1,x", "5,1.5,x", "6,2,\udcff"
    data = ("a,b,c\n" + "\n".join(lines) + "\n").encode("utf-8", "surrogateescape")
    for on_error in ("null", "reject"):
        found = check(data, on_error=on_error, dtypes={"a": "int64"})
        assert found is not None and len(found.rejects) == 2


@pytest.mark.parametrize("options", [{}, {"comment": "#"}, {"lenient_quotes": True}, {"escape_char": "\\"}], ids=str)
@pytest.mark.parametrize("odd", ["", '"a\nb"', '"a\r\nb"', "\n", "#c\n", "a\\\nb", '"x"y"'])
def test_lines_of_faults_in_texts_with_quotes(options: dict[str, Any], odd: str) -> None:
    """Kernels count lines if there are others than those of records. Otherwise they follow from the records' numbers."""
    for end in ("\n", "\r\n"):
        lines = [f'{i if i % 9 else "x"},"t{i}"' for i in range(300)]
        lines[100] = f"7,{odd}" if odd[:1] in ('"', "a") else odd + lines[100]
        given = {"header": False, "schema": ["int16", "string"], "on_error": "null"}
        check(end.join(lines).encode(), seed=1, **given, **options)
