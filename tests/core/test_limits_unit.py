"""Threads and memory that control groups leave, from a tree of files in place of /proc and /sys."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headrace import _native

_CORES = len(os.sched_getaffinity(0))
_MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
_GROUPS = "sys/fs/cgroup"


def _limits(root: Path, files: dict[str, str]) -> tuple[int, int]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return _native.limits_below(str(root))


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


def test_the_process_has_at_most_what_the_machine_has():
    assert 1 <= _native.hardware_threads() <= _CORES
    assert 0 < _native.usable_memory() <= _MEMORY
