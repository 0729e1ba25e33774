"""Tests the plots of docs/benchmarks.md: each is that of its command, and has the rates of the result."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.lines import threads
from headrace.cli.bench.lines import picture

ROOT = Path(__file__).parents[2]
PAGE = re.sub(r" \\\n *", " ", (ROOT / "docs/benchmarks.md").read_text())
"""The page, with the lines of each command joined."""
COMMANDS = re.findall(r"^python (-m bench\S* .*) (docs/img/\S+\.svg)$", PAGE, re.MULTILINE)
SVG = "{http://www.w3.org/2000/svg}"


def test_every_plot_of_the_page_has_its_command() -> None:
    shown = re.findall(r"\]\((img/\S+\.svg)\)", PAGE)
    assert sorted(f"docs/{name}" for name in shown) == sorted(target for _, target in COMMANDS)
    assert len(COMMANDS) == 11


@pytest.mark.parametrize(("command", "target"), COMMANDS, ids=lambda one: one.rsplit("/", 1)[-1])
def test_a_plot_is_that_of_its_command(command: str, target: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, *command.split(), tmp_path / "plot.svg"], cwd=ROOT, check=True)
    assert (tmp_path / "plot.svg").read_bytes() == (ROOT / target).read_bytes()


def test_lines_have_a_point_for_each_number_of_threads() -> None:
    rows = [{"threads": count, "first": count / 2, "best": float(count)} for count in (1, 2, 4)]
    results = {"results": [{"case": "taxi", "file_bytes": 10**9, "rows": rows}]}
    drawn = ElementTree.fromstring(picture(threads(json.loads(json.dumps(results))), "4 cores"))
    points = [line.attrib["points"].split() for line in drawn.iter(f"{SVG}polyline")]
    assert [len(line) for line in points] == [3, 3, 3]
    assert points[0] == points[1]  # later reads are in proportion here
    heights = [float(point.split(",")[1]) for line in (points[0], points[2]) for point in line]
    assert heights[0] == heights[4]  # one thread's best is the first read of two
    assert {"1", "2", "4", "later reads", "first read", "in proportion"} <= {text.text for text in drawn.iter(f"{SVG}text")}
