"""Tests that the law of versions finds a file that states another version, or none."""

from __future__ import annotations

import pytest

from checks import versions

FILES = {
    "pyproject.toml": '[project]\nversion = "1.2.0"\n[x]\ncuda13 = ["headrace-kernels-cuda13==1.2.0"]\n',
    "packages/kernels-cuda13/pyproject.toml": '[project]\nversion = "1.2.0"\n',
    "src/headrace/__init__.py": '__version__ = "1.2.0"\n',
    "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.0\n",
    "CHANGELOG.md": "# Changelog\n\n## [1.2.0] - Unreleased\n\n## [1.1.0] - 2020-01-01\n",
}


def findings(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return [finding.path for finding in versions.check(root)]


def test_equal_versions_are_allowed(tmp_path):
    assert findings(tmp_path, FILES) == []


@pytest.mark.parametrize("name", [name for name in FILES if name != "pyproject.toml"])
@pytest.mark.parametrize("other", ["1.3.0", ""])
def test_another_version_is_found(tmp_path, name, other):
    text = FILES[name].replace("version: 1.2.0\nv", "v") if name == "CITATION.cff" else FILES[name]
    assert findings(tmp_path, FILES | {name: text.replace("1.2.0", other)}) == [name]


def test_another_version_of_the_kernels_is_found(tmp_path):
    text = FILES["pyproject.toml"].replace("==1.2.0", "==1.1.0")
    assert findings(tmp_path, FILES | {"pyproject.toml": text}) == ["pyproject.toml"]
