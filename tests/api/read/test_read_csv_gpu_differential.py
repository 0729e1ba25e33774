"""`read_csv` on a GPU: the same table as on the CPU, from the host and from the GPU's memory."""

from __future__ import annotations

import random

import numpy as np
import pytest

import headrace
from headrace import Context, Device, DeviceArray
from tests.columns.convert.convert_kernels_cases import TEXTS, table
from tests.columns.faults.load_gpu_faults_cases import spoiled
from tests.columns.load.load_gpu_dialects_cases import DIALECTS, case
from tests.columns.load.size_estimate_cases import MISLEADING, PLAIN, text

pytestmark = pytest.mark.gpu
SIZES = (1, 100, 3000)


def same(found: headrace.Table, expected: headrace.Table) -> None:
    assert found.device == Device("cuda", 0) or not found.num_columns
    assert found.schema == expected.schema
    back = found.to("cpu")
    for name, column in expected.columns.items():
        assert (back[name].null_count, repr(back[name].to_pylist())) == (column.null_count, repr(column.to_pylist())), name
    assert found.rejects.to_pydict() == expected.rejects.to_pydict()
    for name in ("records", "rows", "rejected", "skipped", "columns", "filled", "bytes"):
        assert getattr(found.report, name) == getattr(expected.report, name), name


@pytest.mark.parametrize("quoted", [0.0, 0.2])
@pytest.mark.parametrize("rows", SIZES)
def test_given_types(rows, quoted):
    rng = random.Random(rows)
    for _ in range(4):
        types = rng.sample(sorted(set(TEXTS) - {"null", "timestamp[s, Europe/Berlin]"}), 6)
        data = table(rng, types, rows, junk=0, quoted=quoted)
        options = {"header": False, "schema": types}
        found = headrace.read_csv(data, device="cuda", **options)
        assert found.report.device == "cuda"
        same(found, headrace.read_csv(data, **options))


@pytest.mark.parametrize("rows", SIZES)
def test_inferred_types_from_memory_of_the_gpu(rows):
    rng = random.Random(rows)
    for seed in range(6):
        types = rng.sample(["int64", "float64", "date32", "timestamp[us]", "bool", "string", "uint64", "time64[us]"], 5)
        data = b"a,b,c,d,e\n" + table(rng, types, rows, junk=0.05 * (seed % 2), quoted=0.1 * (seed % 3))
        text, context = DeviceArray.from_host(np.frombuffer(data, np.uint8)), Context()
        found = headrace.read_csv(text, context=context)
        same(found, headrace.read_csv(data))
        assert context.crossings.to_host > 0


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("quoted", [0.0, 0.2])
def test_texts_that_begin_alike_in_turn(given, quoted):
    rng, types = random.Random(f"{given} {quoted}"), ["int64", "string", "float64", "timestamp[us]", "bool"]
    options = {"on_error": "null", **({"schema": dict(zip("abcde", types, strict=True))} if given else {})}
    texts = [b"a,b,c,d,e\n" + table(rng, types, rows, junk=0, quoted=quoted) for rows in (50, 3000, 1, 700, 20_000)]
    texts.append(b"a,b,c,d,e\n" + table(rng, types, 500, junk=0.05, quoted=quoted))
    texts.append(b"a,b,c,d,e\n" + table(rng, types[::-1], 500, junk=0, quoted=quoted))
    expected = [headrace.read_csv(data, **options) for data in texts]
    on_gpu = [DeviceArray.from_host(np.frombuffer(data, np.uint8)) for data in texts]
    numbers = [0, 0, *range(len(texts)), *rng.choices(range(len(texts)), k=40), 1, 1, 1]
    found = [(number, headrace.read_csv(on_gpu[number], **options)) for number in numbers]
    for number, one in found:  # after all reads: none has changed the memory of an earlier one
        same(one, expected[number])


def test_several_types_in_turn_behind_the_sample():
    lines = [b"1,2,2020-01-01"] * 200_000
    lines[150_000:150_002] = [b"2.5,99999999999999999999,text", b",,"]
    data = b"a,b,c\n" + b"\n".join(lines)
    found = headrace.read_csv(data, device="cuda")
    assert found.report.device == "cuda" and found.report.passes > 1
    same(found, headrace.read_csv(data))


@pytest.mark.parametrize("kind", MISLEADING)
def test_first_records_that_mislead(kind):
    first, others = MISLEADING[kind]
    faults = {"on_error": "null", "short_records": "null", "long_records": "reject"}
    for options in ({"schema": ["int64", "string", "int64", "string"]}, {}):
        for data in (text(first, others), text(PLAIN, PLAIN * 1000)):
            found = headrace.read_csv(data, header=False, device="cuda", **faults, **options)
            same(found, headrace.read_csv(data, header=False, **faults, **options))


SPOILED = [b"a,b\n1,2\n3\n", b"a,b\n1,2\n3,4,5\n", b'a,b\n1,"x"y\n', b'a,b\n1,2\n1,"x\n5,6', b"a\n", b"a,b\n1,\xff\n2,x\n"]


@pytest.mark.parametrize("data", SPOILED)
def test_faults_are_the_cpus(data):
    found = headrace.read_csv(data, device="cuda", on_error="reject")
    assert found.report.device == "cuda"
    same(found, headrace.read_csv(data, on_error="reject"))
    with pytest.raises(headrace.ParseError) as raised:
        headrace.read_csv(b"a\n1\nx\n", dtypes={"a": int}, device="cuda")
    assert raised.value.record == 2


def outcome(data: object, options: dict[str, object]) -> tuple[headrace.Table | None, str]:
    """Return the table, or None and the error's message."""
    try:
        return headrace.read_csv(data, **options), ""
    except headrace.ParseError as error:
        return None, str(error)


@pytest.mark.parametrize("on_error", ["raise", "null", "reject"])
@pytest.mark.parametrize(
    "given", [{}, {"short_records": "null"}, {"short_records": "reject", "long_records": "truncate"}], ids=str
)
def test_spoiled_tables(on_error, given):
    rng = random.Random(f"{on_error}{given}")
    for rows, times in ((50, 2), (3000, 1), (3000, 40), (30_000, 5)):
        types = rng.sample(sorted(set(TEXTS) - {"null"}), 5)
        data = spoiled(rng, table(rng, types, rows, junk=rng.choice([0, 0.05]), quoted=0.2), times)
        options = {"dtypes": dict(enumerate(types)), "header": False} if rng.random() < 0.6 else {}
        options |= {"on_error": on_error, **given}
        expected, error = outcome(data, options)
        text = DeviceArray.from_host(np.frombuffer(data, np.uint8))
        found, raised = outcome(text, options) if rng.random() < 0.5 else outcome(data, {**options, "device": "cuda"})
        assert raised == error
        if found is not None and expected is not None:
            assert found.report.device == "cuda"
            same(found, expected)


@pytest.mark.parametrize("given", DIALECTS, ids=str)
def test_dialects(given):
    for seed in range(3):
        data, options, _ = case(seed, given, (40, 3000, 20_000)[seed])
        expected, error = outcome(data, options)
        found, raised = outcome(data, {**options, "device": "cuda"})
        assert raised == error
        if found is not None and expected is not None:
            assert found.report.device == "cuda"
            same(found, expected)


def test_more_faults_than_are_listed_at_first():
    lines = [b"%d,text" % number if number % 3 else b"%d" % number for number in range(60_000)]
    data = b"a,b\n" + b"\n".join(lines)
    for on_error in ("null", "reject", "raise"):
        options = {"dtypes": {"a": "int8"}, "on_error": on_error}
        expected, error = outcome(data, options)
        found, raised = outcome(data, {**options, "device": "cuda"})
        assert raised == error
        if found is not None and expected is not None:
            assert found.report.device == "cuda" and len(found.rejects) > 20_000
            same(found, expected)


def test_faults_of_fields_are_listed_on_the_gpu():
    data = b"a,b\n1,2\nx,y\n3,2020-02-30\n"
    options = {"dtypes": {"a": "int8", "b": "date32"}, "on_error": "null"}
    found = headrace.read_csv(data, device="cuda", **options)
    assert found.report.device == "cuda" and len(found.rejects) == 4
    same(found, headrace.read_csv(data, **options))


FORMS: list[dict[str, object]] = [
    {"strings": "dictionary"},
    {"strings": "view"},
    {"lenient_quotes": True},
    {"shrink": True},
    {"sep": ",,"},
    {"row_index_name": "n", "row_index_offset": 5, "on_error": "reject", "dtypes": {0: "int16"}},
    {"encoding_errors": "replace"},
    {"columns": []},
    {"encoding": "latin-1"},
    {"encoding": "cp437", "shrink": True, "strings": "view"},
]


@pytest.mark.parametrize("options", FORMS, ids=str)
@pytest.mark.parametrize("rows", [1, 300, 40_000])
def test_forms(options, rows, tmp_path):
    rng = random.Random(rows)
    lines = (
        [b"a,b,c"] + [b"%d,%d.5,t\xe9xt %d" % (n, n, rng.randrange(rows)) for n in range(rows)] + [b"99999,1e300," + b"x" * 40]
    )
    data = b"\n".join(lines)
    if not {"encoding", "encoding_errors"} & set(options):
        data = data.decode("latin-1").encode()
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    text = DeviceArray.from_host(np.frombuffer(data, np.uint8))
    expected = headrace.read_csv(path, **options)
    for found in (headrace.read_csv(path, device="cuda", **options), headrace.read_csv(text, **options)):
        assert found.report.device == "cuda"
        assert found.report.replaced == expected.report.replaced
        same(found, expected)
    for codec in ("utf-16", "utf-16-be") if "encoding" not in options else ():
        wide = data.decode("utf-8", "replace").encode(codec)
        same(
            headrace.read_csv(wide, device="cuda", **{**options, "encoding": codec}),
            headrace.read_csv(wide, encoding=codec, **options),
        )
    files = [path, path, b"a,b,c\n1,2,x\n2.5,y,\n"]
    found = headrace.read_csv(files, device="cuda", **options)
    assert found.report.device == "cuda"
    same(found, headrace.read_csv(files, **options))


def test_texts_that_are_decoded_into_memory_come_back():
    import gzip

    data = "a,b\nж,1\n".encode("shift_jis") * 100
    for source, options in ((data, {"encoding": "shift_jis"}), (gzip.compress(data), {"encoding": "shift_jis"})):
        text = DeviceArray.from_host(np.frombuffer(source, np.uint8))
        found = headrace.read_csv(text, on_error="null", **options)
        assert found.report.device == "cuda"
        same(found, headrace.read_csv(source, on_error="null", **options))


def test_libraries_hand_over_text_and_take_columns():
    torch = pytest.importorskip("torch", reason="PyTorch is optional")
    data = b"a,b\n1,2.5\n2,3.5\n"
    text = torch.frombuffer(bytearray(data), dtype=torch.uint8).cuda()
    found = headrace.read_csv(text)
    assert found.to_torch()["b"].tolist() == [2.5, 3.5]
    cupy = pytest.importorskip("cupy", reason="CuPy is optional")
    assert cupy.asarray(headrace.read_csv(cupy.asarray(np.frombuffer(data, np.uint8)))["a"]).tolist() == [1, 2]


def test_memory_that_does_not_suffice_is_an_error():
    data = b"a\n" + b"1\n" * 100_000
    with pytest.raises(headrace.MemoryLimitError):
        headrace.read_csv(data, device="cuda", context=Context(memory_limit=10_000))
    assert len(headrace.read_csv(data, device="cuda")) == 100_000
