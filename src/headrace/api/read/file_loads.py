"""Loads several files and concatenates their columns, on the CPU or on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.planned_files import PlannedFiles
from headrace.columns.buffers.load_result import Loaded
from headrace.columns.column import Column
from headrace.columns.load.load import load
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.load_run import LoadRun
from headrace.columns.types import DataType
from headrace.core.device import Device
from headrace.core.errors import OptionError
from headrace.sources.open import OpenSource

if TYPE_CHECKING:
    from headrace.columns.load.gpu.load_text import TextLoads
    from headrace.gpu.kernels.launcher import GpuLauncher


class FileLoads(Protocol):
    """The operations on each file, and on the columns of all files."""

    device: Device

    def load(self, source: OpenSource, plan: LoadPlan, run: LoadRun) -> Loaded:
        """Load a file."""

    def join(self, parts: Sequence[int | Column], kind: DataType, *, shrink: bool = False) -> tuple[Column, int | None]:
        """Concatenate parts; return the column, and the row that determined its type, as `SharedLoads.join`."""

    def encoded(self, column: Column, given: DataType | None) -> Column:
        """Return a string column in the form of its type."""


class LoadsOnHost:
    """Loads on the threads of the CPU."""

    device = Device()

    def __init__(self, plans: PlannedFiles) -> None:
        self._plans = plans

    def load(self, source: OpenSource, plan: LoadPlan, run: LoadRun) -> Loaded:
        """Load a file."""
        return load(source, self._plans.options.dialect, plan, run)

    def join(self, parts: Sequence[int | Column], kind: DataType, *, shrink: bool = False) -> tuple[Column, int | None]:
        """Concatenate parts."""
        return self._plans.shared.join(parts, kind, shrink=shrink)

    def encoded(self, column: Column, given: DataType | None) -> Column:
        """Return a string column in the form of its type."""
        return self._plans.encoded(column, given)


class LoadsOnGpu:
    """Loads on a GPU, in one stream: that of the first file, if the file is on the GPU."""

    def __init__(self, device: Device, options: CsvOptions) -> None:
        self.device, self._options = device, options
        self._launcher: GpuLauncher | None = None
        self._loads: TextLoads | None = None

    def load(self, source: OpenSource, plan: LoadPlan, run: LoadRun) -> Loaded:
        """Load a file."""
        from headrace.columns.load.gpu.load_text import launcher_for, load_text, loads_on  # imports the packages for GPUs

        if self._launcher is None or self._loads is None:
            self._launcher = launcher_for(source, self._options.context, self.device)
            self._loads = loads_on(self.device, self._options.dialect)
        with self._launcher.current():
            return load_text(self._loads, self._launcher, source, plan, run)

    def join(self, parts: Sequence[int | Column], kind: DataType, *, shrink: bool = False) -> tuple[Column, int | None]:
        """Concatenate parts."""
        from headrace.columns.finish.gpu.concat import concat_on_gpu

        assert self._launcher is not None  # every file was loaded before
        with self._launcher.current():
            return concat_on_gpu(self._launcher, parts, kind, shrink=shrink)

    def encoded(self, column: Column, given: DataType | None) -> Column:
        """Return a string column in the form of its type."""
        from headrace.encode.texts_gpu import encoded_on_gpu

        assert self._launcher is not None
        with self._launcher.current():
            return encoded_on_gpu(self._launcher, [column], [given], self._options.values.text_type)[0]


def loads_for(plans: PlannedFiles) -> FileLoads:
    """Return the loads for the device of the files, or of the context.

    Raise OptionError if the files are on several GPUs, or on another GPU than that of the context.
    """
    files, options = plans.files, plans.options
    devices = {file.device for file in files if file.device is not None}
    if options.context.device.kind != "cpu":
        devices.add(options.context.device)
    if len(devices) > 1:
        several = ", ".join(sorted(map(str, devices)))
        raise OptionError(f"sources and device name several GPUs, {several}; nothing is copied between GPUs, so use one")
    return LoadsOnGpu(devices.pop(), options) if devices else LoadsOnHost(plans)
