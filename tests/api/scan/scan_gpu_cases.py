"""Runs scans under the fiber harness, with two buffers of the host in place of a GPU's."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

import headrace
from headrace.api.scan import scan_state
from headrace.api.scan.scan_gpu import GpuParts, obstacle_to_gpu
from headrace.columns.load.gpu.load_text import TextLoads
from headrace.gpu.kernels.launcher import DeviceBuffer
from headrace.gpu.memory.pinned import HostText
from headrace.testing.fibers.launcher import FiberLauncher, HostBuffer
from tests.api.outcomes import outcome
from tests.columns.load.load_gpu_cases import SHAPE, view_of


class FiberBuffers:
    """Two buffers of the host, with a record of the operations on each part's text."""

    copied_by = "the test"
    notes: list[tuple[str, int]] = []  # noqa: RUF012  # of the last scan

    def __init__(self, source: Any = None) -> None:
        self._free = threading.Semaphore(2)
        self._launcher = FiberLauncher()
        self._buffers: dict[int, int] = {}
        self._held: dict[int, HostBuffer] = {}
        FiberBuffers.notes = []

    def send(self, text: HostText, part: range) -> DeviceBuffer:
        self._free.acquire()
        self.notes.append(("fill", part.start))
        buffer = self._launcher.allocate(len(part))
        text.read_into(part.start, len(part), buffer.address, 2)
        time.sleep(0.001)
        self._buffers[id(buffer)] = part.start
        self._held[id(buffer)] = buffer
        self.notes.append(("filled", part.start))
        return buffer

    def hold(self, buffer: DeviceBuffer) -> FiberLauncher:
        self.notes.append(("parse", self._buffers[id(buffer)]))
        return self._launcher

    def free(self, buffer: DeviceBuffer) -> None:
        self.notes.append(("parsed", self._buffers.pop(id(buffer))))
        array = self._held.pop(id(buffer)).array
        array[:] = 0xEE  # a later reader would see this
        self._free.release()

    def shrink(self) -> None:
        assert not self._buffers
        self.notes.append(("shrink", 0))

    def close(self) -> None:
        assert not self._buffers


def run_on_fibers(monkeypatch: pytest.MonkeyPatch, buffers: Any) -> None:
    def parts(plans: Any, files: Any, options: Any, cut: Any) -> Any:
        assert obstacle_to_gpu(files, options) == ""
        loads = TextLoads(options.dialect, lambda _: view_of, tuning=SHAPE)
        return GpuParts(plans, files, options, cut, buffers=buffers, loads=loads), "fibers"

    monkeypatch.setattr(scan_state, "parts_of", parts)


@pytest.fixture
def on_fibers(monkeypatch: pytest.MonkeyPatch) -> None:
    run_on_fibers(monkeypatch, FiberBuffers)


def check(data: Any, batch_bytes: int, **options: Any) -> headrace.Table:
    expected = outcome(lambda: headrace.read_csv(data, **options))
    made: list[headrace.Table] = []

    def scanned() -> headrace.Table:
        made.append(headrace.scan_csv(data, batch_bytes=batch_bytes, **options).read())
        return made[-1]

    assert outcome(scanned) == expected
    return made[-1] if made else headrace.Table({})
