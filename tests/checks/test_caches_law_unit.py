"""The check of caches finds each kind of cache that is not listed, and entries without a cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import caches

LIST = """\
CLEARED = MappingProxyType({"headrace.a.b": ("known", "Owner.of")})
KEPT = MappingProxyType({"headrace.a.*_entry": "kernels"})
"""
CODE = """\
@cache
def known(): ...
class Owner:
    @classmethod
    @lru_cache(8)
    def of(cls): ...
@lru_cache
def _pass_entry(): ...
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in ((caches.LIST, LIST), ("src/headrace/a/b.py", CODE)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_listed_cache_is_no_finding(tree: Path) -> None:
    assert caches.check(tree) == []


@pytest.mark.parametrize(
    "code",
    [
        "_recent: IdentityCache[int] = IdentityCache()",
        "_kept: dict[int, str] = {}",
        "_found = OrderedDict()",
        "_names = set()",
        "@functools.cache\ndef work(): ...",
        "class Other:\n    @lru_cache(maxsize=2)\n    def of(self): ...",
    ],
)
def test_another_cache_is_found(tree: Path, code: str) -> None:
    (tree / "src/headrace/c.py").write_text(f"\n{code}\n")
    (finding,) = caches.check(tree)
    assert (finding.path, finding.line > 1) == ("src/headrace/c.py", True)


@pytest.mark.parametrize("code", ["NAMES = {}", "_NAMES: dict[int, int] = {}", '_table = {"a": 1}', "_pairs = dict(zip(a, b))"])
def test_tables_are_no_caches(tree: Path, code: str) -> None:
    (tree / "src/headrace/c.py").write_text(f"{code}\n")
    assert caches.check(tree) == []


@pytest.mark.parametrize("name", ["known", "Owner", "_pass_entry"])
def test_an_entry_without_a_cache_is_found(tree: Path, name: str) -> None:
    code = tree / "src/headrace/a/b.py"
    code.write_text(code.read_text().replace(name, "plain"))
    assert any("there is no such cache" in finding.message for finding in caches.check(tree))
