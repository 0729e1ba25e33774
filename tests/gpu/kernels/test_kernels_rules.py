"""Tests that every program compiles, without a driver and without a warning; by default those of a few files.

One of each third file is compiled for sm_90 as calls compile it, and others without optimisations, in a third of the time. Long
tests compile one program of each file for sm_90, and of each file that asks for the architecture for sm_80. Nightly ones compile
all others for sm_90, and for sm_80 each value of those files' macros, and one of each other file. They also compile one of each
file for one of the newest two.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from headrace.arrange.filter.tuning import DEPTHS
from headrace.arrange.multisplit.gpu.tuning import (
    BY_CHUNKS,
    DIGIT_BITS,
    KERNEL_BITS,
    PassKind,
    SplitTuning,
    rule_defines,
    split_defines,
)
from headrace.core.errors import OptionError
from headrace.gpu.device.device import ARCHITECTURES
from headrace.gpu.kernels.arguments import signature_codes
from headrace.gpu.kernels.build import build_kernels
from headrace.gpu.kernels.source import KernelSourceError, Variant, all_variants
from headrace.primitives.tuning import REDUCE, SCAN_LARGE, SELECT_LARGE, SELECT_SMALL
from headrace.structure.gpu.launches import SearchTuning
from tests.gpu.kernels.some_programs import (
    asks_for_architecture,
    first_of_each_file,
    log_without_optimisations,
    that_differ_on_sm_80,
)

pytest.importorskip("cuda.core", reason="NVRTC comes with the extra cuda13", exc_type=ImportError)

from headrace.gpu.kernels import compile as kernels


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cubins")


SOME = first_of_each_file()[::16]


@pytest.fixture(scope="module")
def built(folder):
    """One program of each of a few files."""
    return list(build_kernels(["sm_90"], folder=folder, variants=SOME))


def test_programs_of_some_files_compile(built):
    assert [each.variant for each in built] == SOME
    assert {str(each.variant): each.log for each in built if each.log} == {}
    assert all(each.nbytes > 0 for each in built)


def test_a_second_build_compiles_nothing(built, folder):
    again = list(build_kernels(["sm_90", "90"], folder=folder, variants=SOME))
    assert all(each.seconds > 0 for each in built) and all(each.seconds == 0 for each in again)
    assert [(each.variant, each.nbytes) for each in built] == [(each.variant, each.nbytes) for each in again]


OPTIMISED = first_of_each_file()[::3]


@pytest.mark.long
def test_one_program_of_each_third_file_compiles_as_calls_compile_it(folder):
    built = list(build_kernels(["sm_90"], folder=folder, variants=OPTIMISED))
    assert all(each.nbytes > 0 for each in built)
    assert {str(each.variant): each.log for each in built if each.log} == {}


def soon() -> dict[str, set[Variant]]:
    """Programs by the architecture that a long test compiles them for."""
    first = set(first_of_each_file())
    return {"sm_90": first - set(OPTIMISED), "sm_80": set(filter(asks_for_architecture, first))}


def later() -> dict[str, set[Variant]]:
    """Those that a nightly test does."""
    others = set(all_variants()) - set(OPTIMISED) - soon()["sm_90"]
    newest = {name: set(first_of_each_file()[begin::2]) for begin, name in enumerate(("sm_100", "sm_120"))}
    return {"sm_90": others, "sm_80": set(that_differ_on_sm_80()) - soon()["sm_80"], **newest}


FIRST_USE = (
    *(("arrange/filter/filter.cu", {"HR_DEPTH": depth, "HR_THREADS": 256}) for depth in DEPTHS[1:]),
    ("arrange/gather/selected_rows.cu", {"HR_ROW": "u64", "HR_THREADS": 256}),
    ("arrange/histogram/histogram.cu", {"HR_KEY": "u32", "HR_THREADS": 1024, "HR_ROWS": 4, "HR_BUCKET": "(key >> 24u)"}),
    ("arrange/histogram/histogram.cu", {"HR_KEY": "u16", "HR_THREADS": 1024, "HR_ROWS": 4}),
    ("arrange/multisplit/gpu/label.cu", {"HR_KEY": "u32", "HR_THREADS": 256, "HR_BUCKET": "(key >> 24u)"}),
    *(("arrange/multisplit/gpu/label.cu", {"HR_KEY": key, "HR_THREADS": 256}) for key in ("float", "double")),
    *(
        ("arrange/multisplit/gpu/split.cu", {**rule_defines(kind), **split_defines(SplitTuning(), kind, BY_CHUNKS, (16,), 1)})
        for kind in (PassKind("u64", "BitsOf", DIGIT_BITS), *(PassKind("u32", "BitsOf", bits) for bits in KERNEL_BITS[:2]))
    ),
    ("arrange/partition_rows/equal_rows.cu", {"HR_ROW": "u64", "HR_THREADS": 256}),
    ("arrange/search/search.cu", {"HR_KEY": "u8", "HR_THREADS": 256, "HR_TURNS": 4}),
    *(("arrange/search/distinct_runs.cu", {"HR_KEY": key, "HR_THREADS": 512, "HR_ROWS": 4}) for key in ("u8", "u32", "u64")),
    *(("arrange/search/distinct_table.cu", {"HR_KEY": key, "HR_THREADS": 512, "HR_ROWS": 2}) for key in ("u32", "u64")),
    *(
        (f"index/hash_map/gpu/{file}.cu", {"HR_KEY_WIDTH": 4, "HR_VALUE_WIDTH": 8, "HR_SLOT_BYTES": 4, "HR_THREADS": 128})
        for file in ("hash_map", "mixed")
    ),
    ("index/hash_map/gpu/row_groups.cu", {"HR_ROW": "u64", "HR_THREADS": 256}),
    *(("primitives/copy.cu", {"HR_WIDTH": width}) for width in (4, 8)),
    ("primitives/reduce.cu", {"HR_OPERATOR": "Sum", "HR_ITEM": "u64", "HR_SOURCE": "u32", **REDUCE}),
    ("primitives/scan.cu", {"HR_OPERATOR": "Max", "HR_ITEM": "double", **SCAN_LARGE}),
    *(("primitives/select.cu", {"HR_WIDTH": width, **sizes}) for width, sizes in ((1, SELECT_SMALL), (16, SELECT_LARGE))),
    ("query/find/paper/prefixes.cu", {"HR_THREADS": 256, "HR_ITEMS": 16}),
    *(("query/find/paper/rabin_karp.cu", {"HR_FORM": form, "HR_THREADS": 256}) for form in range(5)),
    *(("store/dictionary/paper/slices.cu", {"HR_VALUE": value, "HR_THREADS": 128}) for value in ("u32", "u64")),
    ("structure/gpu/summarize_dfa.cu", SearchTuning().dfa(64)),
    (
        "arrange/multisplit/paper/warp_level.cu",
        {"HR_KEY": "u32", "HR_RULE": "BitsOf", "HR_BITS": 5, "HR_REORDER": 1, "HR_THREADS": 256, "HR_ITEMS": 8},
    ),
    ("index/hash_map/paper/allocation.cu", {"HR_SLOT_BYTES": 4, "HR_THREADS": 128}),
)
"""Examples of programs that no list names: calls compile them. Those of sorts are in tests/arrange/sort."""


def first_use() -> dict[str, set[Variant]]:
    return {"sm_90": {Variant.of(file, defines) for file, defines in FIRST_USE}}


@pytest.mark.long
@pytest.mark.parametrize("programs", [soon, first_use, pytest.param(later, marks=pytest.mark.nightly)])
def test_listed_programs_compile(programs: Callable[[], dict[str, set[Variant]]]) -> None:
    work = [(variant, name) for name, variants in programs().items() for variant in variants]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        logs = pool.map(lambda item: log_without_optimisations(*item), work)
        assert {f"{variant} for {name}": log for (variant, name), log in zip(work, logs, strict=True) if log} == {}


def test_every_program_and_architecture_is_compiled_by_a_test() -> None:
    by_long, by_nightly = soon(), later()
    files = {variant.file for variant in all_variants()}
    assert by_long["sm_90"] | by_nightly["sm_90"] | set(OPTIMISED) == set(all_variants())
    assert {variant.file for variant in by_long["sm_90"] | set(OPTIMISED)} == files
    defines = {(variant.file, each) for variant in all_variants() if asks_for_architecture(variant) for each in variant.defines}
    on_sm_80 = by_long["sm_80"] | by_nightly["sm_80"]
    assert {(variant.file, each) for variant in on_sm_80 for each in variant.defines} >= defines
    assert {variant.file for variant in on_sm_80} == files
    assert {variant.file for name in ("sm_100", "sm_120") for variant in by_nightly[name]} == files
    assert set(by_nightly) == set(ARCHITECTURES)


@pytest.mark.parametrize(
    ("file", "macro", "mask"),
    [
        ("fast/convert_rows.cu", "HR_KINDS", 1 << 8),
        pytest.param("fast/convert_rows.cu", "HR_KINDS", 1 << 4 | 1 << 5 | 1 << 10, marks=pytest.mark.long),
        *(pytest.param("general/convert.cu", "HR_FAMILIES", 1 << bit, marks=pytest.mark.long) for bit in (0, 4, 8)),
        *(pytest.param("general/convert.cu", "HR_FAMILIES", 1 << bit, marks=pytest.mark.nightly) for bit in range(11) if bit % 4),
    ],
)
def test_programs_of_masks_with_few_bits_compile(file, macro, mask):
    found = [variant for variant in all_variants() if variant.file.endswith(file) and macro in dict(variant.defines)]
    whole = next(variant for variant in found if ("HR_WRITES", 1) in variant.defines)
    some = Variant.of(whole.file, {**dict(whole.defines), macro: mask})
    assert log_without_optimisations(some, "sm_90") == ""


def test_a_product_and_a_sum_are_not_fused():
    # Were they, both functions would compile to the same.
    plain = "__global__ void f(float* p) { *p = p[1] * p[2] + p[3]; }"
    fused = "__global__ void f(float* p) { *p = __fmaf_rn(p[1], p[2], p[3]); }"
    codes = [kernels.compile_source(f'extern "C" {text}', "fused", "sm_90").code for text in (plain, fused)]
    assert codes[0] != codes[1]


def test_an_error_names_our_file_and_line():
    with pytest.raises(KernelSourceError) as raised:
        kernels.compile_source('int x;\n#line 7 "headrace/core/a.cuh"\nint y = nothing;\n', "a.cu", "sm_90")
    assert "a.cu does not compile for sm_90" in str(raised.value)
    assert 'headrace/core/a.cuh(7): error: identifier "nothing" is undefined' in str(raised.value)


def test_an_unknown_architecture_is_refused(tmp_path):
    with pytest.raises(OptionError, match="did you mean 'sm_120'"):
        list(build_kernels(["sm_12"], folder=tmp_path))


def test_a_kept_cubin_is_taken_without_the_compiler(tmp_path):
    # Two processes: the first compiles, the second could not.
    variant = "Variant.of('primitives/copy.cu', {'HR_WIDTH': 4})"
    take = f"from headrace.gpu.kernels.compile import *; print(len(cubin_of({variant}, 'sm_90')))"
    forbid = "import headrace.gpu.kernels.compile as k\ndef no(*a): raise SystemExit('compiled')\nk.compile_source = no\n"
    environment = os.environ | {"HEADRACE_KERNEL_CACHE": str(tmp_path)}
    sizes = []
    for code in (take, forbid + take):
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        sizes.append(int(done.stdout))
    assert sizes[0] == sizes[1] > 0


@pytest.mark.parametrize(
    ("signature", "codes"), [("", []), ("P", ["Q"]), ("PPq16s", ["Q", "Q", "q", "16s"]), ("8s12sdf", ["8s", "12s", "d", "f"])]
)
def test_signatures(signature, codes):
    assert signature_codes(signature) == codes


def test_what_came_with_the_package_is_taken_first(built, folder, tmp_path):
    # The package of cubins is found by its name, so a process of its own has it on its path.
    package = tmp_path / "headrace_kernels_cuda13"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "cubins").symlink_to(folder)
    code = (
        "import headrace.gpu.kernels.compile as k\n"
        "from headrace.gpu.kernels.source import Variant\n"
        f"k.compile_source = k.user_cache = None\nprint(len(k.cubin_of({built[0].variant!r}, 'sm_90')))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == f"{built[0].nbytes}\n", done.stderr
