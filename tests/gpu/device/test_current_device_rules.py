"""Tests that no call of the package changes a thread's current device: other libraries rely on theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

import headrace
from headrace.gpu.device import device as cards
from headrace.gpu.device.device import CurrentContext, GpuError
from tests.gpu.kernels.noting_driver import NotingDriver

PACKAGE = Path(headrace.__file__).parent
OF_OWN_THREADS = {"gpu/transfer/staging.py", "gpu/memory/pinned_results.py"}
"""Files that start threads that work for one card alone."""


@pytest.fixture
def driver(monkeypatch):
    made = NotingDriver()
    monkeypatch.setattr(cards, "card_calls", lambda: made.calls)
    return made


def test_a_block_restores_the_context_that_was_current(driver):
    with CurrentContext(9):
        assert driver.context == 9
        with CurrentContext(7):
            assert driver.context == 7
        assert driver.context == 9
    assert driver.context == 7
    assert driver.called == [("current", 9), ("current", 7), ("current", 9), ("current", 7)]


def test_a_block_restores_that_no_context_was_current(driver):
    driver.context = 0
    with CurrentContext(9):
        assert driver.context == 9
    assert driver.context == 0


def test_a_block_restores_it_after_an_error(driver):
    with pytest.raises(KeyError), CurrentContext(9):
        raise KeyError
    assert driver.context == 7


def test_a_context_that_is_current_costs_no_change(driver):
    with CurrentContext(7), CurrentContext(7):
        pass
    assert driver.called == []


def test_a_refusal_is_an_error(driver, monkeypatch):
    driver.status = 201
    monkeypatch.setattr(cards, "checked", lambda result: (_ for _ in ()).throw(GpuError("refused")))
    monkeypatch.setattr(cards, "driver", lambda: type("Driver", (), {"CUresult": int}))
    with pytest.raises(GpuError), CurrentContext(9):
        pass


def test_only_threads_of_the_package_make_a_card_current_for_good():
    callers = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "make_current" in path.read_text(encoding="utf-8").replace("def make_current", "")
    }
    assert callers == OF_OWN_THREADS
