"""Tests files read by a card itself, through a stand-in with KvikIO's interface: the requests, and errors."""

from __future__ import annotations

import ctypes
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from headrace import SourceError
from headrace.core.context import Context
from headrace.gpu.device import event
from headrace.gpu.memory import pinned
from headrace.gpu.transfer import direct_storage
from headrace.gpu.transfer.direct_storage import direct_file
from headrace.sources import text_buffers
from headrace.sources.open import open_source
from headrace.sources.stream import TextStream
from headrace.sources.text_buffers import CardBuffers
from tests.gpu.memory.pinned_cases import LazyDriver
from tests.gpu.transfer.send_cases import LazyCard


class CuFile:
    """Reads into memory of the host, which the tests take for a card's."""

    opened: list[CuFile] = []  # noqa: RUF012

    def __init__(self, file: str, flags: str = "r") -> None:
        assert flags == "r"
        self._file = Path(file).open("rb")  # noqa: SIM115  # closed by `close`
        self.opened.append(self)

    @property
    def closed(self) -> bool:
        return self._file.closed

    def pread(self, buf: Any, size: int | None = None, file_offset: int = 0, task_size: int | None = None) -> Any:
        told = buf.__cuda_array_interface__
        assert told["typestr"] == "|u1"
        assert size is not None
        self._file.seek(file_offset)
        data = self._file.read(size)
        assert len(data) <= told["shape"][0]
        ctypes.memmove(told["data"][0], data, len(data))
        return SimpleNamespace(get=lambda: len(data))

    def close(self) -> None:
        self._file.close()


def install(monkeypatch: pytest.MonkeyPatch, *, gds: bool = True) -> None:
    package, properties = ModuleType("kvikio"), ModuleType("kvikio.cufile_driver")
    package.CuFile = CuFile  # type: ignore[attr-defined]
    properties.get = {"is_gds_available": gds}.__getitem__  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "kvikio", package)
    monkeypatch.setitem(sys.modules, "kvikio.cufile_driver", properties)
    monkeypatch.setattr(CuFile, "opened", [])


def test_only_where_the_machine_has_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    assert direct_file(None) is None
    monkeypatch.setitem(sys.modules, "kvikio", None)
    assert direct_file(str(path)) is None
    install(monkeypatch, gds=False)
    assert direct_file(str(path)) is None
    install(monkeypatch)
    assert direct_file(None) is None
    assert isinstance(direct_file(str(path)), direct_storage.DirectFile)


def test_a_file_that_shrinks_or_fails_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch)
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    file = direct_file(str(path))
    assert file is not None
    memory = np.zeros(10, np.uint8)
    file.read(range(2, 10), memory.ctypes.data)
    assert memory.tobytes() == b"23456789\0\0"
    with pytest.raises(SourceError, match=r"shrank while it was read: it has no bytes behind 10"):
        file.read(range(5, 12), memory.ctypes.data)

    def fails(*_: Any) -> Any:
        raise RuntimeError("no such device")

    monkeypatch.setattr(CuFile, "pread", fails)
    with pytest.raises(SourceError, match="cannot be read by the GPU: no such device"):
        file.read(range(1), memory.ctypes.data)


PINNED: set[int] = set()


class EagerCard(LazyCard):
    """A card that copies as soon as a copy is enqueued."""

    def copy(self, target: int, memory: int, count: int, stream: int) -> int:
        ctypes.memmove(target, memory, count)
        return 0


@pytest.fixture
def buffers(monkeypatch: pytest.MonkeyPatch) -> CardBuffers:
    """Those of a card whose memory is the host's."""
    lazy = LazyDriver()
    lazy.CUpointer_attribute = SimpleNamespace(CU_POINTER_ATTRIBUTE_MEMORY_TYPE=2)  # type: ignore[attr-defined]
    lazy.CUmemorytype = SimpleNamespace(CU_MEMORYTYPE_HOST=1)  # type: ignore[attr-defined]
    lazy.cuPointerGetAttribute = lambda asked, address: (0, 1) if address in PINNED else (1, 0)  # type: ignore[attr-defined]
    card: Any = SimpleNamespace(index=0, stream=9, device="cuda", context=1, current=nullcontext)
    eager = EagerCard()
    monkeypatch.setattr(pinned, "card_calls", lambda: eager.calls)
    for module in (event, pinned):
        monkeypatch.setattr(module, "driver", lambda: lazy)
    held: list[Any] = []

    def take(nbytes: int, stream: int, budget: Any) -> Any:
        held.append(np.full(nbytes, 0xEE, np.uint8))
        return SimpleNamespace(address=held[-1].ctypes.data, nbytes=nbytes, close=lambda: None)

    monkeypatch.setattr(text_buffers, "gpu", lambda device: card)
    monkeypatch.setattr(text_buffers, "device_pool", lambda card: SimpleNamespace(take=take))
    monkeypatch.setattr(pinned, "idle_rings", {})
    return CardBuffers(Context())


def sent(buffers: CardBuffers, source: Any) -> bytes:
    with open_source(source) as opened:
        text = TextStream(opened)
        buffer = buffers.send(text, range(1, text.reach(1 << 20)[0]))
        slot = buffers._by_buffer[id(buffer)]
        if slot.sent is None:
            slot.filled.wait()
        else:
            assert slot.sent.wait() == 0
        return ctypes.string_at(buffer.address, buffer.nbytes)


def test_buffers_are_filled_from_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, buffers: CardBuffers) -> None:
    install(monkeypatch)
    path = tmp_path / "file"
    path.write_bytes(b"abc\n1,2,3\n")
    assert sent(buffers, path) == b"bc\n1,2,3\n"
    assert buffers.copied_by == "the GPU, from the file (KvikIO)"
    assert not CuFile.opened[0].closed
    buffers.close()
    assert CuFile.opened[0].closed


def test_bytes_in_memory_are_no_file(monkeypatch: pytest.MonkeyPatch, buffers: CardBuffers) -> None:
    install(monkeypatch)
    assert sent(buffers, b"abc\n1,2,3\n") == b"bc\n1,2,3\n"
    assert buffers.copied_by == "threads, through pinned memory"
    assert not CuFile.opened


def test_pinned_memory_is_read_by_the_card_alone(monkeypatch: pytest.MonkeyPatch, buffers: CardBuffers) -> None:
    text = np.frombuffer(bytearray(b"abc\n1,2,3\n"), np.uint8)
    monkeypatch.setattr(sys.modules[__name__], "PINNED", {text.ctypes.data})
    assert sent(buffers, text) == b"bc\n1,2,3\n"
    assert buffers.copied_by == "the GPU, from pinned memory"
