"""The check of shared constants compares values in Python with those of the C++ that they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import shared_constants

HEADER = """\
#include "stage/base.hpp"
enum FindFlag : u32 {
    FIND_REDO = 1,    // read again
    FIND_QUOTES = 2,
    FIND_BREAK = 1 << 9
};
enum class Verdict : u8 { fails, goes_on = 4, ends };
constexpr u64 LIMIT = u64{1} << 40;
constexpr u32 NO_FIELD = ~u32{0};
struct Sums { static constexpr u32 piece = 4'096, lanes = 128; };
#define LANES (32u / 4)
constexpr u32 bytes = sizeof(Sums);
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in (("stage/gpu/task.hpp", HEADER), ("stage/base.hpp", "constexpr u32 BASE = 18;\n")):
        path = tmp_path / "src/headrace" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def found(tree: Path, code: str) -> list[str]:
    (tree / "src/headrace/stage/module.py").write_text(code)
    return [finding.message for finding in shared_constants.check(tree)]


@pytest.mark.parametrize(
    "code",
    [
        'class FindFlag(IntFlag):\n    """FindFlag of task.hpp."""\n\n    REDO = 1\n    BREAK = 512\n',
        "FAILS, GOES_ON, ENDS = 0, 4, 5  # Verdict of gpu/task.hpp",
        'VERDICTS = {"fails": 0, "ends": 5}  # Verdict of task.hpp',
        "_BREAK = 512  # FIND_BREAK of task.hpp",
        "MAX_BYTES = 1 << 40  # most bytes: LIMIT of task.hpp",
        'NONE = 0xFFFFFFFF\n"""No field: NO_FIELD\nof task.hpp."""',
        "PIECE = 4096  # `piece` of task.hpp",
        "LANES = 8  # LANES of task.hpp",
        'SIGNS = ("-", "+", "*")  # Verdict of task.hpp',
        "OTHER = 3  # bytes of a thread of other.hpp, which is prose",
        'def f():\n    """Return the bytes of a Sums of task.hpp."""',
    ],
)
def test_equal_values_and_prose_are_no_findings(tree: Path, code: str) -> None:
    assert found(tree, code) == []


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            'class Flag(IntFlag):\n    """FindFlag of task.hpp."""\n\n    REDO = 2\n',
            "REDO is 2, but 1 in FindFlag of task.hpp",
        ),
        ('class Flag(IntFlag):\n    """FindFlag of task.hpp."""\n\n    OTHER = 4\n', "FindFlag of task.hpp has no OTHER"),
        ('VERDICTS = ("fails", "goes_on", "ends")\n"""Verdict of task.hpp."""', "goes_on is 1, but 4 in Verdict of task.hpp"),
        ("MAX_BYTES = 1 << 41  # LIMIT of task.hpp", "MAX_BYTES is 2199023255552, but 1099511627776 in LIMIT of task.hpp"),
        ("PIECE = 128  # `piece` of task.hpp", "PIECE is 128, but 4096 in piece of task.hpp"),
        ('SIGNS = ("-", "+")  # Verdict of task.hpp', "Verdict of task.hpp has no -"),
        ("GONE = 1  # GONE of task.hpp", "GONE of task.hpp is no enumeration and no constant that can be read (no GONE)"),
        ("SIZE = 8  # `bytes` of task.hpp", "bytes of task.hpp is no enumeration and no constant that can be read (no Sums)"),
        ("LIMIT = 1  # LIMIT of gone.hpp", "gone.hpp is not the end of one path: no such file"),
    ],
)
def test_other_values_and_missing_sources_are_found(tree: Path, code: str, message: str) -> None:
    assert found(tree, code) == [message]


def test_constants_of_included_headers_are_known(tree: Path) -> None:
    header = tree / "src/headrace/stage/gpu/task.hpp"
    header.write_text('#include "stage/base.hpp"\nconstexpr u32 SIGHTINGS = BASE + 2;\n')
    assert found(tree, "SIGHTINGS = 20  # SIGHTINGS of task.hpp") == []
    assert found(tree, "SIGHTINGS = 18  # SIGHTINGS of task.hpp") == ["SIGHTINGS is 18, but 20 in SIGHTINGS of task.hpp"]
