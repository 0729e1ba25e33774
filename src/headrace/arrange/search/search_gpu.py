"""Launches search.cu and distinct_runs.cu."""

from __future__ import annotations

from functools import cache
from typing import Any

from headrace.arrange.search.tuning import KEY_TYPES, RUN_ROWS, RUN_THREADS, SEARCH_THREADS, TURNS
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape

_FILE = "arrange/search/search.cu"
_SEARCH_OPTIONS = layout("SearchOptions")
_COUNT_AT = {"search_keys": 3, "mark_runs": 1, "measure_runs": 1}  # parameter with the number of items, by kernel
_VECTOR = 16  # bytes that a thread loads at a time
_CHAIN_WORD = 16  # bytes of a tile in a look-back of 8 bytes


def launch_search(launcher: Launcher, name: str, width: int, args: tuple[Any, ...], *, threads: int = SEARCH_THREADS) -> None:
    """Launch a kernel of search.cu for keys of a width in bytes; `args`: its parameters, 1 item or more."""
    blocks = -(-args[_COUNT_AT[name]] // (threads * TURNS))
    launcher.launch(_entry(name, width), Shape(_known_defines(width, threads), blocks, threads), args)


def launch_runs(
    launcher: Launcher, keys: DeviceBuffer, count: int, rule: bytes, distinct: DeviceBuffer, *, threads: int = RUN_THREADS
) -> int:
    """Write the first key of each run of `count` sorted keys, 1 or more; return the number of runs, for which the host waits."""
    width = len(rule) // 4
    tiles = -(-count * width // (threads * RUN_ROWS * _VECTOR))
    chain = launcher.allocate(_CHAIN_WORD * (1 + tiles), fill=0)
    defines: dict[str, Any] = {"HR_KEY": KEY_TYPES[width], "HR_THREADS": threads, "HR_ROWS": RUN_ROWS}
    args = (keys, count, rule, chain, distinct)
    return launcher.answer(_runs_entry(width), Shape(defines, tiles, threads), args, 1)[0]


@cache
def _runs_entry(width: int) -> Entry:
    return Entry("arrange/search/distinct_runs.cu", "take_runs", f"PQ{4 * width}sPPP")


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
