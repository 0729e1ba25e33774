"""find_tiles on a GPU against an automaton read byte by byte: every form, chosen from the bytes."""

from __future__ import annotations

import numpy as np
import pytest

from headrace import Dialect
from headrace.core.crossings import Crossings
from headrace.core.staging import staging
from headrace.structure.find_gpu import TILE_BYTES, find_tiles
from headrace.structure.gpu_tables import ENTRY
from tests.structure.test_find_kernels_differential import expected_entries, expected_totals

pytestmark = pytest.mark.gpu

PLAIN = b"a,bc,\r\n\r\n1,22,333\n" * 8000
QUOTED = PLAIN[:70_000] + b'"x,""y""\n' + b"long " * 9000 + b'",z\n' + PLAIN
CASES = [
    (PLAIN, Dialect(), "bare"),
    (PLAIN, Dialect(quote=None, skip_blank_lines=False), "bare"),
    (QUOTED, Dialect(), "quoted"),
    (QUOTED, Dialect(comment="1"), "steps"),
    (PLAIN + b"#,\\\n,x", Dialect(comment="#", escape="\\"), "steps"),
    (PLAIN, Dialect(sep="||", line_end="\r\n"), "steps"),
    (b"", Dialect(), "bare"),
]


@pytest.mark.parametrize(("data", "dialect", "form"), CASES)
def test_entries(data: bytes, dialect: Dialect, form: str) -> None:
    found = find_tiles(data, dialect)
    assert found is not None
    totals, used = found.read()
    assert used == form
    names = ("records", "fields", "blank_lines", "comments", "flags")
    assert tuple(int(totals[name]) for name in names) == expected_totals(data, dialect)
    entries = np.empty(found.tiles + 1, ENTRY)
    staging(found.entries.gpu).download(found.entries, entries.view("u1"), counted=Crossings())
    quoted = dialect.automaton.quoted
    states = [entry["state"] in quoted if form == "steps" else bool(entry["state"]) for entry in entries]
    got = [(*entry.item()[:4], state, bool(entry["open"])) for entry, state in zip(entries, states, strict=True)]
    assert got == expected_entries(data, dialect, TILE_BYTES, found.skew)


def test_what_no_form_reads() -> None:
    assert find_tiles(b"a,b\n", Dialect(lenient=True)) is None
    assert find_tiles(b"a,b\n", Dialect(sep="aabaabab")) is None
