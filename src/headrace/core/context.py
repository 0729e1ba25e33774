"""Holds the resources of a call: device, threads, memory limit, instruction set.

Results depend on no other state. Modules cache plans, kernels and memory, which affect speed alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from headrace import _native
from headrace.core.budget import Budget
from headrace.core.device import Device
from headrace.core.errors import OptionError
from headrace.core.options import instance, positive
from headrace.core.transfers import Crossings

_MAX_THREADS = 1024
_MAX_ISA_LENGTH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Resources of a call; pass one as ``context=``, or use the default.

    Parameters
    ----------
    device
        Device of the work if its input is on the host: ``Context(device="cuda")`` copies the input to a GPU and leaves the result
        there. Input that is on a GPU is processed there.
    threads
        Maximum number of threads; None for all cores that the process may use.
    memory_limit
        Maximum bytes of one call's result; None for no limit. Working memory of about 4 MB a thread is not counted. On a GPU,
        copies of inputs and tables count, too, but not the small scratch memory that launches of a stream share. A result that
        does not fit raises `MemoryLimitError`, and its memory is freed.
    isa
        Instruction set of the CPU kernels: ``"avx512"``, ``"avx2"`` or ``"scalar"``. Empty for the one that the environment
        variable ``HEADRACE_ISA`` names, or else the best of the machine. Results are the same with each.
    crossings
        Counter of the bytes copied between host and GPU by all calls with this context.

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
        if not self.isa.isascii() or len(self.isa) > _MAX_ISA_LENGTH:
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
        """Maximum number of threads of a call."""
        return min(self.threads or _native.hardware_threads(), _MAX_THREADS)

    def new_budget(self) -> Budget:
        """Return a budget of GPU memory for one call."""
        return Budget(self.memory_limit)

    @property
    def isa_name(self) -> str:
        """Name of the instruction set that is used."""
        return _native.choose_isa(self.isa)


def context_of(given: object) -> Context:
    """Return the context of a call: `given`, or a new one with the defaults if it is None.

    Raises
    ------
    OptionError
        `given` is neither a Context nor None.
    """
    return Context() if given is None else instance("context", given, Context)
