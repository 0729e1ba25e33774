"""The kernels' cache: many processes, broken files, folders that cannot be written, too many files."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys

import pytest

from headrace.gpu.kernels.cache import KernelCache, key_of, user_folder


def test_what_is_put_is_found(tmp_path):
    cache = KernelCache(tmp_path / "made" / "here")
    assert cache.get("k") is None
    assert cache.put("k", b"code")
    assert cache.get("k") == b"code"


@pytest.mark.parametrize("broken", [b"", b"x", b"code", b"code" + bytes(32)], ids=["empty", "short", "cut", "changed"])
def test_a_broken_file_is_made_anew(tmp_path, broken):
    cache = KernelCache(tmp_path)
    cache.put("k", b"code")
    (tmp_path / "k.cubin").write_bytes(broken)
    assert cache.get("k") is None
    assert cache.put("k", b"code")
    assert cache.get("k") == b"code"


def test_a_folder_that_cannot_be_made_keeps_nothing_and_fails_nothing(tmp_path):
    (tmp_path / "file").write_text("no folder")
    cache = KernelCache(tmp_path / "file" / "below")
    assert not cache.put("k", b"code")
    assert cache.get("k") is None


def test_the_oldest_go_and_the_newest_stays(tmp_path):
    cache = KernelCache(tmp_path, max_bytes=300)
    for number in range(5):
        cache.put(f"k{number}", bytes(100))
        os.utime(tmp_path / f"k{number}.cubin", ns=(number, number))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["k3.cubin", "k4.cubin"]
    KernelCache(tmp_path, max_bytes=1).put("large", bytes(100))
    assert cache.get("large") == bytes(100)


def test_other_peoples_files_stay(tmp_path):
    (tmp_path / "thesis.tex").write_bytes(bytes(1000))
    (tmp_path / ".busy.cubin.new").write_bytes(bytes(1000))
    (tmp_path / ".left.cubin.new").write_bytes(bytes(1000))
    os.utime(tmp_path / "thesis.tex", (0, 0))
    os.utime(tmp_path / ".left.cubin.new", (0, 0))
    cache = KernelCache(tmp_path, max_bytes=150)
    cache.put("a", bytes(100))
    os.utime(tmp_path / "a.cubin", (0, 0))
    cache.put("b", bytes(100))
    assert sorted(path.name for path in tmp_path.iterdir()) == [".busy.cubin.new", "b.cubin", "thesis.tex"]


def test_without_a_limit_all_stay(tmp_path):
    cache = KernelCache(tmp_path, max_bytes=None)
    assert all(cache.put(f"k{number}", bytes(100)) for number in range(3))
    assert len(list(tmp_path.iterdir())) == 3


def test_all_who_may_read_the_folders_files_may_read_a_kernel(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    KernelCache(tmp_path).put("k", b"code")
    assert (tmp_path / "k.cubin").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_user_without_a_home_keeps_nothing_and_nothing_fails(monkeypatch):
    def homeless(path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("headrace.gpu.kernels.cache.Path.expanduser", homeless)
    for name in ("HEADRACE_KERNEL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    cache = KernelCache(user_folder())
    assert not cache.put("k", b"code") and cache.get("k") is None


def use_cache(folder, number, out):
    cache = KernelCache(folder)
    for turn in range(50):
        key, code = f"k{turn % 7}", bytes([turn % 7]) * 10_000
        found = cache.get(key)
        if found not in {None, code}:
            out.put(f"process {number}, turn {turn}")
        if found is None or turn % 10 == number:
            cache.put(key, code)
    out.put(None)


def test_many_processes_share_it(tmp_path):
    spawn = multiprocessing.get_context("spawn")
    out = spawn.SimpleQueue()
    workers = [spawn.Process(target=use_cache, args=(tmp_path, number, out)) for number in range(4)]
    for worker in workers:
        worker.start()
    assert [out.get() for _ in workers] == [None] * 4
    for worker in workers:
        worker.join()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"k{number}.cubin" for number in range(7)]


def test_keys_differ_where_anything_differs():
    assert len({key_of("a", "b"), key_of("a", "c"), key_of("b", "b"), key_of("b\0a", ""), key_of("", "ab")}) == 5


def test_the_folder_follows_the_environment():
    code = "from headrace.gpu.kernels.cache import user_folder; print(user_folder())"
    for changes, said in [
        ({"HEADRACE_KERNEL_CACHE": "/a/b"}, "/a/b"),
        ({"HEADRACE_KERNEL_CACHE": "", "XDG_CACHE_HOME": "/c"}, "/c/headrace/kernels"),
        ({"HEADRACE_KERNEL_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/d"}, "/d/.cache/headrace/kernels"),
    ]:
        done = subprocess.run([sys.executable, "-c", code], env=os.environ | changes, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == said
    assert user_folder().is_absolute()
