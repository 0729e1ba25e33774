"""Tests that need a GPU run where there is one; drawn examples are the same each time, however long the first takes."""

from __future__ import annotations

import weakref
from functools import cache

import pytest

try:
    from hypothesis import settings
except ImportError:  # tests that draw examples say so themselves
    pass
else:
    settings.register_profile("headrace", deadline=None, derandomize=True)
    settings.load_profile("headrace")


@cache
def gpu_is_missing() -> str:
    """Why there is no GPU to test on; empty if there is one."""
    from headrace.core.errors import HeadraceError
    from headrace.gpu.device.device import gpu

    try:
        return "" if gpu().architecture else "no architecture"
    except HeadraceError as error:
        return str(error)


def pytest_runtest_setup(item):
    if item.get_closest_marker("gpu") is not None and gpu_is_missing():
        pytest.skip(gpu_is_missing())


def pytest_collection_modifyitems(items):
    """The file that takes minutes first, so that it ends beside the others where they run on several cores."""
    items.sort(key=lambda item: item.path.name != "test_kernels_rules.py")


@pytest.fixture
def launchers(monkeypatch):
    """Weak references to the harness's launchers that a test makes."""
    from headrace.testing.fibers.launcher import FiberLauncher

    noted = []
    made = FiberLauncher.__init__

    def note(self, *given):
        made(self, *given)
        noted.append(weakref.ref(self))

    monkeypatch.setattr(FiberLauncher, "__init__", note)
    return noted
