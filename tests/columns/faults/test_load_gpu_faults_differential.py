"""Faults of a load on a GPU, its kernels under the fiber harness, against `read_csv` on the CPU: rows, rejects and errors."""

from __future__ import annotations

import random
import weakref
from typing import Any

import numpy as np
import pytest

from headrace import _native
from headrace.columns.buffers.column_buffers_gpu import ColumnBuffers
from headrace.columns.faults.gpu import fault_list, remove_rows
from headrace.columns.faults.gpu.gather_records import number_lines
from headrace.columns.faults.rejects import FAULT_KINDS
from headrace.columns.types import parse_type
from headrace.gpu.kernels.launcher import BufferSlice
from headrace.testing.fibers.launcher import FiberLauncher
from tests.columns.convert.convert_kernels_cases import TEXTS, table
from tests.columns.faults.load_gpu_faults_cases import check, spoiled

pytestmark = pytest.mark.fibers


@pytest.mark.covering(default=1)
@pytest.mark.long_except("*-reject", "None-*")
@pytest.mark.parametrize("on_error", ["raise", "null", "reject"])
@pytest.mark.parametrize("short_records", [None, "null", "error", "reject"])
@pytest.mark.parametrize("long_records", [None, "error", "truncate", "reject", "widen", "collect"])
def test_every_policy(on_error, short_records, long_records, monkeypatch):
    rng = random.Random(f"{on_error}{short_records}{long_records}")
    given = {name: value for name, value in (("short_records", short_records), ("long_records", long_records)) if value}
    for times in (0, 1, 6):
        monkeypatch.setattr(fault_list, "MAX_FAULTS", rng.choice([0, 2, 4096]))
        types = rng.sample(sorted(set(TEXTS) - {"null"}), 3)
        data = spoiled(rng, table(rng, types, 25, junk=0.05, quoted=0.2), times)
        typed = {"dtypes": dict(enumerate(types)), "header": False} if rng.random() < 0.6 else {"header": rng.random() < 0.5}
        check(data, skew=rng.randrange(16), seed=times, on_error=on_error, **given, **typed)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("limit", [0, 1, 7])
@pytest.mark.parametrize("options", [{"on_error": "null"}, {"on_error": "reject", "lenient_quotes": True}])
def test_a_limited_table_has_the_first_faults(limit, options):
    rng = random.Random(limit)
    types = ["int8", "string", "float64"]
    data = spoiled(rng, table(rng, types, 40, junk=0.2, quoted=0.3), 6)
    found = check(data, seed=limit, schema=types, header=False, max_rejects=limit, **options)
    assert found is not None and found.report.faults > 7 and len(found.rejects) == limit


def test_a_limit_does_not_hide_the_fault_that_raises():
    data = b"a,b\n" + b"1\n" * 20 + b"x,y\n"
    check(data, dtypes={"a": "int8", "b": "int8"}, short_records="reject", max_rejects=0)


def test_every_kind_of_fault_was_met():
    rng, kinds = random.Random(5), set()
    for seed in range(12):
        types = ["int8", "string", "float64"]
        data = spoiled(rng, table(rng, types, 40, junk=0.2, quoted=0.3), 6)
        found = check(data, seed=seed, on_error="reject", schema=types, header=False)
        assert found is not None
        kinds |= set(found.rejects["kind"].to_pylist())
    assert kinds == set(FAULT_KINDS)


@pytest.mark.parametrize("seed", range(6))
def test_quotes_that_do_not_close_take_the_rest_of_the_text(seed):
    rng = random.Random(seed)
    lines = [b"%d,text" % number for number in range(60)]
    lines[rng.randrange(60)] = b'5,"never closed'
    for on_error in ("reject", "raise"):
        check(b"a,b\n" + b"\n".join(lines), on_error=on_error, seed=seed)


@pytest.mark.parametrize("before", range(0, 90, 11))
def test_fields_of_rejected_records_are_ignored(before):
    # The record ends tiles after its first field, which is text among integers. Only the record's end shows that it is rejected.
    data = b"a,b,c\n" + b"1,2,3\n" * before + b"text," + b"4" * 700 + b",5,6,7\n" + b"8,9,1\n" * 3
    found = check(data, on_error="reject")
    assert found is not None and str(found["a"].type) == "int64"
    check(data, on_error="reject", dtypes={"a": "int8"})
    check(data, long_records="reject", dtypes={"a": "int8"})


@pytest.mark.parametrize("line", [0, 70, 199])
def test_the_first_of_many_is_raised(line, monkeypatch):
    monkeypatch.setattr(fault_list, "MAX_FAULTS", 3)
    lines = [b"1,2"] * line + [b"x,y"] * 200
    check(b"a,b\n" + b"\n".join(lines), dtypes={"a": "int8", "b": "int8"})
    check(b"a,b\n" + b"1\n" * 20 + b"\n".join(lines), dtypes={"a": "int8", "b": "int8"}, short_records="reject")


def test_more_faults_than_the_list_holds(monkeypatch):
    monkeypatch.setattr(fault_list, "MAX_FAULTS", 8)
    data = b"a,b\n" + b"".join(b"%d,%s\n" % (number, b"x" if number % 3 else b"5") for number in range(300))
    for on_error in ("null", "reject"):
        found = check(data, dtypes={"b": "int32"}, on_error=on_error)
        assert found is not None and len(found.rejects) == 200 and found.report.passes == 2


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("given", [{}, {"dtypes": {"b": "float64"}}, {"dtypes": {"b": "bool"}}], ids=str)
@pytest.mark.parametrize("on_error", ["raise", "null", "reject"])
def test_fields_that_a_kernel_leaves(on_error, given):
    number = b"1'000'" * 30 + b"000.5"  # longer than a thread's room for a number without its marks
    texts = [b"7", b'"%s"' % number, b'"' + b'""' * 70 + b'"', number]
    rng = random.Random(3)
    for choice in (texts[:2], texts, [texts[0], texts[3]]):
        data = b"a,b\n" + b"".join(b"%d,%s\n" % (row, rng.choice(choice)) for row in range(30))
        check(data, thousands="'", on_error=on_error, **given)


@pytest.mark.long_except("False-True")
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("typed", [False, True])
def test_long_texts_that_are_no_utf8(typed, quoted):
    # Tiles of 512 bytes check their own parts; a valid or invalid character may lie on their borders.
    character = "€".encode()
    for size, at in [(300, 0), (300, 1), (300, 2), (900, 450), (900, 899), *((600, at) for at in range(160, 176))]:
        text = bytearray(b"x" * (at % 3) + character * size)
        for wrong in (None, b"\xff", b"\x80", b"\xe2", b"a"):
            if wrong is not None:
                text[3 * at : 3 * at + 1] = wrong
            field = b'"' + bytes(text) + b'"' if quoted else bytes(text)
            data = b"a,b\n1,first\n2," + field + b"\n3,last\n"
            check(data, on_error="null", seed=at, **({"dtypes": {"b": "string"}} if typed else {}))
    check(data, on_error="reject")
    check(data, on_error="raise")


def test_a_text_that_the_host_finds_to_be_none_leaves_the_others():
    lines = [b"%d,text of %d" % (row, row) for row in range(70)]
    lines[40] = b"40," + "€".encode() * 300 + b"\xff" + b"x" * 300
    found = check(b"a,b\n" + b"\n".join(lines) + b"\n", on_error="null", dtypes={"b": "string"})
    assert found is not None and found["b"].null_count == 1 and found["b"][40] is None and found["b"][39] == "text of 39"


SEQUENCES = ["C080", "C1BF", "C280", "DFBF", "E09F80", "E0A080", "ED9FBF", "EDA080", "EE8080", "EFBFBF", "F08F8080", "F0908080"]
SEQUENCES += [
    "F48FBFBF",
    "F4908080",
    "F5808080",
    "F8808080",
    "FF",
    "80",
    "BF80",
    "C2",
    "E282",
    "F09F98",
    "C28080",
    "F0908080BF",
    "E2C282",
]


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_sequences_in_long_texts(sequence):
    # At each place of a word, and on the border of tiles.
    records = []
    for at in (0, 1, 2, 3, 510, 511, 512, 600):
        text = ("aé€" * 200).encode()[:601].decode("utf-8", "ignore").encode()
        records.append(b"1," + b"x" * at + bytes.fromhex(sequence) + text + b"\n2," + text + bytes.fromhex(sequence))
    found = check(b"a,b\n" + b"\n".join(records), on_error="null", dtypes={"b": "string"})
    assert found is not None


def test_long_fields_that_are_no_text():
    for field in (b"0" * 5000 + b"7", b"1" * 5000, b"x" * 6000, b'"' + b"0" * 5000 + b'1"'):
        data = b"a,b\n1,2\n" + field + b",3\n4,5\n"
        check(data, on_error="null")
        check(data, on_error="reject", dtypes={"a": "int64"})
        check(data, dtypes={"a": "float64"})


def test_wide_values_that_a_kernel_leaves():
    """A decimal of more than 64 bits that is longer than a thread's room for it: the host gives both words."""
    number = b"000'" * 40 + b"012'345'678'901'234'567'890'123.5"
    data = b"a,b\n" + b"".join(b"%d,%s\n" % (row, number if row % 3 else b"-" + number) for row in range(40))
    found = check(data, thousands="'", dtypes={"b": "decimal128(38, 2)"})
    assert found is not None and str(found["b"].to_pylist()[1]) == "12345678901234567890123.50"


def test_bools_that_a_kernel_leaves():
    word = 'y"' * 70
    data = b"a,b\n" + b"".join(b'%d,"%s"\n' % (row, [word.replace('"', '""').encode(), b"n"][row % 2]) for row in range(70))
    found = check(data, dtypes={"b": "bool"}, true_values=[word], false_values=["n"])
    assert found is not None and found["b"].to_pylist() == [True, False] * 35


@pytest.mark.parametrize("data", [b"a\n", b"a,b\n", b"a,b\n\n", b"a,b\n\n\n1,2"])
def test_texts_with_few_records_or_none(data):
    check(data)
    check(data, dtypes={"a": "string"})


@pytest.mark.parametrize("rows", [1, 31, 32, 65, 257, 2049, 2500])
@pytest.mark.parametrize("gone", ["few", "half", "all"])
def test_removed_rows(rows, gone):
    rng = np.random.default_rng(rows)
    launcher = FiberLauncher("random", rows)
    share = {"few": min(2, rows), "half": (rows + 1) // 2, "all": rows}[gone]
    going = np.sort(rng.choice(rows, share, replace=False)).astype(np.uint64)
    kept = np.setdiff1d(np.arange(rows), going)
    present = rng.random(rows) < 0.7
    texts = [bytes(rng.integers(0, 256, rng.choice([0, 1, 17, 40]), np.uint8)) for _ in range(rows)]
    names = ("string", "large_string", "bool", "int8", "decimal128(5, 2)")
    columns = [_column(launcher, number, name, present, texts) for number, name in enumerate(names)]
    before = {one.position: one.buffers for one in columns}
    remove_rows.remove_rows(launcher, columns, rows, launcher.put(going))
    for one in columns:
        assert one.nulls == len(kept) - int(present[kept].sum())
        bits = np.unpackbits(launcher.fetch(one.buffers["validity"]), bitorder="little")
        assert np.array_equal(bits[: len(kept)], present[kept]) and not bits[len(kept) :].any()
        if "offsets" in one.buffers:
            offsets = launcher.fetch(one.buffers["offsets"]).view(np.int64 if one.large else np.int32)
            assert offsets.tolist() == np.cumsum([0, *(len(texts[row]) for row in kept)]).tolist()
            assert launcher.fetch(one.buffers["values"]).tobytes() == b"".join(texts[row] for row in kept)
        elif one.type.bits == 1:
            bits = [
                np.unpackbits(launcher.fetch(buffers["values"]), bitorder="little")
                for buffers in (before[one.position], one.buffers)
            ]
            assert np.array_equal(bits[1][: len(kept)], bits[0][kept])
        else:
            values = [launcher.fetch(buffers["values"]) for buffers in (before[one.position], one.buffers)]
            width = one.type.bits // 8
            assert np.array_equal(values[1].reshape(-1, width), values[0][: rows * width].reshape(-1, width)[kept])


def _column(launcher: FiberLauncher, position: int, name: str, present: np.ndarray, texts: list[bytes]) -> ColumnBuffers:
    """A column of random values; one of large strings is small enough to have offsets of 32 bits in the end."""
    large = name == "large_string"
    one = ColumnBuffers(position, parse_type("string" if large else name), None, large)
    if "string" in name:
        one.buffers["values"] = launcher.put(np.frombuffer(b"".join(texts), np.uint8))
    one.allocate(launcher, len(present))
    bits = np.packbits(present, bitorder="little")
    launcher.put(bits, BufferSlice(one.buffers["validity"], 0, len(bits)))
    if "string" in name:
        offsets = np.cumsum([0, *map(len, texts)])
        launcher.put(offsets.astype(np.int64 if large else np.int32), one.buffers["offsets"])
    elif name == "bool":
        launcher.put(bits, BufferSlice(one.buffers["values"], 0, len(bits)))
    else:
        launcher.put(
            np.random.default_rng(1).integers(0, 256, one.buffers["values"].nbytes).astype(np.uint8), one.buffers["values"]
        )
    return one


def test_columns_give_back_their_memory_group_by_group(monkeypatch):
    # Only one group is in memory twice at a time, so the first memory of all others is given back before.
    monkeypatch.setattr(remove_rows, "BATCH_BYTES", 1)
    data = b"a,b,c\n" + b"".join(b"%d,text,%d.5\n" % (row, row) for row in range(400)) + b"1\n"
    held: list[int] = []
    buffers: weakref.WeakSet[Any] = weakref.WeakSet()
    allocate = FiberLauncher.allocate

    def watched(self: FiberLauncher, nbytes: int, *, fill: int | None = None) -> Any:
        made = allocate(self, nbytes, fill=fill)
        buffers.add(made)
        return made

    def run(self: Any, valid: Any) -> None:
        first(self, valid)
        held.append(sum(one.nbytes for one in buffers if one.nbytes >= 400))

    first = remove_rows._Removal.run
    monkeypatch.setattr(FiberLauncher, "allocate", watched)
    monkeypatch.setattr(remove_rows._Removal, "run", run)
    check(data, on_error="reject", dtypes={"a": "int64", "b": "string", "c": "float64"})
    assert len(held) == 3 and max(held) - min(held) < 400


def _lines(launcher: FiberLauncher, text: BufferSlice, positions: list[int]) -> np.ndarray:
    """Return the lines of positions, which the kernel gets as distances from the first."""
    lines = launcher.allocate(8 * len(positions))
    listed = launcher.put(np.array(positions, np.uint64) - np.uint64(positions[0]))
    number_lines(launcher, text, listed, positions[0], lines)
    return launcher.fetch(lines).view(np.uint64)


@pytest.mark.parametrize("seed", range(6))
def test_lines_are_numbered(seed):
    rng = random.Random(seed)
    text = bytes(rng.choices(b"ab\r\n\r\n", k=rng.choice([1, 100, 40_000])))
    positions = sorted(rng.choices(range(len(text)), k=rng.choice([1, 50])))
    launcher, skew = FiberLauncher("random", seed), rng.randrange(16)
    buffer = BufferSlice(launcher.put(np.frombuffer(bytes(skew) + text, np.uint8)), skew)
    found = _lines(launcher, buffer, positions)
    assert found.tolist() == _native.line_numbers(_native.Source.from_bytes(text), positions, 1)


@pytest.mark.parametrize("on_error", ["null", "reject"])
@pytest.mark.parametrize("data", [b"\r\n\n", b"1\r\n\n\n1,2\r\n\n\r\n\n", b"1\r\r\n\n", b"1,2,3\r\r\n\n\r", b"1,2,3\n\n\r\n\n1"])
def test_blank_lines_that_are_faulty_records(data: bytes, on_error: str) -> None:
    """After a record that CR LF ends, a blank line that LF ends is a record too."""
    found = check(data, header=False, schema=["int32"] * 3, skip_blank_lines=False, on_error=on_error)
    assert found is not None
    assert found.rejects.num_rows == found.report.rejected


@pytest.mark.parametrize("skew", [0, 3])
def test_records_with_several_faults_and_rejected_short_rows(skew: int) -> None:
    options: dict[str, Any] = {"dtypes": "int64", "on_error": "reject", "row_index_name": "i"}
    text = b"a,b\n1\nx\n2,3\ny,z,4\n5,6,7\nx,1\n" * 5
    check(text, skew=skew, short_records="null", long_records="truncate", **options)
    check(text, skew=skew, short_records="null", long_records="collect", **{**options, "dtypes": {0: "int64"}})
    quoted = b'a\n1\n1,2,"2"3\n"4"5,6\nx"\n7\n' * 5
    check(quoted, skew=skew, lenient_quotes=True, long_records="reject", **options)


@pytest.mark.parametrize("skew", [0, 5])
def test_lines_of_the_first_and_last_bytes_of_parts(skew):
    """A position belongs to the part that holds its byte: the first byte of a part is not the last part's."""
    text = bytes(random.Random(skew).choices(b"ab\r\n", k=40_000))
    borders = [begin - skew + more for begin in (16 << 10, 32 << 10) for more in (-1, 0, 1)]
    launcher = FiberLauncher("random", skew)
    buffer = BufferSlice(launcher.put(np.frombuffer(bytes(skew) + text, np.uint8)), skew)
    for positions in ([0, *borders], borders[1:2], borders[4:5], [borders[0]], [len(text) - 1]):
        found = _lines(launcher, buffer, positions)
        before = [text[: at + 1] for at in positions]
        ends = [
            part[:-1].count(b"\n") + sum(part[i] == 13 and text[i + 1] != 10 for i in range(len(part) - 1)) for part in before
        ]
        assert found.tolist() == [count + 1 for count in ends]
