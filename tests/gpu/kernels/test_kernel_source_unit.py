"""Sources of kernels: headers joined in place, and variants that come from a finite list."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import headrace
from headrace.columns.convert.gpu.target import DEFAULT_TUNING, TileWork, convert_program
from headrace.columns.convert.gpu.tuning import LANE_COLUMNS, LANES_BIT, LISTS_BIT
from headrace.core.errors import OptionError
from headrace.gpu.kernels import source
from headrace.gpu.kernels.source import KernelSourceError, Variant, all_variants, joined_source

PACKAGE = Path(headrace.__file__).parent


def package(folder, **files):
    for name, text in files.items():
        (folder / name.replace("_dot_", ".")).write_text(text)
    return folder


def test_headers_stand_where_they_are_included_each_once(tmp_path):
    root = package(
        tmp_path,
        a_dot_cu='// idea\n#include "b.hpp"\n#include "c.hpp"\nint a;\n',
        b_dot_hpp='#pragma once\n#include "c.hpp"\nint b;\n',
        c_dot_hpp="#pragma once\nint c;\n",
    )
    assert joined_source(Variant("a.cu", (("HR_N", 4), ("HR_T", "u32"))), root).splitlines() == [
        "#define HR_N 4",
        "#define HR_T u32",
        '#line 1 "headrace/a.cu"',
        "// idea",
        '#line 1 "headrace/b.hpp"',
        "",
        '#line 1 "headrace/c.hpp"',
        "",
        "int c;",
        '#line 3 "headrace/b.hpp"',
        "int b;",
        '#line 3 "headrace/a.cu"',
        "",
        "int a;",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#include <cub/cub.cuh>\n", "a.cu:1: <cub/cub.cuh> is no header of this package"),
        ('int x;\n#ifdef X\n#include "b.hpp"\n#endif\n', "a.cu:3: 'b.hpp' is included inside #if"),
        ('#include "missing.hpp"\n', "no source 'missing.hpp' in the package"),
    ],
)
def test_what_cannot_be_joined_is_told_with_its_place(tmp_path, text, said):
    root = package(tmp_path, a_dot_cu=text, b_dot_hpp="")
    with pytest.raises(KernelSourceError) as raised:
        joined_source(Variant("a.cu"), root)
    assert said in str(raised.value)


def test_variants_are_the_combinations_of_every_table(monkeypatch, tmp_path):
    package = tmp_path / "some_kernels"
    (package / "s" / "t").mkdir(parents=True)
    first = '("a.cu", {"HR_X": [1, 2], "HR_Y": ["u", "v"]}), ("a.cu", {"HR_X": [2], "HR_Y": ["v", "w"]})'
    (package / "s" / "programs.py").write_text(f"PROGRAMS = ({first})")
    (package / "s" / "t" / "tuning.py").write_text('PROGRAMS = (("b.cu", {"HR_E": ["x", "*"]}),)')
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(source, "PACKAGE", package)
    source.programs_in.cache_clear()
    assert [str(variant) for variant in all_variants()] == [
        "s/a.cu HR_X=1 HR_Y=u",
        "s/a.cu HR_X=1 HR_Y=v",
        "s/a.cu HR_X=2 HR_Y=u",
        "s/a.cu HR_X=2 HR_Y=v",
        "s/a.cu HR_X=2 HR_Y=w",
        "s/t/b.cu HR_E=x",
    ]
    assert str(Variant.of("s/t/b.cu", {"HR_E": "x * 3"})) == "s/t/b.cu HR_E=x * 3"
    for file, defines in [
        ("s/a.cu", {"HR_X": 1, "HR_Y": "w"}),
        ("s/a.cu", {"HR_X": 1}),
        ("s/c.cu", {}),
        ("s/t/a.cu", {"HR_X": 1, "HR_Y": "u"}),
        ("u/a.cu", {"HR_X": 1, "HR_Y": "u"}),
        ("s/a.cu", {"HR_X": 3, "HR_Y": "u"}),
    ]:
        with pytest.raises(OptionError, match="lists no program"):
            Variant.of(file, defines)


def test_at_most_300_programs_are_compiled_ahead_of_time():
    """Rare ones are compiled at their first use: give a macro of theirs the value ANY (docs/decisions/0026-structure.md)."""
    assert len(set(all_variants())) <= 300


def test_every_kernel_file_is_listed_and_every_listed_file_is_there():
    files = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.cu")}
    assert files == {file for file, _ in source.all_programs()}


def test_nothing_compiles_but_what_takes_a_listed_variant():
    # A call of the compiler anywhere else could compile a program that no list names.
    callers = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            if name in {"compile_source", "nvrtcCompileProgram", "nvrtc", "cuLibraryLoadData"}:
                callers.add((path.relative_to(PACKAGE).as_posix(), name))
    assert callers == {
        ("gpu/kernels/compile.py", "compile_source"),
        ("gpu/kernels/compile.py", "nvrtcCompileProgram"),
        ("gpu/kernels/kernel.py", "cuLibraryLoadData"),
        ("gpu/kernels/build.py", "compile_source"),
    }


def test_programs_are_compiled_without_the_native_part(tmp_path):
    # A build that sees NVRTC compiles them before the extension is there.
    pytest.importorskip("cuda.core", exc_type=ImportError)
    tool = Path(__file__).parents[3] / "tools" / "build_cubins.py"
    script = f"import runpy, sys; sys.modules['headrace._native'] = None; runpy.run_path({str(tool)!r})['main'](sys.argv[1], 1)"
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.startswith("4 programs, "), done.stderr


def test_a_program_with_all_bits_of_a_mask_serves_those_with_some():
    rows = "columns/convert/gpu/fast/convert_rows.cu"
    listed = next(variant for variant in all_variants() if variant.file == rows and ("HR_WRITES", 1) in variant.defines)
    usual = Variant.of(rows, {**dict(listed.defines), "HR_KINDS": 0xFFFF})
    some, others, odd = (Variant.of(rows, {**dict(listed.defines), "HR_KINDS": mask}) for mask in (0b101, 0b11, 1 << 16))
    assert [some.servers, odd.servers, listed.servers] == [[usual, listed], [listed], [listed]]
    assert [one.bits for one in (some, usual, listed)] == [2, 16, 23]
    assert source.masks_of(rows) == {"HR_KINDS": (1 << 23) - 1}
    assert [one.serves(some) for one in (listed, some, others)] == [True, True, False]
    assert not some.serves(listed)
    another = Variant.of(rows, {**dict(listed.defines), "HR_KINDS": 0b100})
    assert some.serves(another)
    assert not some.serves(Variant(rows, another.defines[1:]))
    assert [variant for variant in all_variants() if "&" in dict(variant.defines).values()] == []


@pytest.mark.parametrize("variant", ["unquoted", "quoted", "dfa"])
def test_programs_of_the_general_conversion_have_only_what_a_call_needs(variant):
    def mask(work, families):
        program = Variant.of(
            "columns/convert/gpu/general/convert.cu", convert_program(DEFAULT_TUNING, variant, work, families)[0]
        )
        assert program.servers  # a program compiled ahead of time
        return dict(program.defines)["HR_FAMILIES"]

    text, lanes, lists = 1 << 7, 1 << LANES_BIT, 1 << LISTS_BIT
    assert [mask(TileWork.CONVERT, families) for families in (text, text | lanes)] == [text, text | lanes]
    assert mask(TileWork.MEASURE, text) & (lanes | lists) == 0
    assert mask(TileWork.MEASURE, text | lanes) & (lanes | lists) == lanes
    assert mask(TileWork.LIST, text | lanes) == lists


def test_programs_with_lanes_serve_all_tables_that_use_them():
    text = (PACKAGE / "columns/convert/gpu/wide_tiles.cuh").read_text(encoding="utf-8")
    assert f"constexpr u32 lane_columns = {LANE_COLUMNS};" in text
