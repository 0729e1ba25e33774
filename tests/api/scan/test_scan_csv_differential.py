"""Compares scans in batches of any size with `read_csv`: rows, types and their evidence, rejects, counts, and errors."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import headrace
from headrace import Table
from tests.api.outcomes import outcome
from tests.examples import examples

OPTIONS: list[dict[str, Any]] = [
    {},
    {"on_error": "null"},
    {"on_error": "reject"},
    {"on_error": "reject", "skip_blank_lines": False},
    {"on_error": "reject", "lineterminator": "\n", "comment": "#"},
    {"on_error": "reject", "lineterminator": "\r\n"},
    {"on_error": "reject", "lineterminator": "1a", "sep": "\n"},
    {"on_error": "reject", "sep": "\r\n", "lineterminator": "a\n"},
    {"on_error": "reject", "escape_char": "1"},
    {"on_error": "reject", "lenient_quotes": True},
    {"on_error": "reject", "comment": "#1"},
    {"header": False, "dtypes": {0: "int64"}, "on_error": "reject"},
    {"header": False, "short_records": "null", "long_records": "collect", "on_error": "reject"},
    {"header": False, "short_records": "null", "long_records": "truncate", "row_index_name": "i", "on_error": "reject"},
    {"header": 1, "skip_rows": 1, "on_error": "reject"},
    {"skip_rows_after_header": 1, "skip_footer": 1, "on_error": "reject"},
    {"n_rows": 2, "on_error": "reject"},
    {"long_records": "widen", "short_records": "null", "on_error": "null"},
    {"encoding": "utf-16-le", "on_error": "reject"},
    {"encoding": "cp1252", "on_error": "reject"},
    {"encoding": "shift_jis", "on_error": "reject"},
]


def as_bytes(text: str, options: dict[str, Any]) -> bytes:
    return text.encode(options.get("encoding", "utf-8"), "replace")


def same(text: bytes, source: Callable[[], Any], batch_bytes: int, options: dict[str, Any]) -> None:
    expected = outcome(lambda: headrace.read_csv(text, **options))

    def scanned() -> Table:
        with headrace.scan_csv(source(), batch_bytes=batch_bytes, **options) as scan:
            return scan.read()

    assert outcome(scanned) == expected


TEXTS = st.text(alphabet='a1,"\n\r# é-.', max_size=40)
RECORDS = st.lists(
    st.sampled_from(["1", "2.5", "x", '"a\n"', '"b"",c"', "", "é", "2024-01-31", "0x1F", "9" * 20, '"', "#"]), max_size=12
)


@settings(max_examples=examples(300), deadline=None)
@given(
    st.one_of(
        TEXTS,
        st.tuples(RECORDS, st.sampled_from(["\n", "\r\n", "\r", "\n\n"])).map(
            lambda both: (
                "a,b"
                + both[1]
                + both[1].join(f"{first},{second}" for first, second in zip(both[0][::2], both[0][1::2], strict=False))
                + both[1]
            )
        ),
    ),
    st.integers(1, 50),
    st.sampled_from(OPTIONS),
    st.booleans(),
)
@example("a,b\r\n1,2\r\n", 4, {}, False)
@example("a\n1\n2.5\n99999999999999999999\n", 2, {}, True)
def test_batches_are_the_whole(text: str, batch_bytes: int, options: dict[str, Any], forward: bool) -> None:
    data = as_bytes(text, options)
    same(data, (lambda: io.BytesIO(data)) if forward else (lambda: data), batch_bytes, options)


@pytest.mark.parametrize("batch_bytes", range(1, 100))
def test_a_byte_255_is_no_quote_of_a_dialect_without_quotes(batch_bytes: int) -> None:
    data = b"ab,c\n" * 8 + b"\xff,d\n" + b"ab,c\n" * 8
    same(data, lambda: data, batch_bytes, {"header": False, "quote_char": None, "escape_char": "^", "on_error": "reject"})


TEXT = (
    '\ufeffpreamble\r\nname,n,"t\r\nwo",d\r\n# no record\r\n"Ro""me",1,x,2024-01-31\r\n\r\nParis,,"a,\r\nb",2024-02-01 10:00:00\r'
    "Oslo,7,é€𝄞,\n" + "long" * 40 + ',1,2\r\nWien,-1,"",1999-12-31\r\n,,,\r\n'
)


@pytest.mark.covering(default=1)
@pytest.mark.long_except("bytes-utf-8", "gzip-*", "file-*", "text-*", "*-utf-32", "*-be")
@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("form", ["bytes", "file", "gzip", "object", "text"])
def test_cut_at_every_byte(tmp_path: Path, codec: str, form: str) -> None:
    options: dict[str, Any] = {"skip_rows": 1, "comment": "#", "on_error": "reject", "row_index_name": "i"}
    data = TEXT.encode(codec)
    if codec == "utf-16-be":
        options["encoding"] = codec
    packed, plain = tmp_path / "packed.csv.gz", tmp_path / "plain.csv"
    packed.write_bytes(gzip.compress(data[:100]) + gzip.compress(data[100:]))
    plain.write_bytes(data)
    sources: dict[str, Callable[[], Any]] = {
        "bytes": lambda: data,
        "file": lambda: plain,
        "gzip": lambda: packed,
        "object": lambda: io.BytesIO(data),
        "text": lambda: io.StringIO(TEXT),
    }
    if form == "text":
        if codec != "utf-8":
            pytest.skip("text has no encoding")
        data = TEXT.encode()
    sizes = range(1, len(data) + 2) if form in ("bytes", "object") and codec in ("utf-8", "utf-16") else range(1, len(data), 37)
    for size in sizes:
        same(data, sources[form], size, options)


@pytest.mark.parametrize("threads", [1, 3])
def test_several_files(tmp_path: Path, threads: int) -> None:
    for year, text in ((2023, "a,b\n1,x\n2,\n"), (2024, "b,a\ny,3.5\n#\nz,oops,1\n")):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        (folder / "part.csv").write_text(text)
        (folder / "part.csv.gz").write_bytes(gzip.compress(text.encode()))
    options: dict[str, Any] = {
        "union_by_name": True,
        "include_file_paths": "path",
        "on_error": "reject",
        "comment": "#",
        "threads": threads,
        "row_index_name": "i",
    }
    source = str(tmp_path / "**/*.csv*")
    expected = outcome(lambda: headrace.read_csv(source, **options))
    for size in (1, 2, 3, 5, 8, 100):
        assert outcome(lambda size=size: headrace.scan_csv(source, batch_bytes=size, **options).read()) == expected  # type: ignore[misc]


def buffers(table: Table) -> list[tuple[bytes, ...]]:
    """Return the bytes of each column's buffers, without what follows the last row."""
    made = []
    for column in table.columns.values():
        own = [bytes(buffer) for buffer in (column.values, column.offsets) if buffer is not None]
        bits = bytes(column.validity) if column.validity is not None else b""
        made.append((*own, bits[: (len(column) + 7) // 8]))
    return made


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("chunk_bytes", [1 << 16, 1 << 18])
def test_memory_that_was_used_before_does_not_show(threads: int, chunk_bytes: int) -> None:
    """Columns of megabytes in reused memory, which held other values, nulls and longer strings, equal those in new memory."""
    count = 150_000
    text = b"n,b,s,f\n" + b"".join(b"%d,%s,%s,\n" % (i, (b"true", b"", b"false")[i % 3], b"t" * (i % 20)) for i in range(count))
    other = b"n,b,s,f\n" + (b"-1,true," + b"z" * 30 + b",2.5\n") * count
    options: dict[str, Any] = {
        "dtypes": {"n": "int64", "b": "bool", "s": "string", "f": "float64"},
        "threads": threads,
        "chunk_bytes": chunk_bytes,
    }
    headrace.release_unused_memory()
    expected = [buffers(batch) for batch in headrace.scan_csv(text, batch_bytes=2 << 20, **options).batches()]
    headrace.read_csv(other, **options)
    again = [buffers(batch) for batch in headrace.scan_csv(text, batch_bytes=2 << 20, **options).batches()]
    assert again == expected
    assert len(expected) > 1
    headrace.read_csv(other, **options)
    assert buffers(headrace.scan_csv(text, batch_bytes=1 << 30, **options).read()) == buffers(headrace.read_csv(text, **options))


@settings(deadline=None)
@given(TEXTS, st.integers(1, 20), st.integers(0, 8))
def test_resumed_at_the_end_of_any_batch(text: str, batch_bytes: int, stop: int) -> None:
    data = ("n,m\n" + text).encode()
    options: dict[str, Any] = {"batch_bytes": batch_bytes, "on_error": "reject", "row_index_name": "i"}
    whole = list(headrace.scan_csv(data, **options).batches())
    if stop >= len(whole):
        return
    end = whole[stop].report.end
    rest = list(headrace.scan_csv(data, resume=end, **options).batches())

    def rows(batches: list[Table], what: Callable[[Table], Table]) -> list[Any]:
        return [row for batch in batches for row in zip(*what(batch).to_pydict().values(), strict=True)]

    assert rows(rest, lambda table: table) == rows(whole[stop + 1 :], lambda table: table)
    assert rows(rest, lambda table: table.rejects) == rows(whole[stop + 1 :], lambda table: table.rejects)
