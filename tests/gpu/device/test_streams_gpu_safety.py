"""Calls from many threads and streams, beside other programs' kernels, end; and they change no thread's current device."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

import headrace

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).parents[3]


def test_a_minute_beside_other_kernels() -> None:
    pytest.importorskip("cupy")
    command = [sys.executable, "-m", "tests.gpu.device.stress_streams", "60"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_memory_of_a_stream_that_is_gone() -> None:
    cp = pytest.importorskip("cupy")
    text = b"a,b\n1,x\n2,y\n" * 2000
    for _ in range(20):
        with cp.cuda.Stream(non_blocking=True):
            table = headrace.read_csv(cp.frombuffer(text, cp.uint8))
            keys = headrace.sort(headrace.read_csv(b"a\n3\n1\n", device="cuda")["a"])
        gc.collect()  # the stream is destroyed
        assert len(table) == 5999
        assert keys.to_pylist() == [1, 3]
        del table, keys
        gc.collect()
    assert headrace.read_csv(text, device="cuda")["b"].to_pylist()[:2] == ["x", "y"]


class TestTwoCards:
    """Work on the second card, while the first one, or none, is current."""

    @pytest.fixture(autouse=True)
    def torch(self):
        torch = pytest.importorskip("torch")
        if torch.cuda.device_count() < 2:
            pytest.skip("this machine has one GPU")
        with torch.cuda.device(0):
            yield torch

    def test_calls_leave_the_current_device(self, torch) -> None:
        keys = torch.randint(0, 1000, (100_000,), dtype=torch.int32, device="cuda:1")
        text = torch.frombuffer(bytearray(b"a,b\n1,x\n2,y\n"), dtype=torch.uint8).to("cuda:1")
        calls = {
            "sort": lambda: headrace.sort(keys),
            "argsort": lambda: headrace.argsort(keys),
            "sort_pairs": lambda: headrace.sort_pairs(keys, keys),
            "scan": lambda: headrace.scan(keys),
            "reduce": lambda: headrace.reduce(keys),
            "select": lambda: headrace.select(keys, keys > 5),
            "histogram": lambda: headrace.bucket_counts(keys, 16, range=(0, 1000)),
            "multisplit": lambda: headrace.multisplit(keys, headrace.buckets.modulo(7)),
            "top_k": lambda: headrace.top_k(keys, 9),
            "unique": lambda: headrace.unique(keys),
            "searchsorted": lambda: headrace.searchsorted(keys, keys),
            "bincount": lambda: headrace.bincount(keys),
            "take": lambda: headrace.take(keys, keys),
            "float scan": lambda: headrace.cumsum(keys.double()),
            "filter": lambda: headrace.read_csv(text).filter(headrace.col("a") > 1),
            "partition": lambda: headrace.read_csv(text).partition_by_hash("a", 4),
            "read_csv": lambda: headrace.read_csv(text),
            "one column to the host": lambda: headrace.read_csv(text)["b"].to("cpu"),
            "scan_csv": lambda: headrace.scan_csv(text).read(),
            "scan_csv, filtered": lambda: headrace.scan_csv(text).where(headrace.col("a") > 1).read(),
            "read views": lambda: headrace.read_csv(text, strings="view").to("cpu"),
            "from the host": lambda: headrace.read_csv(b"a\n1\n", device="cuda:1").to("cpu"),
            "scan from the host": lambda: headrace.scan_csv(b"a\n1\n", device="cuda:1").read(),
            "dlpack": lambda: torch.from_dlpack(headrace.read_csv(b"a\n1\n", device="cuda:1")["a"]),
        }
        for name, call in calls.items():
            made = call()
            assert torch.empty(1, device="cuda").device.index == 0, name
            del made
            gc.collect()
            assert torch.empty(1, device="cuda").device.index == 0, f"{name}, memory given back"
