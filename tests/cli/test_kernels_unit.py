"""Tests `headrace kernels`: its list and its build."""

from __future__ import annotations

import pytest

from headrace.cli.main import main
from headrace.gpu.kernels import build
from headrace.gpu.kernels.source import all_variants


def test_list_names_every_program(capsys):
    assert main(["kernels", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "primitives/copy.cu HR_WIDTH=1" in lines and len(lines) == len(set(lines))


def test_build_compiles_what_is_not_there(tmp_path, capsys, monkeypatch):
    """A few small programs: all of them are tests/gpu/kernels/test_kernels_rules.py's, and take minutes."""
    pytest.importorskip("cuda.core", reason="NVRTC comes with the extra cuda13", exc_type=ImportError)
    small = [variant for variant in all_variants() if variant.file == "primitives/copy.cu"]
    monkeypatch.setattr(build, "all_variants", lambda: small)
    assert main(["kernels", "build", "--arch", "sm_90", "--to", str(tmp_path)]) == 0
    first = capsys.readouterr().out.splitlines()
    assert any(line.startswith("sm_90 ") and line.endswith(" primitives/copy.cu HR_WIDTH=1") for line in first)
    count = len(first) - 1
    assert count == len(small)
    assert first[-1] == f"{count} programs, {count} of them compiled now" and len(list(tmp_path.iterdir())) == count
    assert main(["kernels", "build", "--arch", "90", "--to", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{count} programs, 0 of them compiled now"


def test_misuse_is_told(tmp_path, capsys):
    pytest.importorskip("cuda.core", reason="architectures are asked of the extra cuda13", exc_type=ImportError)
    assert main(["kernels", "build", "--arch", "sm_91", "--to", str(tmp_path)]) == 2
    assert "did you mean 'sm_90'?" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert main(["kernels", "build", "--arch", "90", "--to", str(tmp_path / "file")]) == 2
    assert "cannot be written; name another folder" in capsys.readouterr().err
    assert main(["kernels"]) == 2
