"""Configures the suite: skips tests that the machine cannot run, marks long tests, and records the kernels that tests launch.

By default only tests without the mark `long` run (`tiers.py`), and tests of drawn examples draw fewer of them (`examples.py`).
"""

from __future__ import annotations

import gc
import json
import os
import weakref
from functools import cache
from pathlib import Path

import pytest

from tests import examples, tiers

try:
    from hypothesis import settings
except ImportError:  # tests that draw examples set this themselves
    settings = None
else:
    settings.register_profile("all", deadline=None, derandomize=True)
    settings.register_profile("some", settings.get_profile("all"), max_examples=examples.SOME)

os.environ.setdefault("HEADRACE_FIRST_READ", "compile")  # tests of kernels wait for the compiler

_launched: set[tuple[str, str]] = set()
"""Kernels that this process has launched under the fiber harness: the stem of the file, the name of the kernel."""


def pytest_addoption(parser):
    parser.addoption("--record-kernels", metavar="FOLDER", help="write the kernels launched under the fiber harness to FOLDER")


def pytest_configure(config):
    gc.disable()  # until the tests are collected: collections would go through millions of their objects
    examples.draws_all = "not long" not in (config.option.markexpr or "")
    if settings is not None:  # the count of tests that have none of their own
        settings.load_profile("all" if examples.draws_all else "some")
    if config.getoption("--record-kernels"):
        _record_launches()


def _record_launches() -> None:
    from headrace.testing.fibers import Program

    launch = Program.launch

    def recorded(self, entry, *given, **options):
        _launched.add((self.path.name.rpartition("-")[0], entry))
        return launch(self, entry, *given, **options)

    Program.launch = recorded


def pytest_sessionfinish(session):
    folder = session.config.getoption("--record-kernels")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(folder, f"kernels-{os.getpid()}.json").write_text(json.dumps(sorted(_launched)), encoding="utf-8")


@cache
def gpu_is_missing() -> str:
    """Return the reason why there is no GPU to test on; empty if there is one."""
    from headrace.core.errors import HeadraceError
    from headrace.gpu.device.device import gpu

    try:
        return "" if gpu().architecture else "no architecture"
    except HeadraceError as error:
        return str(error)


def pytest_runtest_setup(item):
    if item.get_closest_marker("gpu") is not None and gpu_is_missing():
        pytest.skip(gpu_is_missing())
    if item.get_closest_marker("fibers") is not None:
        from headrace.testing.fibers.build import unsupported

        if unsupported():
            pytest.skip(unsupported())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Set the tiers, and start with the file that takes minutes, so that it ends when the others do."""
    whole = not any("::" in argument for argument in items[0].config.args) if items else False
    tiers.set_tiers(items, whole=whole)
    items.sort(key=lambda item: item.path.name != "test_kernels_rules.py")


def pytest_collection_finish() -> None:
    """Leave the collected tests out of garbage collections."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture
def launchers(monkeypatch):
    """Return weak references to the harness's launchers that a test makes."""
    from headrace.testing.fibers.launcher import FiberLauncher

    noted = []
    made = FiberLauncher.__init__

    def note(self, *given):
        made(self, *given)
        noted.append(weakref.ref(self))

    monkeypatch.setattr(FiberLauncher, "__init__", note)
    return noted
