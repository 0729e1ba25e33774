"""`read_csv` of texts in any encoding against the reference on the same text in UTF-8, places mapped to the source's bytes."""

from __future__ import annotations

import codecs
import random
from dataclasses import replace
from itertools import cycle, product
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import headrace
from headrace import Context, Dialect, ParseError, _native
from headrace.testing.compare import assert_same_error, assert_same_table
from headrace.testing.reference import MalformedHeaderError, NoRecordError, ReferenceOptions, ReferenceTable, read
from headrace.testing.strategies import dialects, lenient_dialects, texts
from tests.examples import examples
from tests.isas import EACH_ISA

SETTINGS = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
WAYS = list(zip(product(_native.isas(), (1, 2, 3, 4, 7, 64, 4096)), cycle((1, 2, 4)), strict=False))
UTF16 = ("utf-16-le", "utf-16-be")
CODE_PAGES = ("latin-1", "cp1252", "cp1251", "iso8859-7", "koi8-r", "ascii", "cp037", "mac-roman")
CHARACTERS = ["é", "ß", "Я", "€", "日", "😀", "\x7f", "\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff"]
CHARACTERS += ["\U00010000", "\U0010ffff", "\ud800", "\udbff", "\udc00", "\udfff"]


def decoded(data: bytes, codec: str) -> tuple[bytes, list[int]]:
    """The text in UTF-8, FF for bytes that Python's codec rejects, and for each of its bytes the source's."""
    faults: list[tuple[int, int]] = []

    def note(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        faults.append((error.start, error.end))
        return "\udcff", error.end

    codecs.register_error("note", note)
    text, origins, at = b"", [], 0
    sizes = iter(faults)
    for character in data.decode(codec, "note"):
        encoded = character.encode("utf-8", "surrogateescape")
        origins += [at] * len(encoded)
        text += encoded
        at = next(sizes)[1] if character == "\udcff" else at + len(character.encode(codec))
    assert at == len(data)
    return text, [*origins, at]


def expected_of(data: bytes, mark: bytes, codec: str, options: ReferenceOptions) -> ReferenceTable:
    text, origins = decoded(data, codec)
    table = read(text, options)
    for fault in table.rejects:
        for name in ("line_byte", "byte"):
            fault[name] = len(mark) + origins[fault[name]]  # type: ignore[call-overload]
    evidence = [found and (found[0], len(mark) + origins[found[1]], found[2]) for found in table.evidence]
    return replace(table, evidence=evidence)


def check_all(data: bytes, mark: bytes, codec: str, name: str | None, options: ReferenceOptions) -> None:
    try:
        expected = expected_of(data, mark, codec, options)
    except (NoRecordError, MalformedHeaderError):
        assume(False)
        return
    dialect = options.dialect
    for (isa, chunk), threads in WAYS:
        given_options: dict[str, Any] = {
            "sep": dialect.sep,
            "quote_char": dialect.quote_char,
            "double_quote": dialect.double_quote,
            "strict_quotes": dialect.strict_quotes,
            "escape_char": dialect.escape_char,
            "escape_sequences": dialect.escape_sequences,
            "comment": dialect.comment,
            "lineterminator": dialect.lineterminator,
            "skip_initial_space": dialect.skip_initial_space,
            "strip": dialect.strip,
            "skip_blank_lines": dialect.skip_blank_lines,
            "header": options.header,
            "shrink": options.shrink,
            "on_error": options.on_error,
            "encoding": name,
            "context": Context(isa=isa, threads=threads),
            "chunk_bytes": chunk,
        }
        if options.on_error == "raise" and expected.rejects:
            with pytest.raises(ParseError) as caught:
                headrace.read_csv(mark + data, **given_options)
            assert_same_error(caught.value, expected)
        else:
            assert_same_table(headrace.read_csv(mark + data, **given_options), expected)


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, ReferenceOptions]:
    dialect = draw(st.just(Dialect()) | dialects())
    text = draw(texts(dialect)).decode()
    characters = draw(st.lists(st.sampled_from(CHARACTERS), min_size=1, max_size=8))
    places = cycle(characters)
    text = "".join(next(places) if character in "xyz\xe9" else character for character in text)
    return text, ReferenceOptions(
        dialect=dialect,
        header=draw(st.sampled_from(["infer", True, False])),
        shrink=draw(st.booleans()),
        on_error=draw(st.sampled_from(["raise", "null", "reject"])),
    )


@SETTINGS
@given(cases(), st.sampled_from(UTF16), st.booleans(), st.sampled_from([b"", b"", b"x", b"\xd8"]))
def test_utf16(case: tuple[str, ReferenceOptions], codec: str, marked: bool, tail: bytes) -> None:
    text, options = case
    data = text.encode(codec, "surrogatepass") + tail
    mark = "\ufeff".encode(codec) if marked else b""
    assume(not text.startswith(("\ufeff", "\0")) and data)
    check_all(data, mark, codec, None if marked else codec, options)
    if marked:
        check_all(data, mark, codec, "utf-16", options)


@SETTINGS
@given(cases(), st.sampled_from(CODE_PAGES), st.binary(min_size=1, max_size=6))
def test_code_pages(case: tuple[str, ReferenceOptions], codec: str, high: bytes) -> None:
    text, options = case
    data = b"".join(character.encode(codec, "replace") for character in text).replace("?".encode(codec), high)
    check_all(data, b"", codec, codec, options)


RUNS = ["abcdefgh", "éüßñ", "Привет", "日本語€", "😀🦀", "a é", "ab日", "x😀y", "é日"]


@pytest.mark.parametrize("codec", [*UTF16, "utf-16", "latin-1", "cp1252", "cp1251", "cp037"])
@pytest.mark.parametrize("isa", EACH_ISA)
def test_long_runs_of_every_length(codec: str, isa: str) -> None:
    """Vector loops and their ends: runs of characters of one to four bytes, in any mixture and at any place."""
    choose = random.Random(f"{codec} {isa}")
    rows = []
    for _ in range(300):
        pieces = [choose.choice(RUNS) * choose.randint(0, 12) for _ in range(choose.randint(1, 6))]
        text = "x" + "".join(pieces)[choose.randint(0, 5) :]
        rows.append(text.encode(codec, "ignore").decode(codec) or "x")
    data = "".join(row + "\n" for row in rows).encode(codec)
    for chunk in (2, 63, 64, 1000, None):
        table = headrace.read_csv(
            data, encoding=codec, header=False, sep="\x01", context=Context(isa=isa), chunk_bytes=chunk, null_values=()
        )
        assert table["column_1"].to_pylist() == rows


@pytest.mark.parametrize("codec", CODE_PAGES)
@pytest.mark.parametrize("isa", EACH_ISA)
def test_every_character_of_a_code_page_at_any_place(codec: str, isa: str) -> None:
    """A character U+0000 is text, too. Texts of bytes lie in lanes, whose unused bytes are zero."""
    choose = random.Random(f"{codec} {isa}")
    characters = sorted({bytes([byte]).decode(codec, "ignore") for byte in range(256)} - set('\r\n"\x01'))
    rows = ["x" + "".join(choose.choices(characters, k=choose.randint(0, 300))) for _ in range(100)]
    data = "".join(row + "\n" for row in rows).encode(codec)
    for chunk, threads in ((1, 1), (63, 2), (64, 4), (1000, 2), (None, 1)):
        context = Context(isa=isa, threads=threads)
        table = headrace.read_csv(
            data, encoding=codec, header=False, sep="\x01", context=context, chunk_bytes=chunk, null_values=()
        )
        assert table["column_1"].to_pylist() == rows


@SETTINGS
@given(cases(), st.sampled_from(["utf-8", *UTF16, "ascii"]), st.binary(max_size=6))
def test_replacing_is_as_if_the_source_had_been_mended(case: tuple[str, ReferenceOptions], codec: str, high: bytes) -> None:
    text, options = case
    encoded = text.encode(codec, "surrogatepass") if codec != "ascii" else text.encode(codec, "replace").replace(b"?", high)
    data = "x".encode(codec) + encoded.replace("€".encode(codec, "replace"), high) + high
    strings = replace(options, on_error="reject", shrink=False, header=False)
    mended = data.decode(codec, "replace").encode()
    try:
        columns = len(read(mended, strings).names)
        expected = read(mended, replace(strings, types=dict.fromkeys(range(columns), "string")))
    except NoRecordError:
        assume(False)
        return
    dialect = options.dialect
    for (isa, chunk), threads in WAYS:
        table = headrace.read_csv(
            data,
            sep=dialect.sep,
            quote_char=dialect.quote_char,
            double_quote=dialect.double_quote,
            strict_quotes=dialect.strict_quotes,
            escape_char=dialect.escape_char,
            escape_sequences=dialect.escape_sequences,
            comment=dialect.comment,
            lineterminator=dialect.lineterminator,
            skip_initial_space=dialect.skip_initial_space,
            strip=dialect.strip,
            skip_blank_lines=dialect.skip_blank_lines,
            header=False,
            dtypes="string",
            on_error="reject",
            encoding=codec,
            encoding_errors="replace",
            context=Context(isa=isa, threads=threads),
            chunk_bytes=chunk,
        )
        assert [column.to_pylist() for column in table.columns.values()] == expected.columns
        assert [(row, kind) for row, kind in zip(*(table.rejects[n].to_pylist() for n in ("record", "kind")), strict=True)] == [
            (fault["record"], fault["kind"]) for fault in expected.rejects
        ]
        assert table.report.replaced <= table.num_rows * len(table.columns)


@pytest.mark.covering(default=2)
@pytest.mark.parametrize("codec", [*UTF16, "utf-16", "latin-1", "cp1252"])
@pytest.mark.parametrize("source", ["bytes", "file"])
@pytest.mark.parametrize(
    "options",
    [
        {"skip_rows": 1, "header": True},
        {"skip_rows": 2, "header": False},
        {"header": 1},
        {"header": [0, 1], "skip_rows_after_header": 1},
        {"n_rows": 3, "header": True},
        {"skip_footer": 2, "header": True},
        {"skip_rows": 1, "skip_rows_after_header": 2, "n_rows": 2, "skip_footer": 1, "row_index_name": "row"},
        {"header": True, "long_records": "widen"},
        {"header": True, "long_records": "collect", "short_records": "null"},
        {"header": True, "shrink": True, "columns": ["n"]},
    ],
)
def test_parts_of_a_text(codec: str, source: str, options: dict[str, Any], tmp_path: Any) -> None:
    """Every option that speaks of records or lines finds the same ones as in UTF-8."""
    text = 'é,n\r\nx,ß\r\n1,2\r\nü\n3,300,ö,4\r5,x\n\n"6\r\n",7\nß,8\n'
    data = {name: text.encode(name) for name in (codec, "utf-8")}
    for name, content in data.items():
        (tmp_path / name).write_bytes(content)
    for chunk in (1, 2, 5, 64, None):
        made = [
            headrace.read_csv(
                content if source == "bytes" else tmp_path / name,
                encoding=name,
                chunk_bytes=chunk,
                on_error="reject",
                **options,
            )
            for name, content in data.items()
        ]
        assert made[0].to_pydict() == made[1].to_pydict()
        assert made[0].schema == made[1].schema
        for column in ("record", "line", "kind", "field", "text"):
            assert made[0].rejects[column].to_pylist() == made[1].rejects[column].to_pylist()
        assert made[0].report.skipped == made[1].report.skipped


@settings(SETTINGS, max_examples=examples(60))
@given(st.data(), st.sampled_from([*UTF16, "latin-1"]))
def test_lenient_quotes(data: st.DataObject, codec: str) -> None:
    """The same table and repairs as in UTF-8, where others hold lenient quotes to the oracle."""
    dialect = data.draw(lenient_dialects())
    text = data.draw(texts(dialect)).decode()
    try:
        expected = read_leniently(text, "utf-8", dialect, None, 1, "scalar")
    except headrace.EmptyInputError:
        assume(False)
        return
    for (isa, chunk), threads in WAYS:
        assert read_leniently(text, codec, dialect, chunk, threads, isa) == expected


def read_leniently(text: str, codec: str, dialect: Dialect, chunk: int | None, threads: int, isa: str) -> Any:
    table = headrace.read_csv(
        text.encode(codec),
        sep=dialect.sep,
        quote_char=dialect.quote_char,
        double_quote=dialect.double_quote,
        strict_quotes=dialect.strict_quotes,
        escape_char=dialect.escape_char,
        escape_sequences=dialect.escape_sequences,
        comment=dialect.comment,
        lineterminator=dialect.lineterminator,
        skip_initial_space=dialect.skip_initial_space,
        strip=dialect.strip,
        skip_blank_lines=dialect.skip_blank_lines,
        lenient_quotes=True,
        header=False,
        on_error="null",
        encoding=codec,
        context=Context(isa=isa, threads=threads),
        chunk_bytes=chunk,
    )
    rejects = [table.rejects[name].to_pylist() for name in ("record", "kept", "line", "kind", "field", "text")]
    return table.to_pydict(), rejects
