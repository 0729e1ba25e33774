"""Tests the loop that infers a scan's types: it ends, because each pass moves types up a finite lattice, with the right types."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import pytest

import headrace
from headrace.testing.values import Kind, join
from tests.api.outcomes import outcome
from tests.columns.infer.infer_cases import SAMPLES

OUTSIDE_NANOSECONDS = {
    "timestamp": (b"2020-01-01 00:00:00.000000001", b"9999-12-31 00:00:00"),
    "date": (b"2020-01-01 00:00:00.000000001", b"0001-01-01"),
    "instant": (b"2020-01-01 00:00:00.000000001Z", b"1600-01-01 00:00:00Z"),
    "duration": (b"PT0.000000001S", b"P200000D"),
}
TEXTS = [*SAMPLES.values(), *(text for pair in OUTSIDE_NANOSECONDS.values() for text in pair[1:])]


def same(sources: list[bytes], **options: Any) -> headrace.Table:
    expected = outcome(lambda: headrace.read_csv(sources, header=False, **options))
    scan = headrace.scan_csv(sources, header=False, **options)
    table = scan.read()
    assert outcome(lambda: table) == expected
    return table


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("pair", OUTSIDE_NANOSECONDS.values(), ids=OUTSIDE_NANOSECONDS)
@pytest.mark.parametrize("back", [False, True])
def test_a_value_that_no_unit_of_all_files_holds(pair: tuple[bytes, bytes], back: bool) -> None:
    texts = pair[::-1] if back else pair
    sources = [b"%s,%d\n" % (text, number) for number, text in enumerate(texts)]
    assert str(same(sources).schema["column_1"]) == "string"
    whole = b"".join(sources)
    for batch_bytes in range(1, len(whole) + 1):
        scanned = headrace.scan_csv(whole, header=False, batch_bytes=batch_bytes).read()
        assert scanned.to_pydict() == {"column_1": [text.decode() for text in texts], "column_2": [0, 1]}


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)], ids=["pairs", "triples"])
def test_every_three_texts_in_every_order(every: bool) -> None:
    """One column a triple, whose texts are in three sources; each pass except the last changes a type.

    By default the triples are a Latin square: any two of the sources have each pair of texts.
    """
    numbers = product(range(len(TEXTS)), repeat=3)
    triples = [tuple(TEXTS[n] for n in (a, b, c)) for a, b, c in numbers if every or (a + b + c) % len(TEXTS) == 0]
    sources = [b",".join(triple[place] for triple in triples) + b",0\n" for place in range(3)]
    assert same(sources).report.passes <= 1 + height()


@pytest.mark.parametrize("last", [Kind.TEXT, Kind.FLOAT, Kind.NATURAL])
def test_the_evidence_for_text_among_signed_and_unsigned_numbers(last: Kind) -> None:
    for kinds in permutations((Kind.NEGATIVE, Kind.UINT64, last)):
        records = [SAMPLES[kind] + b"\n" for kind in kinds]
        whole = headrace.read_csv(b"".join(records), header=False).report.columns[0].evidence
        for batch_bytes in range(1, len(b"".join(records)) + 1):
            with headrace.scan_csv(b"".join(records), header=False, batch_bytes=batch_bytes) as scan:
                assert scan.read().report.columns[0].evidence == whole
        found = headrace.read_csv(records, header=False).report.columns[0].evidence
        assert whole is not None
        assert found is not None
        assert found.text == whole.text


def height() -> int:
    """Kinds of the lattice's longest chain, and text among values that no unit can represent."""
    above = {kind: [other for other in Kind if other != kind and join(kind, other) == other] for kind in Kind}

    def chain(kind: Kind) -> int:
        return 1 + max((chain(other) for other in above[kind]), default=0)

    return 1 + max(chain(kind) for kind in Kind)


def test_a_join_moves_up_or_stays() -> None:
    for one, other in product(Kind, repeat=2):
        both = join(one, other)
        assert join(both, one) == both == join(both, other)


def test_a_resumed_scan_has_the_types_of_the_first_batch() -> None:
    text = b"a,b\n1,x\n2,y\n2.5,z\n3,\n"
    scan = headrace.scan_csv(text, infer="first", batch_bytes=7, on_error="null")
    first, *others = scan.batches()
    resumed = headrace.scan_csv(text, infer="first", batch_bytes=7, on_error="null", resume=first.report.end)
    assert (resumed.schema, resumed.read().schema) == (scan.schema, scan.schema)
    assert list(resumed.read().iter_rows()) == [row for batch in others for row in batch.iter_rows()]
