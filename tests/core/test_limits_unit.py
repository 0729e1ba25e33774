"""Threads and memory that control groups leave, from a tree of files in place of /proc and /sys."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headrace import _native
from tests.core.group_cases import write_files

_CORES = len(os.sched_getaffinity(0))
_MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
_GROUPS = "sys/fs/cgroup"


_NO_LIMIT = 2**64 - 1


def _limits(root: Path, files: dict[str, str]) -> tuple[int, int]:
    write_files(root, files)
    return _native.limits_below(str(root))[:2]


def _free_memory(root: Path, files: dict[str, str]) -> int:
    write_files(root, files)
    return _native.limits_below(str(root))[2]


def test_no_groups(tmp_path):
    assert _limits(tmp_path, {}) == (_CORES, _MEMORY)


def test_no_limits(tmp_path):
    files = {"proc/self/cgroup": "0::/app\n", f"{_GROUPS}/app/cpu.max": "max 100000\n", f"{_GROUPS}/app/memory.max": "max\n"}
    assert _limits(tmp_path, files) == (_CORES, _MEMORY)


@pytest.mark.parametrize(("quota", "cores"), [("20000 100000", 1), ("100000 100000", 1), ("100001 100000", 2)])
def test_quota_of_version_2(tmp_path, quota, cores):
    files = {"proc/self/cgroup": "0::/app\n", f"{_GROUPS}/app/cpu.max": f"{quota}\n"}
    assert _limits(tmp_path, files) == (min(cores, _CORES), _MEMORY)


def test_the_least_of_the_group_and_its_ancestors(tmp_path):
    files = {
        "proc/self/cgroup": "0::/slice/app/part\n",
        f"{_GROUPS}/slice/cpu.max": "50000 100000\n",
        f"{_GROUPS}/slice/app/memory.max": "1000000\n",
        f"{_GROUPS}/slice/app/part/cpu.max": "max 100000\n",
        f"{_GROUPS}/slice/app/part/memory.max": "2000000\n",
        f"{_GROUPS}/slice/other/memory.max": "5\n",
    }
    assert _limits(tmp_path, files) == (1, 1_000_000)


@pytest.mark.parametrize("path", ["/", "/docker/3f2a"])
def test_a_container_sees_its_own_group_as_the_root(tmp_path, path):
    files = {
        "proc/self/cgroup": f"0::{path}\n",
        f"{_GROUPS}/cpu.max": "100000 100000\n",
        f"{_GROUPS}/memory.max": "3000000\n",
    }
    assert _limits(tmp_path, files) == (1, 3_000_000)


def test_version_1(tmp_path):
    files = {
        "proc/self/cgroup": "9:name=systemd:/\n5:memory:/docker/3f\n4:cpu,cpuacct:/docker/3f\n3:cpuset:/docker/3f\n0::/\n",
        f"{_GROUPS}/memory/docker/memory.limit_in_bytes": "7000000\n",
        f"{_GROUPS}/memory/docker/3f/memory.limit_in_bytes": "9223372036854771712\n",
        f"{_GROUPS}/cpu,cpuacct/docker/3f/cpu.cfs_quota_us": "90000\n",
        f"{_GROUPS}/cpu,cpuacct/docker/3f/cpu.cfs_period_us": "100000\n",
        f"{_GROUPS}/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
        f"{_GROUPS}/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    }
    assert _limits(tmp_path, files) == (1, 7_000_000)


def test_files_that_say_something_else(tmp_path):
    files = {
        "proc/self/cgroup": "nonsense\n0::\n0::/app\n",
        f"{_GROUPS}/app/cpu.max": "many 0\n",
        f"{_GROUPS}/app/memory.max": "99999999999999999999999\n",
        f"{_GROUPS}/cpu.max": "1000 0\n",
    }
    assert _limits(tmp_path, files) == (_CORES, _MEMORY)


def test_memory_from_which_a_group_is_slowed_down(tmp_path):
    files = {"proc/self/cgroup": "0::/app\n", f"{_GROUPS}/app/memory.max": "5000000\n", f"{_GROUPS}/app/memory.high": "4000000\n"}
    assert _limits(tmp_path, files) == (_CORES, 4_000_000)


@pytest.mark.parametrize("files", [{}, {f"{_GROUPS}/app/memory.max": "max\n", f"{_GROUPS}/app/memory.current": "7\n"}])
def test_free_memory_without_a_limit(tmp_path, files):
    assert _free_memory(tmp_path, {"proc/self/cgroup": "0::/app\n", **files}) == _NO_LIMIT


_STAT_2 = """anon 600
file 250
active_anon 500
inactive_file 100
active_file 30
slab_reclaimable 7
slab_unreclaimable 9
"""


@pytest.mark.parametrize(("used", "free"), [(1000, 4137), (5000, 137), (6000, 0), (100, 5000)])
def test_free_memory_of_version_2(tmp_path, used, free):
    files = {
        "proc/self/cgroup": "0::/app\n",
        f"{_GROUPS}/app/memory.max": "5000\n",
        f"{_GROUPS}/app/memory.current": f"{used}\n",
        f"{_GROUPS}/app/memory.stat": _STAT_2,
    }
    assert _free_memory(tmp_path, files) == free


def test_free_memory_of_version_1(tmp_path):
    files = {
        "proc/self/cgroup": "5:memory:/docker\n",
        f"{_GROUPS}/memory/docker/memory.limit_in_bytes": "5000\n",
        f"{_GROUPS}/memory/docker/memory.usage_in_bytes": "4000\n",
        f"{_GROUPS}/memory/docker/memory.stat": "cache 2\ninactive_file 3\ntotal_inactive_file 40\ntotal_active_file 500\n",
        f"{_GROUPS}/memory/memory.limit_in_bytes": "9223372036854771712\n",
        f"{_GROUPS}/memory/memory.usage_in_bytes": "9000000000\n",
    }
    assert _free_memory(tmp_path, files) == 5000 - 4000 + 540


def test_the_least_free_memory_of_the_group_and_its_ancestors(tmp_path):
    files = {
        "proc/self/cgroup": "0::/slice/app\n",
        f"{_GROUPS}/slice/memory.max": "9000\n",
        f"{_GROUPS}/slice/memory.current": "8000\n",
        f"{_GROUPS}/slice/app/memory.max": "5000\n",
        f"{_GROUPS}/slice/app/memory.current": "2000\n",
    }
    assert _free_memory(tmp_path, files) == 1000


def test_the_process_has_at_most_what_the_machine_has():
    assert 1 <= _native.hardware_threads() <= _CORES
    assert 0 < _native.usable_memory() <= _MEMORY
