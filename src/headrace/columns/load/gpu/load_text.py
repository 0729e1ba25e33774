"""Loads texts on a GPU from wherever they are: copies and decodes them there first if necessary."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from headrace import _native
from headrace.columns.buffers.load_result import Loaded
from headrace.columns.convert.gpu.target import DEFAULT_TUNING, GpuTarget, GpuTuning, with_dfa
from headrace.columns.load.gpu.decoded import decode_target
from headrace.columns.load.gpu.load import load_on_gpu
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.load_run import NO_HANDLES, LoadRun
from headrace.columns.plan.native_errors import native_errors
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.fast_constructor import fast_constructor
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launcher import DeviceBuffer, GpuLauncher, Launcher, launcher_beside
from headrace.sources.kinds.gpu_array import view_of_buffer
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect

View = Callable[[DeviceBuffer, bytes], _native.Source]


def launcher_for(source: OpenSource, context: Context, device: Device) -> GpuLauncher:
    """Return the launcher of one read."""
    stream = None if source.on_gpu is None else source.on_gpu.stream
    return launcher_beside(stream, gpu(device), context.new_budget(), context.crossings)


class TextLoads:
    """Loads texts, or parts of texts, one after another where kernels run.

    Once masks have misread a text, the following texts are read by the automaton only. So they are not searched twice.

    `view`: makes the function that shows buffers of a launcher to the native readers.
    """

    __slots__ = ("_device", "_dialect", "_tuning", "_view")

    def __init__(
        self, dialect: Dialect, view: Callable[[Launcher], View], device: str = "cpu", tuning: GpuTuning = DEFAULT_TUNING
    ) -> None:
        self._dialect, self._view, self._device, self._tuning = dialect, view, device, tuning

    def load(
        self, launcher: Launcher, text: DeviceBuffer, source: OpenSource, plan: LoadPlan, run: LoadRun = NO_HANDLES
    ) -> Loaded:
        """Load a text in the launcher's memory, or the part of it that is there."""
        target = _target(launcher, text, self._tuning, self._device)
        if source.codec != "utf-8":
            target, source, plan = decode_target(target, source, plan, self._view(launcher))
        loaded = load_on_gpu(target, source, self._dialect, plan, run)
        if loaded.used_dfa:
            self._tuning = with_dfa(self._tuning)
        return loaded


_target = fast_constructor(GpuTarget)


def loads_on(device: Device, dialect: Dialect) -> TextLoads:
    """Return the loads of texts on a GPU."""
    return TextLoads(dialect, partial(_view_on, device), str(device))


def _view_on(device: Device, launcher: Launcher) -> View:
    """Return the function that shows buffers of a GPU's launcher to the native readers."""
    assert isinstance(launcher, GpuLauncher)
    return partial(view_of_buffer, device=device, stream=launcher.stream, crossings=launcher.crossings)


def load_text(loads: TextLoads, launcher: GpuLauncher, source: OpenSource, plan: LoadPlan, run: LoadRun = NO_HANDLES) -> Loaded:
    """Load a text on a GPU. A text in host memory or in a file is copied to the GPU first.

    Memory: that of `load_on_gpu`, the copy of the text, and the decoded text as long as both are needed.

    Raise MemoryLimitError if the text or the result does not fit.
    """
    on_device = source.on_gpu if source.is_in_gpu_memory else None
    if on_device is not None:
        return loads.load(launcher, on_device, source, plan, run)
    copied = launcher.allocate(source.size)
    with native_errors():
        launcher.read_in(source.native, source.size, copied)  # through pinned memory that several threads fill
    return loads.load(launcher, copied, source, plan, run)
