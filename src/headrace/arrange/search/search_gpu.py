"""Launches search.cu."""

from __future__ import annotations

from functools import cache
from typing import Any

from headrace.arrange.search.tuning import KEY_TYPES, SEARCH_THREADS, TURNS
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import Entry, Launcher, Shape

_FILE = "arrange/search/search.cu"
_SEARCH_OPTIONS = layout("SearchOptions")
_COUNT_AT = {"search_keys": 3, "mark_runs": 1, "measure_runs": 1}
"""Parameter with the number of items, by kernel."""


def launch_search(launcher: Launcher, name: str, width: int, args: tuple[Any, ...], *, threads: int = SEARCH_THREADS) -> None:
    """Launch a kernel of search.cu for keys of a width in bytes; `args`: its parameters, 1 item or more."""
    blocks = -(-args[_COUNT_AT[name]] // (threads * TURNS))
    launcher.launch(_entry(name, width), Shape(_known_defines(width, threads), blocks, threads), args)


@cache
def _entry(name: str, width: int) -> Entry:
    rule_bytes = 4 * width
    signatures = {
        "search_keys": f"PQPQ{rule_bytes}s{_SEARCH_OPTIONS.argument}P",
        "mark_runs": f"PQ{rule_bytes}sP",
        "measure_runs": "PQQP",
    }
    return Entry(_FILE, name, signatures[name])


@cache
def _known_defines(width: int, threads: int) -> dict[str, Any]:
    return {"HR_KEY": KEY_TYPES[width], "HR_THREADS": threads, "HR_TURNS": TURNS}
