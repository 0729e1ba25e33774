"""Names the device that work runs on and that data lies on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from headrace.core.errors import OptionError, shown
from headrace.core.options import index_of

_KINDS = ("cpu", "cuda")
_MAX_INDEX = 1 << 16


@dataclass(frozen=True, slots=True)
class Device:
    """A device for data and work.

    Parameters
    ----------
    kind
        ``"cpu"`` or ``"cuda"``.
    index
        Number of the GPU, from 0 on.

    Examples
    --------
    >>> str(Device.parse("cpu")), Device.parse("cuda:1")
    ('cpu', Device(kind='cuda', index=1))
    """

    kind: str = "cpu"
    index: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in _KINDS:
            raise OptionError.unknown("kind", self.kind, _KINDS)
        index = index_of(self.index)
        if index is None or not 0 <= index <= _MAX_INDEX:
            raise OptionError.wrong("index", f"an integer from 0 to {_MAX_INDEX}", self.index)
        object.__setattr__(self, "index", index)

    @classmethod
    def parse(cls, device: Device | str) -> Device:
        """Return the device that a text such as ``"cpu"`` or ``"cuda:1"`` names. Whether it exists is checked on first use.

        Raises
        ------
        OptionError
            No device has that name.
        """
        return parse_device("device", device)

    def __str__(self) -> str:
        return self.kind if self.index == 0 else f"{self.kind}:{self.index}"


def parse_device(option: str, device: object) -> Device:
    """Return the device that the value of an option names; error messages call it `option`.

    Raise OptionError if the value names no device.
    """
    if not isinstance(device, Device | str):
        raise OptionError.wrong(option, "a text such as 'cpu' or 'cuda:1'", device)
    return _parsed(str(device), option)


@lru_cache(64)
def _parsed(device: str, option: str) -> Device:
    """Parse and cache a device name; each column of each batch has its device as text."""
    kind, _, index = device.partition(":")
    if kind == "cuda":
        if not ((index or "0").isdecimal() and len(index) < 6):
            raise OptionError(f"{option} {shown(device)}: GPUs have numbers, such as 'cuda:1'")
        return Device(kind, int(index or 0))
    if kind == "gpu":
        raise OptionError(f"unknown {option} {shown(device)}: a GPU is named 'cuda' or 'cuda:1'")
    if kind != "cpu":
        raise OptionError.unknown(option, kind, _KINDS)
    if index not in ("", "0"):
        raise OptionError(f"{option} {shown(device)}: there is one CPU, 'cpu'")
    return Device()
