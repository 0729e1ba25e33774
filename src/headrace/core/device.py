"""Where work runs and results lie."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from headrace.core.errors import OptionError


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

    @classmethod
    def parse(cls, device: Device | str) -> Device:
        """Device of a text such as ``"cpu"`` or ``"cuda:1"``; whether there is such a card shows when it is used.

        Raises
        ------
        OptionError
            Nothing is called that.
        """
        if not isinstance(device, Device | str):
            raise OptionError(f"device must be a text such as 'cpu', not {device!r}")
        return _parsed(str(device))

    def __str__(self) -> str:
        return self.kind if self.index == 0 else f"{self.kind}:{self.index}"


@lru_cache(64)
def _parsed(device: str) -> Device:
    """Kept: each column of each batch is asked where it lies, and says so in words."""
    kind, _, index = device.partition(":")
    if kind == "cuda":
        if not (index or "0").isdecimal():
            raise OptionError(f"device {device!r}: cards have numbers, such as 'cuda:1'")
        return Device(kind, int(index or 0))
    if kind != "cpu":
        raise OptionError.unknown("device", kind, ("cpu", "cuda"))
    if index not in ("", "0"):
        raise OptionError(f"device {device!r}: there is one CPU, 'cpu'")
    return Device()
