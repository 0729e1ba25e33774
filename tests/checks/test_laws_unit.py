"""Tests that each law finds a made-up violation in its place, accepts allowed code, and holds on this tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import extras, file_size, floating_point, import_order, readme, shared_rules, test_files, who_knows_what, words
from checks.tree import without_comments

ROOT = Path(__file__).parents[2]
PACKAGE = "src/headrace"
OPTIONS = "add_compile_options(-Wall -ffp-contract=off)\n"
COMMANDS = "```sh\npip install . && headrace demo\n```\n```sh\npip install '.[test]' && pytest\n```\n"
FORBIDDEN = ("TO~DO", "FIX~ME", "X~XX", "raise Not~ImplementedError", "open('/~work/data.csv')", "see /~home/someone/notes")
"""Cut in two by ``~``, so that this file holds none of them."""


def places(law, root):
    return [(finding.path, finding.line) for finding in law.check(root)]


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("structure/find.py", "from headrace.columns.types import DataType"),
        ("structure/find.py", "import headrace.columns.types"),
        ("structure/find.py", "from headrace.columns import types"),
        ("structure/find.py", "from headrace import columns"),
        ("structure/find.py", "from headrace import read_csv"),
        ("structure/find.py", "from ..columns import types"),
        ("structure/find.py", "def late():\n    from headrace.columns.types import DataType"),
        ("core/options.py", "from headrace.sources.open import open_source"),
        ("core/options.py", "from headrace.api.table import Table"),
        ("columns/load.py", "from headrace.testing.oracle import split"),
        ("cli/load.py", "from headrace.export.files import write_table"),
        ("cli/load.py", "from headrace.core.options import Given"),
        ("testing/oracle.py", "from headrace.cli.main import main"),
        ("__init__.py", "from headrace.testing.oracle import split"),
        ("structure/cpu/scan.cpp", '#include "columns/load.hpp"'),
        ("core/cpu/isa.hpp", '  #  include "sources/source.hpp"'),
        ("arrange/sort.cu", '#include "index/hash_map.hpp"'),
    ],
)
def test_import_to_the_right_is_found(write, tmp_path, path, line):
    write(f"{PACKAGE}/{path}", f"\n{line}\n")
    assert places(import_order, tmp_path) == [(f"{PACKAGE}/{path}", 2 + line.count("\n"))]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("structure/find.py", "from headrace import _native"),
        ("structure/find.py", "from headrace.sources.open import OpenSource"),
        ("structure/find.py", "import pandas"),
        ("store/log.py", "from headrace.sources.open import OpenSource"),
        ("api/table.py", "from headrace.export.arrow.arrow import stream_capsule"),
        ("cli/load.py", "from headrace import Table, read_csv"),
        ("cli/load.py", "from headrace.core.errors import OptionError"),
        ("testing/oracle.py", "from headrace.api.table import Table"),
        ("__main__.py", "from headrace.cli.main import main"),
        ("columns/load.cpp", '#include "structure/cpu/scan.hpp"'),
        ("columns/load.cpp", "#include <columns>"),
    ],
)
def test_import_to_the_left_is_allowed(write, tmp_path, path, line):
    write(f"{PACKAGE}/{path}", f"{line}\n")
    assert places(import_order, tmp_path) == []


def test_folder_that_is_no_stage_is_found(write, tmp_path):
    write(f"{PACKAGE}/utils/misc.py", "")
    assert places(import_order, tmp_path) == [(f"{PACKAGE}/utils/misc.py", 0)]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("columns/load.cpp", "#include <nanobind/nanobind.h>"),
        ("columns/load.hpp", "PyObject* made;"),
        ("columns/load.hpp", "nb::object made;"),
        ("columns/load.cpp", "#if defined(__CUDACC__)"),
        ("columns/bindings.cpp", "cudaStream_t stream;"),
        ("columns/bindings.cpp", "const nb::gil_scoped_release release;"),
        ("columns/rules/numbers/digits.hpp", "__device__ int x;"),
    ],
)
def test_wrong_language_is_found(write, tmp_path, path, line):
    write(f"{PACKAGE}/{path}", f"// nanobind, CUDA\n{line}\n")
    assert places(who_knows_what, tmp_path) == [(f"{PACKAGE}/{path}", 2)]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("columns/bindings.cpp", "#include <nanobind/nanobind.h>"),
        ("core/cpu/portable.hpp", "#if defined(__CUDACC__)"),
        ("arrange/sort.cu", "__global__ void sort();"),
        ("columns/load.cpp", "int x;  // as cudaMemcpy does, PyObject"),
        ("columns/load.cpp", "/* __CUDACC__\n   PyObject */"),
    ],
)
def test_right_language_is_allowed(write, tmp_path, path, line):
    write(f"{PACKAGE}/{path}", f"{line}\n")
    assert places(who_knows_what, tmp_path) == []


@pytest.mark.parametrize(
    ("path", "include"),
    [
        ("columns/rules/numbers/digits.hpp", "<cstdint>"),
        ("columns/rules/numbers/digits.hpp", '"core/cpu/simd.hpp"'),
        ("structure/dfa.hpp", '"structure/cpu/find.hpp"'),
        ("core/cpu/portable.hpp", "<cstring>"),
    ],
)
def test_foreign_include_of_a_shared_rule_is_found(write, tmp_path, path, include):
    write(f"{PACKAGE}/{path}", f'#include "core/cpu/portable.hpp"\n#include {include}\n')
    assert places(shared_rules, tmp_path) == [(f"{PACKAGE}/{path}", 2)]


def test_other_headers_include_what_they_like(write, tmp_path):
    write(f"{PACKAGE}/columns/load.hpp", "#include <vector>\n")
    write(f"{PACKAGE}/columns/rules/numbers/digits.hpp", '#include "columns/rules/common/status.hpp"\n// #include <vector>\n')
    assert places(shared_rules, tmp_path) == []


@pytest.mark.parametrize("path", ["src/headrace/columns/long.cpp", "tests/long.py", "bench/long.py", "checks/long.py"])
def test_file_of_501_lines_is_found(write, tmp_path, path):
    write(path, "x\n" * 501)
    assert places(file_size, tmp_path) == [(path, 0)]


@pytest.mark.parametrize(("lines", "found"), [(80, 0), (81, 1)])
def test_a_decision_has_at_most_80_lines(write, tmp_path, lines, found):
    write("docs/decisions/0001-one.md", "x\n" * lines)
    assert len(places(file_size, tmp_path)) == found


def test_file_of_500_lines_is_noted_only(write, tmp_path):
    write("src/headrace/long.py", "x\n" * 500)
    write("src/headrace/fine.py", "x\n" * 300)
    write("src/headrace/data/flights.py", "x\n" * 501)
    assert places(file_size, tmp_path) == []
    assert [note.partition(":")[0] for note in file_size.notes(tmp_path)] == ["src/headrace/long.py"]


@pytest.mark.parametrize("option", ["-Ofast", "-ffast-math", "-funsafe-math-optimizations", "-ffp-contract=fast"])
def test_loose_compile_option_is_found(write, tmp_path, option):
    write("CMakeLists.txt", f"{OPTIONS}add_compile_options({option})\n")
    assert places(floating_point, tmp_path) == [("CMakeLists.txt", 2)]


def test_missing_contract_option_is_found(write, tmp_path):
    write("CMakeLists.txt", "add_compile_options(-Wall)\n")
    assert places(floating_point, tmp_path) == [("CMakeLists.txt", 0)]


@pytest.mark.parametrize(
    "line",
    [
        "return std::fma(a, b, c);",
        "return __builtin_fma(a, b, c);",
        "return fma(a, b, c);",
        "x = _mm512_fmadd_pd(a, b, c);",
        "x = _mm256_mask_fnmsub_ps(a, b, c);",
        "#pragma STDC FP_CONTRACT ON",
        '#pragma GCC optimize("fast")',
    ],
)
def test_fused_operation_is_found(write, tmp_path, line):
    write("CMakeLists.txt", OPTIONS)
    write(f"{PACKAGE}/columns/rules/scale.hpp", f"// fma(\n{line}\n")
    assert places(floating_point, tmp_path) == [(f"{PACKAGE}/columns/rules/scale.hpp", 2)]


def test_fused_operation_is_allowed_where_it_is_named(write, tmp_path, monkeypatch):
    write("CMakeLists.txt", OPTIONS)
    write(f"{PACKAGE}/columns/rules/scale.hpp", "return std::fma(a, b, c);\n")
    monkeypatch.setattr(floating_point, "FUSED_BY_NAME", (f"{PACKAGE}/columns/rules/scale.hpp",))
    assert places(floating_point, tmp_path) == []


@pytest.mark.parametrize("text", FORBIDDEN)
@pytest.mark.parametrize("path", ["src/headrace/a.py", "src/headrace/a.hpp", "docs/page.md", ".ci/run", "README.md"])
def test_forbidden_word_is_found(write, tmp_path, path, text):
    write(path, f"\n{text.replace('~', '')}\n")
    assert places(words, tmp_path) == [(path, 2)]


@pytest.mark.parametrize("text", ["a todo list", "https://example.org/work/1", "EXXXIT", "./work/out", "homework/root.csv"])
def test_harmless_word_is_allowed(write, tmp_path, text):
    write("docs/page.md", text)
    assert places(words, tmp_path) == []


@pytest.mark.parametrize(
    "line",
    [
        "pytest.skip()",
        "pytest.skip('')",
        "@pytest.mark.skip",
        "@pytest.mark.skipif(True)",
        "@pytest.mark.xfail",
        "@pytest.mark.xfail(strict=True)",
        "@pytest.mark.xfail(reason='')",
        "pytest.param(1, marks=pytest.mark.skip)",
    ],
)
def test_test_left_out_silently_is_found(write, tmp_path, line):
    write("tests/test_a.py", f"\n{line}" + ("\ndef test(): pass\n" if line.startswith("@") else "\n"))
    assert places(words, tmp_path) == [("tests/test_a.py", 2)]


def test_test_left_out_with_a_reason_is_allowed(write, tmp_path):
    lines = [
        "pytest.skip('needs a GPU')",
        "pytest.skip(reason=why)",
        "@pytest.mark.skipif(True, reason='needs a GPU')",
        "@pytest.mark.xfail(reason='known')",
        "def test(): pass",
    ]
    write("tests/test_a.py", "\n".join(lines))
    assert places(words, tmp_path) == []


def test_readme_commands_are_taken_from_its_text():
    assert readme.command(COMMANDS, "run") == "pip install . && headrace demo"
    assert readme.command(COMMANDS, "test") == "pip install '.[test]' && pytest"


@pytest.mark.parametrize("text", ["", COMMANDS.replace("pytest", "tox"), COMMANDS + "```sh\npip install . && pytest -x\n```\n"])
def test_readme_without_its_command_is_found(write, tmp_path, text):
    write("README.md", text)
    assert ("README.md", 0) in places(readme, tmp_path)


def test_missing_readme_is_found(tmp_path):
    assert places(readme, tmp_path) == [("README.md", 0)]


def test_comments_are_blanked_and_texts_are_not():
    assert without_comments('a; // b\n"/* c */" /* d\ne */ f') == 'a; \n"/* c */" \n f'


EXTRAS = '[project]\nname = "headrace"\n[project.optional-dependencies]\narrow = ["pyarrow"]\ncli = ["rich"]\n'


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/headrace/a.py", "print(\"pip install 'headrace[torch]'\")"),
        ("src/headrace/a.py", "raise MissingDependencyError.of('torch', 'torch', 'to_torch()')"),
        ("src/headrace/a.py", "needed('cudf', 'cudf', 'to_cudf()')"),
        ("src/headrace/a.py", "_Format(write, 'avro', ('fastavro',))"),
        ("README.md", "pip install '.[arrow,torch]'"),
    ],
)
def test_extra_that_is_not_there_is_found(write, tmp_path, path, text):
    write("pyproject.toml", EXTRAS)
    write(path, text)
    assert places(extras, tmp_path) == [(path, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "print(\"pip install 'headrace[arrow,cli]'\")",
        "MissingDependencyError.of('pyarrow', 'arrow', 'to_arrow()')",
        "needed('torch', None, 'to_torch()')",
        "cls.of('x', 'y')",
        "columns[a]",
    ],
)
def test_extra_that_is_there_is_allowed(write, tmp_path, text):
    write("pyproject.toml", EXTRAS)
    write("src/headrace/a.py", text)
    assert places(extras, tmp_path) == []


@pytest.mark.parametrize(
    "line",
    [
        "from tests.columns.test_load import check",
        "import tests.columns.test_load",
        "from tests.columns import test_load",
        "from test_load import check",
        "def late():\n    from tests.columns.test_load import check",
    ],
)
def test_an_imported_test_file_is_found(write, tmp_path, line):
    write("tests/columns/test_other.py", f"\n{line}\n")
    assert places(test_files, tmp_path) == [("tests/columns/test_other.py", 2 + line.count("\n"))]


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("monkeypatch.setattr(module, '_LIMIT', 3)", 1),
        ("monkeypatch.setattr('headrace.core.options._LIMIT', 3)", 1),
        ("monkeypatch.delattr(module, '_LIMIT')", 1),
        ("monkeypatch.setattr(module, 'LIMIT', 3)", 0),
        ("monkeypatch.setattr(Class, '__init__', made)", 0),
        ("monkeypatch.setattr(module, name, 3)", 0),
        ("from tests.columns.load_cases import check", 0),
        ("from headrace.testing.oracle import split", 0),
    ],
)
def test_a_replaced_private_name_is_found(write, tmp_path, line, count):
    write("tests/columns/test_other.py", f"{line}\n")
    assert len(test_files.check(tmp_path)) == count


def test_two_test_files_of_one_name(write, tmp_path):
    for folder in ("api", "cli"):
        write(f"tests/{folder}/test_words.py", "def test_words():\n    pass\n")
        write(f"tests/{folder}/word_cases.py", "WORDS = ()\n")
    assert places(test_files, tmp_path) == [("tests/cli/test_words.py", 0)]
