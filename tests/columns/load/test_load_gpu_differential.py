"""Tests loading on a GPU, its kernels under the fiber harness, against `read_csv` on the CPU: the same columns, counts and
evidence.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import headrace
from headrace.columns.infer import infer_gpu
from tests.columns.convert.convert_kernels_cases import TEXTS, table
from tests.columns.load.load_gpu_cases import SHAPE, check, read_on_fibers, same_table
from tests.tiers import seeds

pytestmark = pytest.mark.fibers


def test_one_wait_for_counts_and_the_result():
    assert check(b"a,b\n1,x\n2,yy\n", dtypes={"a": "int32", "b": "string"}) == 1
    assert check(b"a,b\n1,x\n2,yy\n") == 1


@pytest.mark.parametrize("later", [b"x", b"2.5", b"-1", b"", b'"x"', b"2020-01-01"])
def test_a_column_that_begins_with_integers_beyond_64_bits(later, monkeypatch):
    monkeypatch.setattr(infer_gpu, "SHORT_SAMPLE", 64)  # later rows are outside the sample
    long = [b"99999999999999999999,x", b"2,y"] * 4
    for first in (long, [b"1,x"] * 2 + long, [b"1,x"] * 40 + long, [b",x"] * 3 + long):
        check(b"a,b\n" + b"\n".join([*first, later + b",z", b"3,x"] * 3))


@pytest.mark.parametrize("first", [[b"-1", b"9223372036854775808"], [b"9223372036854775808", b"-1"]])
def test_the_evidence_for_text_follows_signed_and_unsigned_numbers(first, monkeypatch):
    monkeypatch.setattr(infer_gpu, "SHORT_SAMPLE", 64)
    check(b"a,b\n" + b"\n".join(one + b",1" for one in [*first, *[b"7"] * 40, b"x"]))


def test_one_more_wait_without_an_estimate():
    known = replace(SHAPE, speculative=False)
    assert check(b"a,b\n1,x\n2,yy\n", dtypes={"a": "int32", "b": "string"}, shape=known) == 2
    assert check(b"a,b\n1,x\n2,yy", skip_rows=1, header=False) == 1
    assert check(b"1,x", header=False) == 2


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("skew", [0, 1, 15])
@pytest.mark.parametrize("quoted", [0.0, 0.3])
def test_given_types(skew, quoted):
    rng = random.Random(skew)
    for _ in range(6):
        types = rng.sample(sorted(set(TEXTS) - {"null", "timestamp[s, Europe/Berlin]"}), 5)
        data = table(rng, types, rng.randrange(1, 60), junk=0, quoted=quoted)
        check(data, header=False, schema=types, skew=skew, seed=rng.randrange(1000))


@pytest.mark.parametrize("seed", seeds(8))
def test_inferred_types(seed):
    rng = random.Random(seed)
    types = rng.sample(["int64", "float64", "date32", "timestamp[us]", "bool", "string", "uint64", "time64[us]"], 4)
    names = ",".join(f"c{i}" for i in range(4)).encode()
    data = names + b"\n\n" + table(rng, types, 40, junk=0.02 * (seed % 2), quoted=0.1 * (seed % 3))
    check(data, seed=seed)


@pytest.mark.long  # each mask is a program of its own here
@pytest.mark.parametrize("types", [["int32", "string"], ["float64", "date32"], ["bool", "decimal128(12, 2)"], None])
def test_programs_for_the_kinds_of_a_plan(types, monkeypatch):
    monkeypatch.setattr("headrace.testing.fibers.launcher.whole_masks", lambda file, defines: defines)
    rng = random.Random(0)
    drawn = types or ["int64", "string"]
    for junk in (0, 0.05):
        data = table(rng, drawn, 60, junk=junk, quoted=0)
        check(data, header=False, on_error="null", **({} if types is None else {"schema": types}))


@pytest.mark.parametrize("seed", range(4))
def test_faults_of_fields_are_rows_of_rejects(seed):
    rng = random.Random(seed)
    types = rng.sample(["int64", "float64", "date32", "timestamp[us]", "bool", "string", "uint8"], 4)
    data = table(rng, types, 40, junk=0.1, quoted=0.1)
    options = {"header": False, "schema": types, "on_error": "null"}
    check(data, seed=seed, **options)
    found, _ = read_on_fibers(data, seed=seed, **options)
    expected = headrace.read_csv(data, **options)
    assert found is not None and len(expected.rejects) > 0
    assert found.rejects.to_pydict() == expected.rejects.to_pydict()


def test_a_type_that_changes_after_the_sample():
    lines = [b"1,2,2020-01-01"] * 20_000 + [b"2.5,99999999999999999999,text"]
    data = b"a,b,c\n" + b"\n".join(lines)
    found, _ = read_on_fibers(data)
    expected = headrace.read_csv(data)
    assert found is not None and found.schema == expected.schema
    assert_same = [(found[name].to_pylist()[-2:], found[name].null_count) for name in "abc"]
    assert assert_same == [(expected[name].to_pylist()[-2:], expected[name].null_count) for name in "abc"]
    assert found.report.columns == expected.report.columns


@pytest.mark.parametrize(
    "options",
    [{"sep": ";"}, {"n_rows": 3}, {"skip_rows": 1}, {"columns": [1]}, {"null_values": ["NA", ""]}, {"quote_char": None}],
)
def test_options(options):
    sep = options.get("sep", ",").encode()
    lines = [b"x%sname" % sep, *[b"%d%s%s" % (i, sep, [b"NA", b"ann", b"", b"bo"][i % 4]) for i in range(20)]]
    check(b"\r\n".join(lines), **options)


@pytest.mark.parametrize("lengths", [(1, 40), (40, 1), (9, 9)])
def test_buffers_fit_the_actual_rows(lengths):
    """Also where the first ones, by which it is taken ahead, are shorter or longer than the others."""
    short, long = lengths
    lines = [f"{row},{'a' * short}" for row in range(2000)] + [f"{row},{'b' * long}" for row in range(6000)]
    data = "\n".join(lines).encode()
    for _ in range(2):  # the first read may wait once more, to find that the fast conversion has declined tiles
        found, waits = read_on_fibers(data, header=False, schema=["int32", "string"])
    assert found is not None
    assert waits == (1 if short == long else 2)
    same_table(found, headrace.read_csv(data, header=False, schema=["int32", "string"]))
    numbers, texts = found.columns.values()
    assert numbers.values.nbytes == 4 * len(lines)
    assert texts.values.nbytes == 2000 * short + 6000 * long
    assert texts.offsets is not None
    assert texts.offsets.nbytes == 4 * (len(lines) + 1)
