"""Translates errors of the native code into the package's own."""

from __future__ import annotations

from headrace import _native
from headrace.core.errors import HeadraceError, MemoryLimitError, SourceError


class native_errors:  # noqa: N801  # used as a block
    """A block in which errors of the native code become the package's own."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        if isinstance(error, _native.SourceFailure):
            raise SourceError(str(error)) from None
        if isinstance(error, _native.RecordTooLong):
            raise HeadraceError(str(error)) from None
        if isinstance(error, MemoryError):
            raise out_of_memory(str(error)) from None


def out_of_memory(message: str) -> MemoryLimitError:
    """Return the error for a result that does not fit into memory.

    `message`: the message of the native code. Python's own errors have none.
    """
    reason = message or "the system refused memory"
    if "control group" in reason:
        limit = "; context=Context(memory_limit=...) sets another limit"
    else:
        limit = "" if "memory_limit" in reason else " (see `ulimit -v` for the limit of the process)"
    return MemoryLimitError(
        f"{reason}{limit}; read fewer columns (columns=), smaller types (dtypes=), fewer listed faults, batches (scan_csv), "
        "or with fewer threads"
    )
