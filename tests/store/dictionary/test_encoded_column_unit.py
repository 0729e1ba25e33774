"""An encoded column shows its type, its rows and its dictionary, and no address. A pickle has its buffers."""

import pickle

import pytest

import headrace
from headrace.dictionary import decode, encode, merge

pytestmark = pytest.mark.isas


def column(text, **options):
    return headrace.read_csv(b"v\n" + text, skip_blank_lines=False, **options)["v"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b"3\n\n1\n3\n", "int64, 4 rows, 1 null, 2 distinct in codes of 1 bit)[3, None, 1, 3]"),
        (b"b\na\nc\nb\nd\ne\n", "string, 6 rows, 0 null, 5 distinct in codes of 3 bits)['b', 'a', 'c', 'b', 'd', ...]"),
        (b"7\n7\n", "int64, 2 rows, 0 null, 1 distinct in codes of 0 bits)[7, 7]"),
        (b"", "int64, 0 rows, 0 null, 0 distinct in codes of 0 bits)[]"),
        (b"\n\n", "int64, 2 rows, 2 null, 0 distinct in codes of 0 bits)[None, None]"),
    ],
)
def test_type_rows_and_dictionary_are_shown(text, shown):
    given = {} if b"a" in text else {"dtypes": "int64"}
    assert repr(encode(column(text, **given))) == f"EncodedColumn({shown}"


def test_values_of_wide_codes_are_the_first_ones():
    values = [(row * 7919) % 100_003 for row in range(100_003)]
    encoded = encode(column("".join(f"{value}\n" for value in values).encode()))
    assert repr(encoded).endswith(f"100_003 distinct in codes of 17 bits)[{', '.join(map(str, values[:5]))}, ...]")
    assert repr(merge(encoded, column(b"5\n"))).startswith("EncodedColumn(int64, 100_004 rows, ")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("text", [b"3\n\n1\n3\n", b"b\na\nc\nb\n", b"7\n7\n", b"", b"\n\n"])
def test_a_pickled_column_has_the_same_parts(text, protocol):
    encoded = encode(column(text, **({} if b"a" in text else {"dtypes": "int64"})))
    again = pickle.loads(pickle.dumps(encoded, protocol))
    assert decode(again).to_pylist() == decode(encoded).to_pylist()
    assert repr(again) == repr(encoded)
    assert bytes(memoryview(again.words)) == bytes(memoryview(encoded.words))
    assert decode(merge(again, column(b"5\n", dtypes=again.type))).to_pylist()[:-1] == decode(encoded).to_pylist()


def test_buffers_of_a_pickle_can_be_out_of_band():
    encoded, buffers = encode(column(b"".join(b"%d\n" % (row * 7919) for row in range(10_000)))), []
    data = pickle.dumps(encoded, 5, buffer_callback=buffers.append)
    assert len(data) < 1000
    assert decode(pickle.loads(data, buffers=buffers)).to_pylist() == [row * 7919 for row in range(10_000)]
