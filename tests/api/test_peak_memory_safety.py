"""Tests the peak memory of reads, each in its own process: the result, a few MB a thread, and the README's other terms.

README: peak memory is that of the result (1.1 times, and 10 MB for each thread). String views and dictionaries add the plain form
of one column. A text whose one field is longer than a tile adds three times the field. Each fault takes 0.3 KB at most.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

MB = 1 << 20
READ = """
import json, sys
from pathlib import Path
import headrace

def memory():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024

def size(column):
    data = column.data if isinstance(column.data, (list, tuple)) else [column.data]
    own = sum(memoryview(part).nbytes for part in (column.values, column.offsets, column.validity, *data) if part is not None)
    return own + (size(column.dictionary) if column.dictionary is not None else 0)

options = json.loads(sys.argv[2])
headrace.read_csv(b"a,b\\nx,1\\n", dtypes={"b": "int64"}, threads=2)
Path("/proc/self/clear_refs").write_text("5")
before = memory()
table = headrace.read_csv(sys.argv[1], threads=2, **options)
peak = memory() - before
print(json.dumps({"peak": peak, "result": sum(map(size, table.columns.values())), "faults": table.report.faults}))
"""


def measured(path: Path, text: bytes, **options: Any) -> dict[str, int]:
    path.write_bytes(text)
    command = [sys.executable, "-c", READ, str(path), json.dumps(options)]
    found: dict[str, int] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


@pytest.mark.parametrize(
    "text",
    [
        b"a\n" + b"1\n" * 8_000_000,
        b"a,b,c\n" + b"123456,7890123,45678\n" * 1_500_000,
        b"a,b\n" + b"a text of a few words,1\n" * 10**6,
    ],
    ids=["digits", "integers", "texts"],
)
def test_plain_columns_take_the_result(tmp_path: Path, text: bytes) -> None:
    found = measured(tmp_path / "a.csv", text)
    assert found["result"] > 20 * MB
    assert found["peak"] < 1.1 * found["result"] + 20 * MB


@pytest.mark.parametrize("strings", ["view", "dictionary"])
def test_other_forms_of_texts_take_one_plain_column_beside(tmp_path: Path, strings: str) -> None:
    columns, rows = 8, 400_000
    text = b"a,b,c,d,e,f,g,h\n" + (b",".join([b"a text of 24 bytes in all"] * columns) + b"\n") * rows
    found = measured(tmp_path / "a.csv", text, strings=strings)
    plain = len(text) + 4 * columns * rows
    assert found["peak"] < (plain + 20 * MB if strings == "dictionary" else 1.1 * (found["result"] + plain / columns) + 20 * MB)


def test_one_long_field_is_held_three_times(tmp_path: Path) -> None:
    size = 100 * MB
    found = measured(tmp_path / "a.csv", b"a\n" + b"x" * size + b"\n")
    assert found["peak"] < 3.2 * size + 20 * MB


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (b"a\n" + b"x\n" * 500_000, {"dtypes": "int64", "on_error": "reject"}),
        (b"a\n" + b"x\n" * 500_000, {"dtypes": "int64", "on_error": "null"}),
        (b"a\n" + b"1,2\n" * 500_000, {"on_error": "reject"}),
        (
            b"a,b,c\n" + b"x,y,text of thirty-two bytes in all.\n" * 250_000,
            {"dtypes": {"a": "int8", "b": "int8"}, "on_error": "null"},
        ),
    ],
    ids=["values", "kept", "structure", "two in a record"],
)
def test_faults_take_a_few_hundred_bytes_each(tmp_path: Path, text: bytes, options: dict[str, Any]) -> None:
    found = measured(tmp_path / "a.csv", text, **options)
    assert found["faults"] == 500_000
    assert found["peak"] < 300 * found["faults"] + 20 * MB


@pytest.mark.parametrize("on_error", ["null", "reject"])
def test_faults_beyond_the_limit_take_no_memory(tmp_path: Path, on_error: str) -> None:
    text = b"a\n" + b"x\n" * 4_000_000
    found = measured(tmp_path / "a.csv", text, dtypes="int64", on_error=on_error, max_rejects=1000)
    assert found["faults"] == 4_000_000
    # Records of two bytes need the most working memory: 7 MB a thread, which huge pages round up. It is kept until the end.
    assert found["peak"] < 1.2 * found["result"] + 25 * MB
