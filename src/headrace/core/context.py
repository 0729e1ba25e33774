"""Holds the resources of a call: device, threads, memory limit, instruction set.

There is no other global state that an answer depends on. Module-level caches are listed in `headrace.core.caches`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from headrace import _native
from headrace.core.budget import Budget
from headrace.core.device import Device
from headrace.core.errors import OptionError
from headrace.core.fast_constructor import fast_constructor
from headrace.core.options import instance, positive
from headrace.core.transfers import Crossings

_MAX_THREADS = 1024
_MAX_ISA_LENGTH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The resources of a call, passed as ``context=``.

    Parameters
    ----------
    device
        Device of calls whose input is in host memory: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``. With ``Context(device="cuda")``
        the input is copied to the GPU, and the result stays there. Input in the memory of a GPU is processed on that GPU.
    threads
        Greatest number of threads, up to 1024. None for all cores that the process may use.
    memory_limit
        Greatest number of bytes of the result of a call. On the CPU the working memory is not counted, about 4 MB a thread. On a
        GPU copies of inputs and tables are counted, but not the scratch memory that the launches of a stream share. A result
        that exceeds the limit raises `MemoryLimitError`, and all memory of the call is released. So does a text of more bytes
        that has to be held: of a pipe or file object, decompressed or decoded. By default the limit of the container counts: a
        call raises the error if less than a 16th of that would be left.
    isa
        Instruction set of the CPU kernels: ``"avx512"``, ``"avx2"`` or ``"scalar"``. Empty for the best one of the machine, or
        that of the environment variable ``HEADRACE_ISA``. The answer is the same with each.
    crossings
        Counter of the bytes that are copied between host and GPU, over all calls with this context.

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
        _check_isa(self.isa)

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

    Raise OptionError if the value is neither a `Context` nor None.
    """
    if given is not None:
        return instance("context", given, Context)
    _check_isa("")
    return _context(device=_CPU, threads=None, memory_limit=None, isa="", crossings=Crossings())


def _check_isa(isa: str) -> None:
    try:
        _native.choose_isa(isa)
    except ValueError as error:
        raise OptionError(f"isa: {error}") from None


_CPU = Device()
_context = fast_constructor(Context)
