"""A text that is to be read on a GPU, wherever it lies: copied there, decoded there, loaded there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from headrace import _native
from headrace.columns.buffers.load_result import Loaded
from headrace.columns.convert.gpu.target import Place
from headrace.columns.load.gpu.decoded import decoded_place
from headrace.columns.load.gpu.load import load_on_gpu
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.load_run import NO_HANDLES, LoadRun
from headrace.columns.plan.native_errors import native_errors
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.quick import quick
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launcher import GpuLauncher, Room, launcher_beside
from headrace.sources.kinds.gpu_array import view_of_room
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect

View = Callable[[Room], _native.Source]


def launcher_for(source: OpenSource, context: Context, device: Device, budget: Budget | None = None) -> GpuLauncher:
    """What runs the kernels of one read; `budget`: that of several reads."""
    budget = context.new_budget() if budget is None else budget
    stream = None if source.on_gpu is None else source.on_gpu.stream
    return launcher_beside(stream, gpu(device), budget, context.crossings)


def load_text(
    source: OpenSource, dialect: Dialect, plan: LoadPlan, launcher: GpuLauncher, device: Device, *, run: LoadRun = NO_HANDLES
) -> Loaded:
    """Read a text on a GPU, where it lies or is copied to.

    Memory: beside that of `load_on_gpu`, the text if it is on the host, and the decoded one while the other is there.

    Raises
    ------
    MemoryLimitError
        It does not fit.
    """
    far = source.on_gpu if source.is_far else None
    place = _place(launcher, _uploaded(launcher, source) if far is None else far, device=str(device))
    return load_part(place, source, dialect, plan, view_for(launcher, device), run=run)


_place = quick(Place)


def load_part(
    place: Place, source: OpenSource, dialect: Dialect, plan: LoadPlan, view: View, *, run: LoadRun = NO_HANDLES
) -> Loaded:
    """Read a text that lies where kernels run, or the part of it that does; `view` shows a room there to the native readers.

    Raises
    ------
    MemoryLimitError, CutRecordError
        As `load_on_gpu`.
    """
    if source.codec != "utf-8":
        place, source, plan = decoded_place(place, source, plan, view)
    return load_on_gpu(place, source, dialect, plan, run)


def view_for(launcher: GpuLauncher, device: Device) -> View:
    """Shows the rooms of a launcher."""
    return partial(view_of_room, device=device, stream=launcher.stream, crossings=launcher.crossings)


def _uploaded(launcher: GpuLauncher, source: OpenSource) -> Room:
    """The text on the card: read by several threads into pinned memory, from where it goes on."""
    text = launcher.room(source.size)
    with native_errors():
        launcher.read_in(source.native, source.size, text)
    return text
