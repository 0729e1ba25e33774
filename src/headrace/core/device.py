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
        """Return the device that a text such as ``"cpu"`` or ``"cuda:1"`` names.

        Whether the machine has such a GPU is checked when the device is first used.

        Raises
        ------
        OptionError
            The text names no device.
        """
        return parse_device("device", device)

    def __str__(self) -> str:
        return self.kind if self.index == 0 else f"{self.kind}:{self.index}"


def parse_device(option: str, device: object) -> Device:
    """Return the device that the value of an option names; error messages call it `option`.

    Raises
    ------
    OptionError
        The value names no device.
    """
    if not isinstance(device, Device | str):
        raise OptionError.wrong(option, "a text such as 'cpu' or 'cuda:1'", device)
    return _parsed(str(device), option)


@lru_cache(64)
def _parsed(device: str, option: str) -> Device:
    """Return the device of a name. Cached, because each column of each batch asks for the device that it lies on."""
    kind, _, index = device.partition(":")
    if kind == "cuda":
        if not ((index or "0").isdecimal() and len(index) < 6):
            raise OptionError(f"{option} {shown(device)}: GPUs have numbers, such as 'cuda:1'")
        return Device(kind, int(index or 0))
    if kind != "cpu":
        raise OptionError.unknown(option, kind, _KINDS)
    if index not in ("", "0"):
        raise OptionError(f"{option} {shown(device)}: there is one CPU, 'cpu'")
    return Device()
