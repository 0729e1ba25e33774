"""Where work runs and results lie."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.core.errors import OptionError, UnsupportedDeviceError


@dataclass(frozen=True, slots=True)
class Device:
    """A place for data and work.

    Parameters
    ----------
    kind
        ``"cpu"``; ``"cuda"`` is understood, and refused as long as this build has no GPU part.
    index
        Which one, where there are several.

    Examples
    --------
    >>> str(Device.parse("cpu"))
    'cpu'
    """

    kind: str = "cpu"
    index: int = 0

    @classmethod
    def parse(cls, device: Device | str) -> Device:
        """Device of a text such as ``"cpu"`` or ``"cuda:1"``.

        Raises
        ------
        OptionError
            Nothing is called that.
        UnsupportedDeviceError
            It is a GPU.
        """
        if isinstance(device, Device):
            return cls.parse(str(device))
        if not isinstance(device, str):
            raise OptionError(f"device must be a text such as 'cpu', not {device!r}")
        kind, _, index = device.partition(":")
        if kind == "cuda":
            raise UnsupportedDeviceError("this build of headrace has no GPU part; use device='cpu'")
        if kind != "cpu":
            raise OptionError.unknown("device", kind, ("cpu",))
        if index not in ("", "0"):
            raise OptionError(f"device {device!r}: there is one CPU, 'cpu'")
        return cls()

    def __str__(self) -> str:
        return self.kind if self.index == 0 else f"{self.kind}:{self.index}"
