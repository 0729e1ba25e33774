"""Reads the workflow of a release: its triggers, jobs and permissions, and that it holds no secret."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
TEXT = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
WORKFLOW = yaml.load(TEXT, yaml.BaseLoader)  # of texts alone: YAML 1.1 reads "on" as a bool
JOBS: dict[str, Any] = WORKFLOW["jobs"]


def steps(job: str, word: str) -> list[str]:
    """Return what the steps of a job use or run, if it has a word."""
    found = [step.get("uses", "") + step.get("run", "") for step in JOBS[job]["steps"]]
    return [text for text in found if word in text]


def test_tags_start_it_and_a_run_by_hand_publishes_nothing() -> None:
    assert WORKFLOW["on"] == {"push": {"tags": ["v*"]}, "workflow_dispatch": ""}
    assert JOBS["publish"]["if"] == "startsWith(github.ref, 'refs/tags/')"


def test_all_files_are_built_before_they_are_published() -> None:
    assert JOBS.keys() == {"sdist", "wheels", "kernels", "publish"}
    assert set(JOBS["publish"]["needs"]) == {"sdist", "wheels", "kernels"}
    for job in ("sdist", "wheels", "kernels"):
        assert steps(job, "actions/upload-artifact@")
    assert steps("sdist", "build --sdist")
    assert steps("sdist", "headrace demo")
    assert steps("wheels", "pypa/cibuildwheel@")
    assert steps("kernels", "packages/kernels-cuda13")
    assert JOBS["wheels"]["strategy"]["matrix"]["os"] == ["ubuntu-latest", "ubuntu-24.04-arm"]


def test_only_the_last_job_may_ask_for_a_token_and_none_has_a_secret() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert {job: found["permissions"] for job, found in JOBS.items() if "permissions" in found} == {
        "publish": {"id-token": "write"}
    }
    assert JOBS["publish"]["environment"] == "pypi"
    assert steps("publish", "pypa/gh-action-pypi-publish@release/")
    assert not re.search(r"secrets|password|token:(?! write)|api[_-]key", TEXT, re.IGNORECASE)
    checkouts = [step for job in JOBS.values() for step in job["steps"] if "checkout" in step.get("uses", "")]
    assert checkouts
    assert all(step["with"] == {"persist-credentials": "false"} for step in checkouts)


def test_actions_have_a_version() -> None:
    used = [step["uses"] for job in JOBS.values() for step in job["steps"] if "uses" in step]
    assert [one for one in used if not re.fullmatch(r"[\w-]+/[\w-]+@(v\d+(\.\d+)*|release/v\d+)", one)] == []


def test_wheels_are_tested_on_each_machine_and_are_stable() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheels = project["tool"]["cibuildwheel"]
    assert wheels["test-command"]
    assert {wheels["manylinux-x86_64-image"], wheels["manylinux-aarch64-image"]} == {"manylinux_2_28"}
    assert wheels["overrides"] == [{"select": "cp312-*", "config-settings": {"wheel.py-api": "cp312"}}]
    assert "cp314-*" in wheels["build"]
