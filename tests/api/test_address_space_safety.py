"""Tests reads in a process with little address space (`ulimit -v`): the same table as elsewhere, or an error with a remedy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from headrace.columns.plan.native_errors import out_of_memory

PROGRAM = """
import hashlib, resource, sys
import headrace

def digest(table):
    made = hashlib.sha256(repr((table.schema, table.num_rows, len(table.rejects))).encode())
    for column in table.columns.values():
        for buffer in (column.values, column.validity, column.offsets):
            made.update(b"none" if buffer is None else memoryview(buffer))
    return made.hexdigest()

path, how, more = sys.argv[1], sys.argv[2], int(sys.argv[3])
options = {"on_error": "null", "threads": 2}
headrace.read_csv(b"a,b\\n1,x\\n", threads=2)
if more:
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (more << 20), -1))
try:
    if how == "again":
        headrace.read_csv(path, **options)
    if how == "files":
        found = digest(headrace.read_csv([path, path], **options))
    elif how == "stream":
        found = sum(batch.num_rows for batch in headrace.scan_csv(path, **options))
    else:
        found = digest(headrace.read_csv(path, **options))
    print(found)
except headrace.MemoryLimitError as error:
    print("MemoryLimitError", error)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 MB in 0.5 million records, of which the bound on the columns allows for 20 million: 0.5 GB, and 70 MB are needed."""
    made = tmp_path_factory.mktemp("address_space") / "long.csv"
    made.write_bytes(b"a,b,c\n" + (b"1," + b"text " * 40 + b",2.5\n,x,\n") * 280_000 + b"z,x,1\n")
    return made


def ran(path: Path, how: str, more: int) -> str:
    command = [sys.executable, "-c", PROGRAM, str(path), how, str(more)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


@pytest.mark.covering(default=0)
@pytest.mark.long_except("read-*", "stream-*")
@pytest.mark.parametrize(("how", "more"), [("read", 400), ("again", 400), ("files", 500), ("stream", 400)])
def test_little_address_space(path: Path, how: str, more: int) -> None:
    """The bounds of the columns do not fit, the columns do."""
    assert ran(path, how, more) == ran(path, how, 0)


def test_too_little_address_space(path: Path) -> None:
    said = ran(path, "read", 40)
    assert said.startswith("MemoryLimitError the system refused")
    assert "ulimit -v" in said and "scan_csv" in said and "bad_alloc" not in said


@pytest.mark.parametrize("said", ["", "the system refused 64 bytes of memory"])
def test_the_error_says_what_to_do(said: str) -> None:
    text = str(out_of_memory(said))
    assert text.startswith("the system refused") and "scan_csv" in text and "bad_alloc" not in text


def test_a_limit_is_not_blamed_on_the_system() -> None:
    assert "ulimit" not in str(out_of_memory("the result needs more than memory_limit = 5 bytes"))
