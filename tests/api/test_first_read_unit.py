"""Which device reads a text while the programs of a GPU are compiled."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from headrace import Context, ParseError
from headrace.api.load.reading import load_placed, prepare
from headrace.api.options.csv_options import parse_options
from headrace.api.options.table import DEFAULTS
from headrace.columns.load.gpu import load_text
from headrace.gpu.kernels.child_compile import NotCompiledError, uses_children
from headrace.sources.open import open_source


@pytest.fixture
def loads(monkeypatch):
    """Answers of `uses_children` in loads on a GPU whose programs are missing."""
    seen = []

    def load(*given):
        seen.append(uses_children())
        raise NotCompiledError

    monkeypatch.delenv("HEADRACE_FIRST_READ", raising=False)
    monkeypatch.setattr(load_text, "launcher_for", lambda *given: SimpleNamespace(current=nullcontext))
    monkeypatch.setattr(load_text, "load_text", load)
    return seen


def loaded(text, **options):
    parsed = parse_options({**DEFAULTS, "context": Context(device="cuda", threads=1), **options})
    with open_source(text, parsed.source) as opened:
        return load_placed(opened, prepare(opened, parsed), parsed)


def test_the_cpu_reads_a_short_text_whose_programs_are_missing(loads):
    found = loaded(b"a,b\n1,x\n2,y\n", strings="dictionary")
    assert found.device == "cpu"
    assert [column.to_pylist() for column in found.columns] == [[1, 2], ["x", "y"]]
    assert str(found.columns[1].type).startswith("dictionary")
    assert loads == [True] and not uses_children()


def test_the_compiler_is_waited_for_if_a_text_is_long_or_the_caller_asks_for_it(loads, monkeypatch):
    line = b"1,x\n"
    for text in (line * ((64 << 20) // len(line)), line * ((64 << 20) // len(line) + 1)):
        loaded(text)
    monkeypatch.setenv("HEADRACE_FIRST_READ", "compile")
    loaded(line)
    assert loads == [True, False, False]


def test_a_fault_raises_the_same_error(loads):
    options = {"schema": ["int8"], "header": False}
    with pytest.raises(ParseError, match="300"):
        loaded(b"1\n300\n", **options)
    assert loads == [True]
