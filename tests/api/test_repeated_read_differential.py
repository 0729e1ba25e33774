"""Tests reads of texts in GPU memory that repeat an earlier read with equal options, its kernels under the fiber harness. The
table, its rejects and its report are those of the CPU for each text, in any order.
"""

from __future__ import annotations

import gc
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import headrace
from headrace import _native
from headrace.api.load import prepared, repeated_read
from headrace.api.load.reading import encode_texts, load_plan, prepare, report_later, table_columns
from headrace.api.options.csv_options import ParsedCall, parse_call
from headrace.columns.faults.gpu import fault_list
from headrace.columns.finish.header_faults import with_header_count, with_header_faults
from headrace.columns.infer.infer_gpu import SHORT_SAMPLE
from headrace.columns.load.gpu import estimate, setup_cache
from headrace.columns.load.gpu.load import GpuTarget, load_on_gpu
from headrace.core.device import Device
from headrace.core.identity_cache import IdentityCache
from headrace.gpu.kernels.child_compile import NotCompiledError, uses_children
from headrace.sources.open import open_source
from headrace.structure.gpu.dialect_tables import TOTALS, FindFlag
from headrace.testing.fibers.launcher import FiberLauncher, HostBuffer
from tests.api.same_read import same_read
from tests.columns.load.load_gpu_cases import SHAPE

pytestmark = pytest.mark.fibers

CUDA = Device("cuda", 0)


class TextOnFibers(HostBuffer):
    """A text where the kernels run, as `headrace.arrays.arrays.Array` describes it."""

    device, stream = CUDA, 1


def text_of(data: bytes) -> TextOnFibers:
    return TextOnFibers(np.frombuffer(bytearray(data), np.uint8))


class ReadsOnFibers:
    """Reads texts as `read_csv` does, and counts those that repeat an earlier read."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.repeated = self.waits = 0
        self._launcher = FiberLauncher("random", 0)
        for module, name in ((prepared, "known_beginnings"), (setup_cache, "known_setups"), (repeated_read, "known_reads")):
            patch.setattr(module, name, IdentityCache())
        patch.setattr(repeated_read, "launcher_beside", lambda *_: self._launcher)
        patch.setattr(repeated_read, "gpu", lambda device: device)
        patch.setattr(repeated_read, "text_on_gpu", lambda text: text)
        patch.setattr(repeated_read, "host_view", lambda text, *_: _native.Source.from_bytes(text.array))
        patch.setattr(repeated_read, "DEFAULT_TUNING", SHAPE)
        patch.setattr(repeated_read, "encode_texts_on_gpu", lambda _launcher, *read: encode_texts(*read))

    def read(self, data: bytes, **options: Any) -> headrace.Table:
        call = parse_call({**(headrace.read_csv.__kwdefaults__ or {}), **options})
        text, before = text_of(data), self._launcher.waits
        table = repeated_read.repeat_read(text, call, 0.0)
        self.waits = self._launcher.waits - before
        self.repeated += table is not None
        return self._read(data, text, call) if table is None else table

    def _read(self, data: bytes, text: TextOnFibers, call: ParsedCall) -> headrace.Table:
        """Read step by step."""
        parsed = call.options()
        with open_source(data, parsed.source) as opened:
            source: Any = replace(opened, on_gpu=text)
            known = prepare(source, parsed)
            loaded = load_on_gpu(GpuTarget(self._launcher, text, SHAPE), source, parsed.dialect, load_plan(source, known, parsed))
            loaded = encode_texts(loaded, known, parsed)
            rejects = with_header_faults(loaded.rejects, known.beginning, parsed.context)
            loaded = replace(loaded, rejects=rejects, counts=with_header_count(loaded.counts, known.beginning))
            report = report_later(source, known, loaded, parsed, {})
            table = headrace.Table(table_columns(known, loaded, parsed), rejects=headrace.Table(rejects), report=report)
            repeated_read.keep_read(source, call, parsed)
            return table

    def check(self, data: bytes, **options: Any) -> None:
        """The same table, rejects and report as on the CPU, or the same error."""
        both = same_read(self.read, data, options)
        if both is None:
            return
        found, expected = both
        for name in ("renamed", "notes", "header", "faults", "unread_bytes", "replaced"):
            assert getattr(found.report, name) == getattr(expected.report, name), name


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> ReadsOnFibers:
    return ReadsOnFibers(monkeypatch)


LINES = b"".join(f"{row},{'x' * (row % 7)},{row}.5\n".encode() for row in range(60)) + b",,\n"
TEXTS = {
    "a header": b"a,b,c\n" + LINES,
    "the same and more": b"a,b,c\n" + LINES * 3,
    "the same alone": b"a,b,c\n",
    "the same and nothing else": b"a,b,c",
    "the same and blank lines": b"a,b,c\n\n\n" + LINES,
    "the same and other types": b"a,b,c\n" + b"x,1,2020-01-01\n" * 30,
    "the same and a fault": b"a,b,c\n" + LINES + b"x,y,z\n1,2\n" + LINES,
    "one that begins alike": b"a,b,cd\n" + LINES,
    "one that is shorter": b"a,b\n1,2\n" * 20,
    "quotes in the header": b'a,"b\nb",c\n' + LINES,
    "CR LF": b"a,b,c\r\n" + LINES,
    "a mark": b"\xef\xbb\xbfa,b,c\n" + LINES,
    "no header": LINES,
    "another number of fields": b"1,2\n3,4\n" * 20,
    "names twice": b"a,a,\n" + LINES,
    "empty": b"",
    "malformed": b'a,"b,c\n' + LINES,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "none": {"on_error": "null"},
    "a header and types": {"schema": {"a": "int64", "b": "string", "c": "float64"}, "on_error": "null"},
    "no header": {"header": False, "on_error": "reject"},
    "no header and types": {"header": False, "schema": ["int64", "string", "float64"], "on_error": "null"},
    "faults raise": {"header": True},
    "some columns": {"columns": ["c", "a"], "on_error": "null"},
    "a row index": {"row_index_name": "n", "on_error": "null"},
    "rows left out": {"skip_rows_after_header": 1, "on_error": "null"},
    "dictionaries": {"strings": "dictionary", "on_error": "null"},
}


@pytest.mark.covering(default=0, long=0)
@pytest.mark.long_except("none", "no header and types", "faults raise")
@pytest.mark.parametrize("options", OPTIONS)
def test_each_text_after_others(reads, options):
    order = random.Random(options).sample(sorted(TEXTS), len(TEXTS))
    for kind in [*order, *order[::-1]]:
        reads.check(TEXTS[kind], **OPTIONS[options])


@pytest.mark.covering(default=1, long=2)
@pytest.mark.parametrize("odd", [b'1,"x\n,y"\n' * 300, b'\xff,"x"y\n' * 300, b'"\xff' * 999])
@pytest.mark.parametrize("last", [b"7", b"de"])
def test_a_text_that_the_expected_search_cannot_read_is_not_measured(reads, odd, last, monkeypatch):
    """The strings of many columns are measured by the launches of the text before. If the search has given up, its tiles have no
    begin, so none is measured.
    """
    unread: list[bool] = []
    launch = FiberLauncher.launch

    def fetched(launcher, buffer):
        launcher.waits -= 1  # the read does not wait for this
        return launcher.fetch(buffer)

    def watched(self, entry, shape, args):
        before = fetched(self, args[3]).tobytes() if entry.name == "measure_strings" else b""
        launch(self, entry, shape, args)
        if entry.name == "measure_strings" and args[4] is not None:
            totals = fetched(self, args[4]).view(TOTALS)
            if (totals["flags"][0] & FindFlag.REDO) and not totals["bytes"].any():
                unread.append(True)
                assert fetched(self, args[3]).tobytes() == before

    monkeypatch.setattr(FiberLauncher, "launch", watched)
    names = ",".join(f"c{number}" for number in range(40)).encode()
    wide = names + b"\n" + (b"abc,de," * 19 + b"abc," + last + b"\n") * 20
    for number, text in enumerate((odd, b"a,b\n" + odd, names + b"\n" + odd)):
        for _ in range(4):
            reads.check(wide, on_error="null")
        assert reads.waits == 1  # the wide text is expected before a byte of the next one is known
        reads.check(text, on_error="null")
        assert len(unread) == (number + 1) * (last == b"7")  # fields of strings alone are listed instead


@pytest.mark.parametrize("options", [{"comment": "#"}, {"comment": "#", "quote_char": None}, {"escape_char": "\\"}])
def test_a_text_that_only_the_automaton_reads_after_others(reads, options):
    """The launches that are repeated search by byte masks alone. If these give up, no tile has a begin."""
    plain, odd = b"a,b\n" + b"1,x\n" * 900, b"a,b\n" + b"1,x\n" * 400 + b"#\\,note\n" + b"2,y\n" * 400
    for text in (plain, plain, plain, odd, plain):
        reads.check(text, on_error="null", **options)
    assert reads.repeated == 2


@pytest.mark.parametrize("options", ["none", "a header and types"])
def test_a_text_that_begins_alike_repeats_the_read(reads, options):
    waits = []
    for number, kind in enumerate(("a header", "the same and more", "a header", "the same and more", "a header")):
        reads.check(TEXTS[kind], **OPTIONS[options])
        assert reads.repeated == number
        waits.append(reads.waits)
    assert waits[1:] == [2, 2, 1, 1]  # for the first bytes and the results, then for both


@pytest.mark.parametrize("form", ["dictionary", "view"])
def test_a_repeated_read_gives_strings_their_form(reads, form):
    for number, kind in enumerate(("a header", "the same and more", "a header")):
        reads.check(TEXTS[kind], strings=form, on_error="null")
        assert reads.repeated == number
    assert reads.read(TEXTS["a header"], strings=form).schema["b"].name in {"dictionary", "string_view"}


def test_texts_with_quotes_and_without_them_take_turns(reads):
    quoted = b"a,b,c\n" + LINES.replace(b"x", b'"x"')
    for number in range(3):
        reads.check(TEXTS["a header"], **OPTIONS["a header and types"])
        reads.check(quoted, **OPTIONS["a header and types"])
        assert reads.repeated == 2 * number


@pytest.mark.parametrize("options", ["none", "a header and types", "dictionaries"])
@pytest.mark.parametrize("on_error", ["null", "reject"])
def test_texts_with_faults_repeat_the_read(reads, options, on_error):
    """The host waits for the conversion, for the faulty records, and for the copy of their texts."""
    given = {**OPTIONS[options], "on_error": on_error}
    faulty = b"a,b,c\n" + LINES + b"7,y\n8,x,1.5,z\n" * 3 + LINES
    for _ in range(5):
        reads.check(faulty, **given)
    assert reads.repeated >= 3
    repeated = reads.repeated
    for data in (faulty + LINES, faulty + b"9,z\n", TEXTS["a header"], faulty, faulty):
        reads.check(data, **given)
    assert reads.repeated >= repeated + 3


def test_lenient_quotes_after_a_header_without_quotes_repeat_the_read(reads):
    """Repaired quotes are faults. A header with quotes is read step by step, since later bytes may change their meaning."""
    given = {"on_error": "null", "lenient_quotes": True}
    body = LINES.replace(b",xx,", b',"x "x",').replace(b",xxx,", b',"a b",')
    for _ in range(6):
        reads.check(b"a,b,c\n" + body, **given)
    assert reads.repeated >= 3
    assert reads.waits <= 3
    repeated = reads.repeated
    for header in (b'a,"b,c\n', b'a,"b" x,c\n', b'"a,b,c\n'):
        for data in (body, body + b'x",1,2\n'):
            reads.check(header + data, **given)
            reads.check(header + data, **given)
    assert reads.repeated == repeated
    reads.check(b"a,b,c\n" + body * 2, **given)


def test_texts_that_differ_are_read_step_by_step(reads):
    for kind in ("a header", "one that begins alike", "a header", "the same and a fault", "a header", "a header"):
        reads.check(TEXTS[kind], **OPTIONS["a header and types" if kind == "a header" else "none"])
    assert reads.repeated == 3


OTHERS = {
    "one that begins alike": False,
    "the same and nothing else": False,
    "the same and a fault": False,
    "a mark": False,
    "empty": False,
    "the same and more": True,
}


@pytest.mark.parametrize("other", OTHERS)
def test_launches_for_another_text_are_dropped(reads, other):
    """After texts that begin alike, all is launched for the next one before its begin is known."""
    for _ in range(4):
        reads.check(TEXTS["a header"], **OPTIONS["none"])
    reads.check(TEXTS[other], **OPTIONS["none"])
    assert reads.repeated == 3 + OTHERS[other]
    for _ in range(3):
        reads.check(TEXTS["a header"], **OPTIONS["none"])


def test_sizes_that_the_last_text_does_not_predict(reads, monkeypatch):
    """A text with more or fewer rows than its size suggests is read step by step, and the next ones wait for their begin."""
    for name in ("SPARE_ROWS", "SPARE_STRING_BYTES"):
        monkeypatch.setattr(estimate, name, 0)
    short = b"a,b,c\n" + LINES * 2 + b"1,x,1\n" * 90
    long = b"a,b,c\n" + LINES * 2 + b"1,xxxxxxxxxxxxxxxxxxxxxxxxx,1\n" * 90
    found = []
    for data in (*[short] * 5, *[long] * 5, short):
        before = reads.repeated
        reads.check(data, **OPTIONS["a header and types"])
        found.append((reads.repeated - before, reads.waits))
    one_wait, in_vain = (1, 1), (0, 1)
    assert found[3:] == [one_wait, one_wait, in_vain, (1, 2), (1, 2), one_wait, one_wait, in_vain]


def test_the_sample_of_a_text_comes_with_its_first_bytes(reads, monkeypatch):
    """A copy of it after the launches would wait for them."""
    fetched: list[int] = []

    def host_view(text, _, start):
        fetched.append(len(start))
        return _native.Source.from_bytes(text.array)

    monkeypatch.setattr(repeated_read, "first_fetch_bytes", lambda size: min(size, 64))
    monkeypatch.setattr(repeated_read, "host_view", host_view)
    for _ in range(5):
        reads.check(b"a,b,c\n" + LINES * 9, **OPTIONS["none"])
    assert fetched == [64, 64, 6 + SHORT_SAMPLE // 2, 6 + SHORT_SAMPLE // 2]


def test_a_search_for_a_text_without_quotes_is_dropped_if_it_has_some(reads):
    quoted = b"a,b,c\n" + LINES.replace(b"x", b'"x"')
    for data in (TEXTS["a header"], quoted, quoted, TEXTS["a header"], TEXTS["a header"], quoted, quoted):
        reads.check(data, **OPTIONS["a header and types"])
    assert reads.repeated == 5


def test_options_are_compared_by_their_content(reads):
    schema = {"a": "int64", "b": "string", "c": "float64"}
    for _ in range(2):
        reads.check(TEXTS["a header"], schema=dict(schema))
    assert reads.repeated == 1
    schema["a"] = "float64"
    for repeated in (1, 2):
        reads.check(TEXTS["a header"], schema=schema)
        assert reads.repeated == repeated


def test_row_numbers_are_not_repeated(reads):
    for _ in range(2):
        reads.check(TEXTS["a header"], **OPTIONS["a row index"])
    assert not reads.repeated


def test_a_table_and_its_report_hold_no_text(reads):
    for _ in range(3):
        table = reads.read(TEXTS["a header"])
    report = table.report
    assert report.bytes == len(TEXTS["a header"])
    assert report.columns == headrace.read_csv(TEXTS["a header"]).report.columns
    gc.collect()


def test_a_text_that_begins_alike_is_read_step_by_step_if_a_kernel_for_dictionaries_is_missing(reads, monkeypatch):
    monkeypatch.delenv("HEADRACE_FIRST_READ", raising=False)
    text, options, encode = TEXTS["a header"], OPTIONS["dictionaries"], repeated_read.encode_texts_on_gpu
    for _ in range(2):
        reads.check(text, **options)
    assert reads.repeated == 1

    def missing(*_):
        assert uses_children()
        raise NotCompiledError

    monkeypatch.setattr(repeated_read, "encode_texts_on_gpu", missing)
    reads.check(text, **options)
    assert reads.repeated == 1
    monkeypatch.setattr(repeated_read, "encode_texts_on_gpu", encode)
    reads.check(text, **options)
    assert reads.repeated == 2


def test_a_list_of_faults_has_the_room_that_it_was_launched_with(monkeypatch):
    """A read of another thread teaches meanwhile that texts of the plan have many faults."""
    monkeypatch.setattr(fault_list, "MAX_FAULTS", 8)
    reads, given = ReadsOnFibers(monkeypatch), OPTIONS["a header and types"]
    few = b"a,b,c\n" + LINES + b"x,y,1\n"
    for _ in range(3):
        reads.check(few, **given)
    assert reads.repeated
    setup = repeated_read.load_setup
    plans: list[Any] = []

    def noted(gpu_plan, *others):
        plans.append(gpu_plan)
        return setup(gpu_plan, *others)

    def later(*arguments):
        plans[-1].expected_faults = 100
        return load_plan(*arguments)

    monkeypatch.setattr(repeated_read, "load_setup", noted)
    monkeypatch.setattr(repeated_read, "load_plan", later)
    reads.check(few + b"x,y,1\n" * 20, **given)
    assert plans
