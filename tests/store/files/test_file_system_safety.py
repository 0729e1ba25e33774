"""Tests errors of the host's file system."""

from __future__ import annotations

import errno
import os

import pytest

from headrace.store.files.file_system import HostFiles

pytestmark = pytest.mark.pure


def test_an_error_of_a_full_disk_names_the_file(tmp_path):
    os.symlink("/dev/full", tmp_path / "log")
    file = HostFiles(str(tmp_path)).open_append("log")
    with pytest.raises(OSError, match=r"No space left on device: '.*/log'") as caught:
        file.write(b"more")
    file.close()
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "log"))


def test_a_file_that_another_machine_has_removed_is_not_there(tmp_path, monkeypatch):
    """NFS reports a removed file that is still in its cache as a stale handle. A reader then reads the manifest again."""

    def stale(*_args, **_options):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    monkeypatch.setattr("os.open", stale)
    with pytest.raises(FileNotFoundError) as found:
        HostFiles(str(tmp_path)).open_read("main")
    assert found.value.filename == str(tmp_path / "main")
