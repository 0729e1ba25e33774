"""find_tiles against an automaton read byte by byte: each variant, chosen by the bytes, under the fiber harness and on a GPU."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headrace import Dialect
from headrace.gpu.kernels.launcher import Launcher
from headrace.structure.gpu.dialect_tables import TILE_START, FindFlag
from headrace.structure.gpu.find import find_tiles
from headrace.structure.gpu.launches import BufferSizes, SearchTuning
from headrace.testing.fibers.launcher import FiberLauncher
from tests.structure.gpu.find_kernels_cases import check_returns, expected_entries, expected_totals, without_breaks

pytestmark = pytest.mark.fibers

SMALL = SearchTuning(threads=32, rows=2, blocks=1, scan_threads=32)


def cases(size: int) -> list[tuple[bytes, Dialect, str]]:
    """(text, dialect, the variant that reads it); texts of a few times `size` bytes."""
    line = b"a,bc,\r\n\r\n1,22,333\n"
    plain = line * (size // 19)
    quoted = line * (size // 38) + b'"x,""y""\n' + b"long " * (size // 9) + b'",z\n' + plain
    return [
        (plain, Dialect(), "unquoted"),
        (plain, Dialect(quote_char=None, skip_blank_lines=False), "unquoted"),
        (quoted, Dialect(), "quoted"),
        (quoted, Dialect(comment="1"), "dfa"),
        (plain + b"#,\\\n,x", Dialect(comment="#", escape_char="\\"), "dfa"),
        (plain, Dialect(sep="||", lineterminator="\r\n"), "dfa"),
        (plain.replace(b",", b"aabaabab"), Dialect(sep="aabaabab"), "dfa"),
        (b"#,~~~~~\n" + quoted.replace(b"\r\n", b"~~~~!"), Dialect(lineterminator="~~~~!", comment="#"), "dfa"),
        (b"", Dialect(sep="aabaabab"), "dfa"),
        (b"", Dialect(), "unquoted"),
    ]


def check(launcher: Launcher, data: bytes, dialect: Dialect, variant: str, shape: SearchTuning) -> None:
    text = launcher.put(np.frombuffer(data, np.uint8))
    found = find_tiles(launcher, text, dialect, shape, BufferSizes((16, 5), (7,)))
    assert launcher.waits == 0
    totals = launcher.fetch(found.totals)
    answer, used = found.answer(totals)
    assert used == variant and bytes(totals[-16:]) == bytes(16)
    assert [buffer.nbytes for buffer in found.extra] == [5, 7] and bytes(launcher.fetch(found.extra[0])) == bytes(5)
    names = ("records", "fields", "blank_lines", "comments", "flags")
    check_returns(data, dialect, answer["flags"] if variant != "dfa" else FindFlag.REDO)
    answer["flags"] &= ~FindFlag.RETURN
    counts = tuple(answer[name] for name in names)
    assert without_breaks(data, dialect, counts) == expected_totals(data, dialect)
    entries = launcher.fetch(found.entries).view(TILE_START)
    quoted = dialect.automaton.quoted
    states = [entry["state"] in quoted if variant == "dfa" else bool(entry["state"]) for entry in entries]
    got = [(*entry.item()[:4], state, bool(entry["open"])) for entry, state in zip(entries, states, strict=True)]
    assert got == expected_entries(data, dialect, shape.tile, text.address % 16)


@pytest.mark.parametrize("place", [0, 500, 1999])
def test_text_that_masks_misread(place: int) -> None:
    """A quote that is text makes the quoted variant report it, wherever it is; the automaton reads the text."""
    text, dialect = b"a,bc,\n1,22,333\n" * 200, Dialect()
    data = text[:place] + b'x"y' + text[place:]
    launcher = FiberLauncher("random")
    found = find_tiles(launcher, launcher.put(np.frombuffer(data, np.uint8)), dialect, SMALL, has_quotes=bool(place % 2))
    answer, variant = found.answer(launcher.fetch(found.totals))
    assert found.misread(answer, variant)
    check(FiberLauncher("random"), data, dialect, "dfa", replace(SMALL, only_dfa=True))


@pytest.mark.covering(default=2)
@pytest.mark.parametrize(("data", "dialect", "variant"), cases(2000))
@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_entries_under_the_harness(data: bytes, dialect: Dialect, variant: str, order: str) -> None:
    check(FiberLauncher(order), data, dialect, variant, SMALL)


@pytest.mark.gpu
@pytest.mark.parametrize(("data", "dialect", "variant"), cases(150_000))
def test_entries_on_a_gpu(data: bytes, dialect: Dialect, variant: str) -> None:
    from headrace.core.context import Context
    from headrace.gpu.device.device import gpu
    from headrace.gpu.kernels.launcher import GpuLauncher

    launcher = GpuLauncher(gpu(), stream=None, budget=Context().new_budget(), crossings=Context().crossings)
    with launcher.current():
        check(launcher, data, dialect, variant, SearchTuning())
