"""Loads a text on a GPU from wherever it is: copies and decodes it there first if necessary."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from headrace import _native
from headrace.columns.buffers.load_result import Loaded
from headrace.columns.convert.gpu.target import GpuTarget
from headrace.columns.load.gpu.decoded import decode_target
from headrace.columns.load.gpu.load import load_on_gpu
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.load_run import NO_HANDLES, LoadRun
from headrace.columns.plan.native_errors import native_errors
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.fast_constructor import fast_constructor
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launcher import DeviceBuffer, GpuLauncher, launcher_beside
from headrace.sources.kinds.gpu_array import view_of_buffer
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect

View = Callable[[DeviceBuffer], _native.Source]


def launcher_for(source: OpenSource, context: Context, device: Device, budget: Budget | None = None) -> GpuLauncher:
    """Return the launcher of one read; `budget`: shared by several reads."""
    budget = context.new_budget() if budget is None else budget
    stream = None if source.on_gpu is None else source.on_gpu.stream
    return launcher_beside(stream, gpu(device), budget, context.crossings)


def load_text(
    source: OpenSource, dialect: Dialect, plan: LoadPlan, launcher: GpuLauncher, device: Device, *, run: LoadRun = NO_HANDLES
) -> Loaded:
    """Load a text on a GPU. A text in host memory or in a file is copied to the GPU first.

    Memory: that of `load_on_gpu`, the copy of the text, and the decoded text as long as both are needed.

    Raises
    ------
    MemoryLimitError
        The text or the result does not fit.
    """
    on_device = source.on_gpu if source.is_in_gpu_memory else None
    text = _uploaded(launcher, source) if on_device is None else on_device
    target = _target(launcher, text, device=str(device))
    return load_part(target, source, dialect, plan, view_for(launcher, device), run=run)


_target = fast_constructor(GpuTarget)


def load_part(
    target: GpuTarget, source: OpenSource, dialect: Dialect, plan: LoadPlan, view: View, *, run: LoadRun = NO_HANDLES
) -> Loaded:
    """Load a text in device memory, or the part of it that is there.

    Parameters
    ----------
    target, source, dialect, plan, run
        As for `load_on_gpu`.
    view
        Returns a source for the native readers that shows a device buffer.

    Raises
    ------
    MemoryLimitError, CutRecordError
        As `load_on_gpu`.
    """
    if source.codec != "utf-8":
        target, source, plan = decode_target(target, source, plan, view)
    return load_on_gpu(target, source, dialect, plan, run)


def view_for(launcher: GpuLauncher, device: Device) -> View:
    """Return the function that shows buffers of a launcher to the native readers."""
    return partial(view_of_buffer, device=device, stream=launcher.stream, crossings=launcher.crossings)


def _uploaded(launcher: GpuLauncher, source: OpenSource) -> DeviceBuffer:
    """Copy the text to the device, through pinned memory that several threads fill."""
    text = launcher.allocate(source.size)
    with native_errors():
        launcher.read_in(source.native, source.size, text)
    return text
