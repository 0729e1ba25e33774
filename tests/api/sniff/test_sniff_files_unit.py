"""Sniffing of several sources, and of compressed and encoded ones."""

import gzip
import io

import pytest

import headrace


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"")
    (tmp_path / "b.csv").write_bytes(b"\n\n")
    (tmp_path / "c.csv").write_bytes(b"by hand\nx;y\n1;2\n3;4\n")
    (tmp_path / "d.csv").write_bytes(b"once more\nx;y\n5;6\n7;8\n")
    return tmp_path


def test_first_file_with_a_record_counts(folder):
    sniffed = headrace.sniff_csv(folder / "*.csv")
    assert (sniffed.sep, sniffed.header, sniffed.skip_rows) == (";", True, 1)
    assert sniffed.evidence[0].endswith("c.csv', number 3 of 4, the first that holds a record")
    assert headrace.sniff_csv([b"a|b\n1|2\n", b"a,b\n1,2\n"]).sep == "|"


def test_no_file_has_a_record(folder):
    with pytest.raises(headrace.EmptyInputError, match="none of the 2 sources"):
        headrace.sniff_csv(folder / "[ab].csv")
    with pytest.raises(headrace.NoMatchError):
        headrace.sniff_csv(folder / "*.tsv")


def test_a_name_with_a_star_is_no_pattern_without_glob(folder):
    with pytest.raises(FileNotFoundError):
        headrace.sniff_csv(folder / "*.csv", glob=False)


def test_files_are_read_as_the_first_proposes(folder):
    table = headrace.read_csv(folder / "[cd].csv", dialect="auto")
    assert table.to_pydict() == {"x": [1, 3, 5, 7], "y": [2, 4, 6, 8]}
    assert table.report.skipped.preamble == 2
    assert table.report.sniffed.skip_rows == 1
    table.report.check()


def test_sources_of_streams_are_read_once(folder):
    table = headrace.read_csv([io.BytesIO(b"by hand\nx;y\n9;9\n3;4\n"), folder / "d.csv"], dialect="auto")
    assert table["x"].to_pylist() == [9, 3, 5, 7]
    assert table.report.sniffed.evidence[0] == "'<source 1>', number 1 of 2"


def test_a_preamble_of_one_file_costs_no_row_of_another(folder):
    (folder / "d.csv").write_bytes(b"x;y\n5;6\n7;8\n")
    with pytest.raises(headrace.OptionError, match="pass skip_rows"):
        headrace.read_csv(folder / "[cd].csv", dialect="auto")


def test_files_with_a_preamble_and_decimal_commas(folder):
    (folder / "c.csv").write_bytes(b"by hand\nx;y\n1;2,5\n3;4,5\n")
    (folder / "d.csv").write_bytes(b"by hand\nx;y\n5;1234,5\n")
    table = headrace.read_csv(folder / "[cd].csv", dialect="auto")
    assert table.to_pydict() == {"x": [1, 3, 5], "y": [2.5, 4.5, 1234.5]}
    assert table.report.skipped.preamble == 2
    table.report.check()


def test_one_file_with_its_path_in_a_column(folder):
    table = headrace.read_csv(folder / "c.csv", dialect="auto", include_file_paths="from")
    assert list(table) == ["x", "y", "from"]
    assert table.report.sniffed is not None


TEXT = "name;born\n" + "".join(f"Zoë {i};{1900 + i}\n" for i in range(100)) * 300


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "latin-1", "utf-32", "shift_jis"])
def test_encodings(tmp_path, encoding):
    path = tmp_path / "text.csv"
    path.write_bytes(TEXT.replace("ë", "" if encoding == "shift_jis" else "ë").encode(encoding))
    sniffed = headrace.sniff_csv(path, encoding=encoding)
    assert (sniffed.sep, sniffed.schema, sniffed.agreement) == (";", {"name": "string", "born": "int64"}, 1.0)
    table = headrace.read_csv(path, dialect="auto", encoding=encoding)
    assert table.num_rows == 30_000
    assert headrace.sniff_csv(path, encoding=encoding, sample_bytes=4001).options == sniffed.options


def test_of_a_compressed_text_only_the_beginning_is_read(tmp_path):
    packed = b"".join(gzip.compress(TEXT.encode()[begin : begin + 1000]) for begin in range(0, 400_000, 1000))
    for data in (packed, packed[:2000]):
        sniffed = headrace.sniff_csv(data)
        assert (sniffed.sep, sniffed.columns) == (";", ("name", "born"))
        assert sniffed.sample_bytes <= 256 << 10
    path = tmp_path / "text.csv.gz"
    path.write_bytes(packed)
    with path.open("rb") as stream:
        assert headrace.sniff_csv(stream, sample_bytes=3000).sep == ";"
        assert stream.tell() == 0
    with pytest.raises(headrace.SourceError, match="gzip"):
        headrace.sniff_csv(path, compression=None)


def test_text_of_a_file_object_that_is_cut():
    stream = io.StringIO("a,b\n" + "1,2\n" * 1000)
    stream.read(4)
    sniffed = headrace.sniff_csv(stream, sample_bytes=402)
    assert (sniffed.header, stream.tell(), sniffed.agreement) == (False, 4, 1.0)


def test_of_several_files_no_footer_is_left_out():
    one, other = b"x,y\n1,2\n3,4\n\nend of list\n", b"x,y\n5,6\n7,8\n"
    assert headrace.sniff_csv([one, other]).skip_footer == 1
    table = headrace.read_csv([one, other], dialect="auto", infer_schema=False)
    assert table["x"].to_pylist() == ["1", "3", "end of list", "5", "7"]


@pytest.mark.parametrize(
    "text",
    [
        b"x,y\n1,2\n3,4\n\nend of list\n",
        b"x,y\n" + b"1,2,3\n" * 300_000 + b"1,2,3,4\n",
        b'x,y\n1,"some "odd" words"\n' + b'2,"x, y"\n' * 200_000 + b'3,"never closed\n4,z\n',
        b",of,,to,\nn,a,b,c,d\n" + b"x,1,2,3,4\n" * 5,
        b"by hand\nx;y\n1;2,5\n3;4,5\n",
    ],
    ids=["footer", "widen", "lenient", "joined", "preamble"],
)
def test_a_scan_of_a_text_that_comes_in_order_gives_the_table_of_a_read(text):
    whole = headrace.read_csv(text, dialect="auto")
    with headrace.scan_csv(gzip.compress(text, 1), dialect="auto", batch_bytes=1 << 16) as scan:
        assert scan.read().to_pydict() == whole.to_pydict()
        assert scan.report.skipped.footer == whole.report.skipped.footer
        assert scan.report.sniffed.options == whole.report.sniffed.options
