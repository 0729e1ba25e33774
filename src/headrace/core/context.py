"""What a call may use: device, threads, memory, instruction set. There is no other global state."""

from __future__ import annotations

from dataclasses import dataclass, field

from headrace import _native
from headrace.core.budget import Budget
from headrace.core.device import Device
from headrace.core.errors import OptionError
from headrace.core.options import instance, positive
from headrace.core.transfers import Crossings

_MOST_THREADS = 1024
_LONGEST_ISA = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Resources of a call; pass one as ``context=`` or let the default serve.

    Parameters
    ----------
    device
        Where the work runs if its input is on the host: ``Context(device="cuda")`` takes it to a GPU and leaves the result there.
        What lies on a GPU is worked on there.
    threads
        At most so many threads; None for all cores that the process may use.
    memory_limit
        Bytes that the result of one call may take, its working memory of about 4 MB a thread not counted; on a GPU, the result
        and copies of inputs and tables, but not the little that the launches of a stream share. None for no limit. What does not
        fit raises `MemoryLimitError`, and all that was taken is given back.
    isa
        Instruction set of the CPU kernels: ``"avx512"``, ``"avx2"`` or ``"scalar"``; empty for the best that the machine has, or
        the one that the environment variable ``HEADRACE_ISA`` names. The answer is the same with each.
    crossings
        Where bytes that go between host and GPU are counted, for all calls with this context.

    Examples
    --------
    >>> Context(threads=1).threads
    1
    >>> Context(device="cuda:1").device
    Device(kind='cuda', index=1)
    """

    device: Device = field(default_factory=Device)
    threads: int | None = None
    memory_limit: int | None = None
    isa: str = ""
    crossings: Crossings = field(default_factory=Crossings, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "device", Device.parse(self.device))
        if not isinstance(self.isa, str):
            raise OptionError.wrong("isa", "a text", self.isa)
        if not self.isa.isascii() or len(self.isa) > _LONGEST_ISA:
            raise OptionError.unknown("isa", self.isa, _native.isas())
        if self.threads is not None:
            object.__setattr__(self, "threads", positive("threads", self.threads))
        if self.memory_limit is not None:
            object.__setattr__(self, "memory_limit", positive("memory_limit", self.memory_limit))
        instance("crossings", self.crossings, Crossings)
        try:
            _native.choose_isa(self.isa)
        except ValueError as error:
            raise OptionError(f"isa: {error}") from None

    @property
    def thread_count(self) -> int:
        """Threads that a call uses at most."""
        return min(self.threads or _native.hardware_threads(), _MOST_THREADS)

    def new_budget(self) -> Budget:
        """What one call may take of a GPU's memory."""
        return Budget(self.memory_limit)

    @property
    def isa_name(self) -> str:
        """Instruction set that is used."""
        return _native.choose_isa(self.isa)


def context_of(given: object) -> Context:
    """The context of a call: the one given, or a new one with the defaults for None.

    Raises
    ------
    OptionError
        It is something else.
    """
    return Context() if given is None else instance("context", given, Context)
