"""Faulty records that kernels gather for the host, under the fiber harness: their ends, their texts, and their faults."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from headrace import _native
from headrace.columns.convert.gpu.layouts import FAULT, NO_FIELD
from headrace.columns.faults.gpu import gather_records
from headrace.columns.faults.gpu.gather_records import LocatedRecords
from headrace.gpu.kernels.launcher import BufferSlice
from headrace.structure.dialect import Dialect
from headrace.testing.fibers.launcher import FiberLauncher
from tests.columns.faults.load_gpu_faults_cases import check

pytestmark = pytest.mark.fibers

LENIENT: list[dict[str, Any]] = [
    {},
    {"double_quote": False},
    {"lineterminator": "\n"},
    {"sep": "||"},
    {"escape_char": "\\"},
    {"skip_initial_space": True},
]


@pytest.mark.long_except("0-*", "*-0")
@pytest.mark.parametrize("number", range(len(LENIENT)))
@pytest.mark.parametrize("seed", range(3))
def test_lenient_quotes_do_not_reach_into_other_faulty_records(seed: int, number: int) -> None:
    rng, options = random.Random(10 * seed + number), LENIENT[number]
    sep = options.get("sep", ",")
    pieces = ['"', '"', '""', "a", " ", sep, sep, f'"{sep}', f'{sep}"', '"b"', "\\"]
    lines = ["1" + sep + "".join(rng.choices(pieces, k=rng.randrange(8))) for _ in range(60)]
    for end in ("\n", "\r\n"):
        if end == "\n" or "lineterminator" not in options:
            data = end.join(lines).encode()
            check(data, seed=seed, lenient_quotes=True, header=False, schema={"a": "int8", "b": "string"}, **POLICIES, **options)


@pytest.mark.long_except("0-*", "*-0")
@pytest.mark.parametrize("number", range(len(LENIENT)))
@pytest.mark.parametrize("seed", range(3))
def test_lenient_quotes_are_the_only_faults(seed: int, number: int) -> None:
    """The kernels list all that the table shows: without short and long records no record is read again."""
    rng, options = random.Random(10 * seed + number), LENIENT[number]
    sep = options.get("sep", ",")
    lines = [f"1{sep}" + "".join(rng.choices(['"', '"', '""', "a", " ", '"b"', "\\"], k=rng.randrange(8))) for _ in range(60)]
    for on_error in ("null", "reject"):
        given = {"on_error": on_error, **({"short_records": "null"} if on_error == "null" else {})}
        found = check("\n".join(lines).encode(), lenient_quotes=True, header=False, schema=["int8", "string"], **given, **options)
        assert found is not None and "quote" in found.rejects["kind"].to_pylist()


POLICIES = {"on_error": "null", "short_records": "reject", "long_records": "reject"}


@pytest.mark.parametrize("max_bytes", [1, 9, 12])
def test_records_that_are_too_long_to_gather_are_read_from_the_source(max_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather_records, "MAX_RECORD_BYTES", max_bytes)
    rng = random.Random(max_bytes)
    lines = [f"{rng.choice(['1', 'x', '300', '2,2'])},{'y' * rng.randrange(9)}" for _ in range(80)]
    data = "\n".join(lines).encode()
    for options in ({}, {"lenient_quotes": True}):
        found = check(data, header=False, seed=1, schema={"a": "int8", "b": "string"}, **{**POLICIES, **options})
        assert found is not None and len(found.rejects) > 20


@pytest.mark.parametrize("batch", [1, 40, 1 << 20])
def test_texts_of_records(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather_records, "BATCH_BYTES", batch)
    records = [b"1,2\n", b'"a\nb",3\r\n', b"x\r", b"long" * 9 + b"\n", b"5,6\n", b"no end"]
    ends = [len(record) - record.endswith(b"\r\n") for record in records]  # CR LF ends at its CR
    begins = np.cumsum([0, *map(len, records)])[:-1].astype(np.uint64)
    launcher = FiberLauncher("random", 0)
    whole = BufferSlice(launcher.put(np.frombuffer(b"   h\n" + b"".join(records), np.uint8)), 3)
    found = LocatedRecords(whole, 2, BufferSlice(whole, 2), Dialect(), None).texts(launcher, begins)
    assert found.lines.tolist() == [2, 3, 5, 6, 7, 8]
    parts = np.split(found.bytes, found.ends[:-1].astype(np.int64))
    assert [part.tobytes() for part in parts] == [record[:end] for record, end in zip(records[:-1], ends, strict=False)] + [b""]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 70, 30_000])
def test_faults_are_sorted(count: int, threads: int) -> None:
    rng = np.random.default_rng(count)
    records = max(count // 3, 1)
    faults = np.zeros(count, FAULT)
    faults["record"] = rng.integers(0, records, count) // rng.choice([1, 50], count)
    faults["column"] = rng.choice([NO_FIELD, 0, 1, 70_000], count)
    faults["kind"], faults["at"] = rng.integers(0, 7, count), rng.integers(0, 9, count)
    ranks = [9, 9, 9, 3, 0, 2, 2]
    found = np.zeros(count * FAULT.itemsize, np.uint8)
    kinds = _native.sort_faults(faults.view(np.uint8), found, ranks, records, threads)

    def key(fault: np.void) -> tuple[int, ...]:
        of_field = fault["column"] != NO_FIELD
        column = int(fault["column"]) if of_field else -1
        return int(fault["record"]), column, 0 if of_field else ranks[fault["kind"]], int(fault["at"]), int(fault["kind"])

    assert [key(fault) for fault in found.view(FAULT)] == sorted(map(key, faults))
    own = faults[faults["column"] == NO_FIELD]
    bits = [sum(1 << kind for kind in set(part["kind"].tolist())) for part in (own, faults[faults["column"] != NO_FIELD])]
    assert kinds == (*bits, len(np.unique(own["record"])) < len(own))
