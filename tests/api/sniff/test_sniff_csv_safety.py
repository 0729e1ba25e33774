"""Tests nearly empty texts, and invalid calls."""

import random
import time

import pytest

import headrace
from tests.tiers import seeds


@pytest.mark.parametrize("text", [b"", b"\n\n", b"\xef\xbb\xbf", b"# only\n# comments\n"[:0], b"\r\n"])
def test_no_record(text):
    with pytest.raises(headrace.EmptyInputError, match="no record"):
        headrace.sniff_csv(text)
    with pytest.raises(headrace.EmptyInputError):
        headrace.read_csv(text, dialect="auto")


@pytest.mark.parametrize("byte", range(256))
def test_one_byte(byte):
    text = bytes([byte])
    if text in b"\r\n":
        return
    sniffed = headrace.sniff_csv(text)
    assert len(sniffed.schema) <= 2
    table = headrace.read_csv(text, dialect="auto", on_error="reject", **({"header": False} if byte >= 128 else {}))
    table.report.check()


@pytest.mark.parametrize("seed", seeds(40))
def test_junk(seed):
    chosen = random.Random(seed)
    alphabet = bytes(range(256)) if seed % 2 else b"ab1,;\"'\\#\t|\r\n \0"
    text = bytes(chosen.choice(alphabet) for _ in range(chosen.choice([3, 50, 3000])))
    sniffed = headrace.sniff_csv(text)
    assert 0 <= sniffed.agreement <= 1
    assert str(sniffed).isascii() or str(sniffed)
    table = headrace.read_csv(text, dialect="auto", on_error="null", names=None, header=False)
    table.report.check()


def test_line_without_an_end():
    assert headrace.sniff_csv(b"x" * 2_000_000).sep == ","
    assert len(headrace.sniff_csv(b"1," * 200_000, sample_bytes=1000).schema) == 501


def test_quote_that_never_closes():
    text = b'a,b\n1,"x\n' + b"2,y\n" * 100_000
    sniffed = headrace.sniff_csv(text)
    assert sniffed.sep == ","
    assert sniffed.lenient_quotes or sniffed.quote_char is None


def test_sparse_file_of_ten_gigabytes(tmp_path):
    path = tmp_path / "large.csv"
    with path.open("wb") as stream:
        stream.write(b"a;b\n1;2020-01-01\n" * 30_000)
        stream.truncate(10 << 30)
    seconds = []
    for _ in range(3):
        begun = time.perf_counter()
        sniffed = headrace.sniff_csv(path)
        seconds.append(time.perf_counter() - begun)
    assert min(seconds) < 0.5  # some 30 ms on a machine with nothing else to do
    assert (sniffed.sep, sniffed.sample_bytes) == (";", (256 + 3 * 16) << 10)
    assert "unknown further on: 3 windows without a whole record" in sniffed.evidence


def test_stream_that_cannot_seek_is_not_used_up():
    class Pipe:
        def read(self):
            raise AssertionError("read")

    with pytest.raises(headrace.OptionError, match="dialect='auto'"):
        headrace.sniff_csv(Pipe())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sep": ";", "comment": ";"}, "share the byte"),
        ({"sep": ""}, "1 to 8 bytes"),
        ({"quote_char": "ab"}, "one byte"),
        ({"skip_rows": -1}, "skip_rows"),
        ({"skip_rows": "x"}, "skip_rows"),
        ({"header": "x"}, "header"),
        ({"sample_bytes": 0}, "sample_bytes"),
        ({"lenient_quotes": 1}, "lenient"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(headrace.OptionError, match=message):
        headrace.sniff_csv(b"a,b\n1,2\n", **options)


def test_unknown_dialect():
    with pytest.raises(headrace.OptionError, match="auto"):
        headrace.read_csv(b"a\n1\n", dialect="atuo")


@pytest.mark.parametrize("text", [b"\x1f\x8b\x08\x00", b"PAR1\x15\x04"])
def test_no_text(text):
    with pytest.raises(headrace.SourceError):
        headrace.sniff_csv(text)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        headrace.sniff_csv(tmp_path / "none.csv")


def test_small_sample_says_the_same_of_a_regular_text():
    text = b"a|b\n" + b"1|x y\n" * 5000
    assert headrace.sniff_csv(text, sample_bytes=64).options == headrace.sniff_csv(text).options


@pytest.mark.parametrize(
    "option", [{"quote_char": "'"}, {"quote_char": "'", "escape_char": "\\"}, {"sep": ";", "quote_char": '"'}]
)
def test_what_is_given_as_text_is_as_good_as_bytes(option):
    text = b"a;b\n'1;2';x\n'3';y\n"
    given = {name: value.encode() for name, value in option.items()}
    assert headrace.sniff_csv(text, **option) == headrace.sniff_csv(text, **given)


def test_a_long_first_record_takes_linear_time():
    begun = time.perf_counter()
    sniffed = headrace.sniff_csv("aé".encode() * 16_000 + b" b\n" + b"1 2\n" * 5)  # letters of which each begins a word
    assert sniffed.options["sep"] == " "
    assert time.perf_counter() - begun < 5


@pytest.mark.parametrize("header", [2, (0, 2), (2, 3)])
def test_a_header_beyond_the_text_is_the_error_of_a_read_without_sniffing(header: int | tuple[int, int]) -> None:
    text = b"a,b\n1,2\n"
    with pytest.raises(headrace.EmptyInputError) as plain:
        headrace.read_csv(text, header=header)
    with pytest.raises(headrace.EmptyInputError) as sniffed:
        headrace.read_csv(text, header=header, dialect="auto")
    assert str(sniffed.value) == str(plain.value)


@pytest.mark.parametrize(("column", "proposed"), [(9_999, ("NA",)), (10_000, ())])
def test_words_for_null_are_looked_for_in_the_first_ten_thousand_columns(column: int, proposed: tuple[str, ...]) -> None:
    first, second = ["1"] * 10_001, ["2"] * 10_001
    first[column] = "NA"
    text = ("".join(",".join(row) + "\n" for row in (first, second, second))).encode()
    sniffed = headrace.sniff_csv(text, header=False)
    assert (sniffed.null_values, len(sniffed.schema)) == (proposed, 10_001)
