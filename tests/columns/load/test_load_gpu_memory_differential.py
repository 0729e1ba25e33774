"""Tests loads on a GPU in memory that is not cleared. For any text, each offset of its strings is written, and the earlier
content of the memory has no effect. Under the fiber harness, against `read_csv` on the CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import headrace
from headrace.testing.fibers.launcher import FiberLauncher, HostBuffer
from tests.columns.load.load_gpu_cases import OTHER_SHAPE, SHAPE, read_on_fibers, same_table

pytestmark = pytest.mark.fibers

NAMES = ["a", "b", "c", "d"]
TYPES = ["int32", "string", "bool", "large_string"]
TILE = 1024
"""Bytes of a tile of `SHAPE`."""
FAULTS = {"short_records": "null", "long_records": "reject"}
PLAIN = [f"{row},{'x' * (row % 9)},{('true', 'false', '')[row % 3]},{'yz' * (row % 4)}" for row in range(60)]
QUOTED = [f'{row},"a ""{row}"", b{"," * (row % 3)}",true,"{"c" * (row % 5)}"' for row in range(60)]
CASES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "plain": (PLAIN, {}),
    "quoted": (QUOTED, {}),
    "quotes behind plain ones": ([*PLAIN * 6, *QUOTED, *PLAIN], {}),
    "strings of nothing": ([",,,"] * 400, {}),
    "strings of nothing in quotes": (['1,"",true,""'] * 120, {}),
    "null words": ([*PLAIN, "1,NA,true,NA", *PLAIN], {"null_values": ["NA"]}),
    "short records that are filled": (["5", *PLAIN, "6,six", "7", *PLAIN, "8,,"], FAULTS),
    "short records that go": (["5", *PLAIN, "6,six", *PLAIN, "7"], {"short_records": "reject"}),
    "short records with comments": (["5", *PLAIN, "#x", "6,six", *PLAIN, "7"], {**FAULTS, "comment": "#"}),
    "short records alone": (["1"] * 700, FAULTS),
    "long records that go": (["1,a,true,b,c", *PLAIN, "2,a,false,b,c,d", *PLAIN, "3,,,,"], FAULTS),
    "long records that are cut": (["1,a,true,b,c", *PLAIN, "2,a,false,b,c,d"], {"long_records": "truncate"}),
    "long records that are collected": (["1,a,true,b,c", *PLAIN, "2,a,false,b,c,d"], {"long_records": "collect"}),
    "fields that are no values": (["x,a,true,b", *PLAIN, "1,a,?,b", *PLAIN, "y,a,true,b"], {"on_error": "reject"}),
    "only records that go": (["x,a,true,b"] * 90, {"on_error": "reject"}),
    "text that is no UTF-8": (["1,\udcff,true,b", *PLAIN, "2,a,true,\udce2\udc82"], {}),
    "text that is mended": (["1,\udcff,true,b", *PLAIN, "2,a,true,\udce2\udc82"], {"encoding_errors": "replace"}),
    "blank lines": ([*PLAIN, "", "", *PLAIN, "", ""], {}),
    "blank lines that are records": ([*PLAIN, "", *PLAIN, ""], {"skip_blank_lines": False, **FAULTS}),
    "a first tile of blank lines": ([""] * (2 * TILE) + PLAIN, {}),
    "a first tile of blank lines, then what is short": ([""] * (2 * TILE) + ["1", *PLAIN], FAULTS),
    "a first tile of blank lines, then what only rules read": ([""] * (2 * TILE) + ["+1,\u00e9,True,b", *PLAIN], {}),
    "a first tile of a comment": (["#" + "c" * 2 * TILE, *PLAIN], {"comment": "#"}),
    "comments": (["#", *PLAIN, "# 1,2,3", *PLAIN, "#"], {"comment": "#"}),
    "comments alone": (["#" + "c" * 100] * 30, {"comment": "#"}),
    "blank lines alone": ([""] * (3 * TILE), {}),
    "a first record of several tiles": ([f"1,{'s' * 3 * TILE},true,t", *PLAIN], {}),
    "a first record of several tiles in quotes": (['1,"' + "s,\n" * TILE + '",true,t', *QUOTED], {}),
    "a last record without an end": ([*PLAIN, "9,nine"], FAULTS),
    "quotes that do not close": ([*PLAIN, '1,"a,true', *PLAIN], FAULTS),
    "quotes where none may be": ([*PLAIN, '1,a"b,true,"c"d', *PLAIN], FAULTS),
    "lenient quotes": ([*PLAIN, '1,a"b,true,"c"d', *QUOTED, '2,"a', *PLAIN], {"lenient_quotes": True, **FAULTS}),
    "escapes": ([*PLAIN, "1,\\,,true,\\x", *PLAIN], {"escape_char": "\\"}),
    "separators of two bytes": ([line.replace(",", "||") for line in PLAIN], {"sep": "||"}),
    "spaces before fields": ([line.replace(",", ", ") for line in PLAIN], {"skip_initial_space": True}),
    "the first rows": (PLAIN * 5, {"n_rows": 41}),
    "no row": (PLAIN, {"n_rows": 0}),
    "rows behind some": (PLAIN * 5, {"skip_rows": 77}),
    "some columns": (PLAIN, {"columns": [1, 3]}),
    "a column that is not wanted": (PLAIN, {"columns": [0, 3]}),
    "row numbers": ([*PLAIN, "x,a,true,b", *PLAIN], {"row_index_name": "row", "on_error": "reject"}),
}


def same_offsets(found: headrace.Table, expected: headrace.Table) -> None:
    for name, column in expected.columns.items():
        if column.offsets is None:
            assert found[name].offsets is None
            continue
        item = np.int64 if column.type.bits == 64 else np.int32
        made, known = (np.frombuffer(memoryview(one[name].offsets), item) for one in (found, expected))
        assert made.tolist() == known.tolist(), name


def check(data: bytes, **options: Any) -> None:
    """Read on both. The results must be the same to the bit, whatever lay in the memory."""
    expected = headrace.read_csv(data, **options)
    for skew, shape in ((0, SHAPE), (5, OTHER_SHAPE), (15, SHAPE)):
        found, _ = read_on_fibers(data, skew=skew, seed=skew, shape=shape, **options)
        assert found is not None
        same_table(found, expected)
        same_offsets(found, expected)


@pytest.fixture(params=[0xEE, 0x01])
def before(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill uninitialised memory with the parameter."""
    allocate = FiberLauncher.allocate

    def poisoned(self: FiberLauncher, nbytes: int, *, fill: int | None = None) -> HostBuffer:
        return allocate(self, nbytes, fill=request.param if fill is None else fill)

    monkeypatch.setattr(FiberLauncher, "allocate", poisoned)


@pytest.mark.long_except("1-*-given")
@pytest.mark.usefixtures("before")
@pytest.mark.parametrize("inferred", [False, True], ids=["given", "inferred"])
@pytest.mark.parametrize("case", CASES)
def test_each_offset_is_written(case, inferred):
    lines, options = CASES[case]
    header = [options.get("sep", ",").join(NAMES)] if inferred else []
    end = [] if "without an end" in case else [""]
    data = "\n".join([*header, *lines, *end]).encode("utf-8", "surrogateescape")
    typed = {} if inferred else {"header": False, "schema": TYPES}
    check(data, **{"on_error": "null", **options, **typed})


@pytest.mark.parametrize("behind", [b"", b"\n", b"\r\n"])
def test_a_text_of_no_bytes(behind):
    """No kernel makes its columns."""
    check(b"", header=False, schema=TYPES)
    check(b"a,b,c,d" + behind, dtypes=dict(zip(NAMES, TYPES, strict=True)))
    check(b"a,b,c,d" + behind)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("quoted", [False, True])
def test_records_at_every_place_of_a_tile(quoted, line_end):
    """Its end is in each byte of a record once, of a short one too."""
    lines = (QUOTED if quoted else PLAIN)[:50]
    for more in range(0, 48, 3):
        data = line_end.join([f"1,{'s' * more},true,t", *lines, "2", *lines, ""]).encode()
        found, _ = read_on_fibers(data, header=False, schema=TYPES, **FAULTS)
        expected = headrace.read_csv(data, header=False, schema=TYPES, **FAULTS)
        assert found is not None
        same_table(found, expected)
        same_offsets(found, expected)


def test_bits_alone_are_filled_before(monkeypatch):
    """Initialised buffers of columns: for each expected row a bit of each column, and another of a bool."""
    take, sizes = FiberLauncher.allocate_group, []

    def noted(self, zeroed, others=(), *, ones=0):
        if ones:
            sizes.append((sum(zeroed), sum(others)))
        return take(self, zeroed, others, ones=ones)

    monkeypatch.setattr(FiberLauncher, "allocate_group", noted)
    check("\n".join([*PLAIN * 30, ""]).encode(), header=False, schema=TYPES)
    assert sizes
    for filled, others in sizes:
        rows = filled / 5 * 8
        assert len(PLAIN) * 30 <= rows < 2 * len(PLAIN) * 30
        assert others > (4 + 4 + 8) * rows * 0.9
