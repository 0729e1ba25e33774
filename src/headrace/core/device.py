"""Where work runs and results lie."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from headrace.core.errors import OptionError, shown
from headrace.core.options import index_of

_KINDS = ("cpu", "cuda")
_MOST_CARDS = 1 << 16


@dataclass(frozen=True, slots=True)
class Device:
    """A place for data and work.

    Parameters
    ----------
    kind
        ``"cpu"`` or ``"cuda"``.
    index
        Which one, where there are several.

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
        if index is None or not 0 <= index <= _MOST_CARDS:
            raise OptionError.wrong("index", f"an integer from 0 to {_MOST_CARDS}", self.index)
        object.__setattr__(self, "index", index)

    @classmethod
    def parse(cls, device: Device | str) -> Device:
        """Device of a text such as ``"cpu"`` or ``"cuda:1"``; whether there is such a card shows when it is used.

        Raises
        ------
        OptionError
            Nothing is called that.
        """
        if not isinstance(device, Device | str):
            raise OptionError.wrong("device", "a text such as 'cpu' or 'cuda:1'", device)
        return _parsed(str(device))

    def __str__(self) -> str:
        return self.kind if self.index == 0 else f"{self.kind}:{self.index}"


@lru_cache(64)
def _parsed(device: str) -> Device:
    """Kept: each column of each batch is asked where it lies, and says so in words."""
    kind, _, index = device.partition(":")
    if kind == "cuda":
        if not ((index or "0").isdecimal() and len(index) < 6):
            raise OptionError(f"device {shown(device)}: cards have numbers, such as 'cuda:1'")
        return Device(kind, int(index or 0))
    if kind != "cpu":
        raise OptionError.unknown("device", kind, _KINDS)
    if index not in ("", "0"):
        raise OptionError(f"device {shown(device)}: there is one CPU, 'cpu'")
    return Device()
