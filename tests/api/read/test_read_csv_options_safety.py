"""Tests that every option refuses invalid values, with an OptionError that names the option and the remedy."""

from __future__ import annotations

import re

import pytest

from headrace import Context, Device, MissingDependencyError, OptionError, ParseError, UnsupportedDeviceError, read_csv
from headrace.api.options.table import ALIASES
from tests.conftest import gpu_is_missing

TEXT = b"a,b\n1,2\n"


def refusal(**options: object) -> str:
    with pytest.raises(OptionError) as caught:
        read_csv(TEXT, **options)  # type: ignore[arg-type]
    return str(caught.value)


NOT_BOOL = [1, 0, "yes", None, "True", 2.0]


@pytest.mark.parametrize("value", NOT_BOOL, ids=repr)
@pytest.mark.parametrize(
    "name",
    ["infer_schema", "shrink", "quoted_null", "double_quote", "skip_initial_space", "strip", "skip_blank_lines", "dayfirst"],
)
def test_flags(name: str, value: object) -> None:
    hint = f"; pass {name}=True without quotes" if value == "True" else ""
    assert refusal(**{name: value}) == f"{name} must be True or False, not {value!r}{hint}"


@pytest.mark.parametrize("value", ["", 5, b"", "123456789", "\ud800", "é" * 5], ids=ascii)
def test_sep(value: object) -> None:
    assert re.search("sep must be", refusal(sep=value))


@pytest.mark.parametrize(
    ("name", "called"),
    [("quote_char", "quote"), ("escape_char", "escape"), ("comment", "comment"), ("lineterminator", "line_end")],
)
@pytest.mark.parametrize("value", [" " * 9, 5, b" " * 9, "123456789", 2.0], ids=ascii)
def test_dialect_options(name: str, called: str, value: object) -> None:
    """Messages should speak of the option as the caller wrote it."""
    message = refusal(**{name: value})
    assert re.match(rf"({name}|{called}) must be", message)
    assert name in message


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"sep": '"'}, ("sep", "quote")),
        ({"sep": "\n"}, ("sep", "lineterminator|line_end")),
        ({"sep": "#", "comment": "#"}, ("sep", "comment")),
        ({"quote_char": "\n"}, ("quote", "line")),
        ({"escape_char": ","}, ("sep", "escape")),
        ({"lineterminator": ","}, ("sep", "line")),
        ({"sep": " ", "skip_initial_space": True}, ("sep", "skip_initial_space")),
    ],
    ids=str,
)
def test_shared_bytes(options: dict[str, object], names: tuple[str, str]) -> None:
    message = refusal(**options)
    assert all(re.search(name, message) for name in names)


@pytest.mark.parametrize("value", ["raises", "", None, 5, ["raise"], "RAISE"], ids=repr)
def test_on_error(value: object) -> None:
    assert re.match("unknown on_error .*(did you mean|valid)", refusal(on_error=value))


@pytest.mark.parametrize("value", ["yes", "true", "True", 2.0], ids=repr)
def test_header(value: object) -> None:
    assert re.match("unknown header .*(valid: infer, True, False|pass True without quotes)", refusal(header=value))


@pytest.mark.parametrize("value", [-1, [], [1, 0], [1, 1], [True], ["a"]], ids=repr)
def test_header_indexes(value: object) -> None:
    assert re.match("header must (be|name)", refusal(header=value))


@pytest.mark.parametrize("name", ["skip_rows", "skip_rows_after_header", "n_rows", "skip_footer", "max_rejects"])
@pytest.mark.parametrize("value", [-1, 1.0, True, "1", 2**63], ids=repr)
def test_counts_of_rows(name: str, value: object) -> None:
    assert refusal(**{name: value}).startswith(f"{name} must be")


@pytest.mark.parametrize(("name", "value"), [("short_records", "truncate"), ("long_records", "null"), ("short_records", 1)])
def test_ragged_policies(name: str, value: object) -> None:
    assert f"unknown {name}" in refusal(**{name: value})


@pytest.mark.parametrize("value", ["c", b"a", [0, 0], ["b", -1], ["nope"], [7], [1.5], 3], ids=repr)
def test_columns(value: object) -> None:
    assert "columns" in refusal(columns=value)


def test_row_index() -> None:
    assert "row_index_name" in refusal(row_index_name=3)
    assert "row_index_offset" in refusal(row_index_name="i", row_index_offset="0")
    assert "name of a column" in refusal(row_index_name="a")


@pytest.mark.parametrize("value", [5, 2.0, [1, 2], ["a", None], [b"a", b"b"], ["\ud800", "b"], True], ids=ascii)
def test_names(value: object) -> None:
    assert "names" in refusal(names=value)


def test_names_that_do_not_fit() -> None:
    assert refusal(names=["x", "x"]) == "names holds 'x' more than once"
    assert refusal(names=[]).startswith("names and schema name no column")
    assert "names and a schema" in refusal(names=["x", "y"], schema={"x": "int8", "y": "int8"})


@pytest.mark.parametrize("value", [5, 2.0, True, "int8", b"ab"], ids=repr)
def test_schema(value: object) -> None:
    assert "schema" in refusal(schema=value)


def test_schema_that_does_not_fit() -> None:
    assert refusal(schema=["int8"]) == "schema has 1 types, but the text has 2 columns: a, b"
    assert refusal(schema={"a": "int8", "B": "int8"}).startswith("unknown column in schema 'B'")
    assert "schema lacks column 'b'" in refusal(schema={"a": "int8"}, header=True) or "1 names" in refusal(schema={"a": "int8"})
    assert "did you mean 'int32'" in refusal(schema=["int8", "int23"])


def test_dtypes() -> None:
    assert refusal(dtypes={"c": "int8"}).startswith("unknown column in dtypes 'c'; valid: a, b; the first record")
    assert refusal(dtypes={2: "int8"}) == "dtypes: there is no column 2; there are 2"
    assert refusal(dtypes={-3: "int8"}) == "dtypes: there is no column -3; there are 2"
    assert "unknown column in dtypes" in refusal(dtypes={True: "int8"})
    assert "did you mean 'int64'" in refusal(dtypes={"a": "int46"})
    for bad in ("nonsense", 5, complex, [["int8"], "int8"], "timestamp[h]", "decimal256(50, 2)"):
        assert "type" in refusal(dtypes=bad)


@pytest.mark.parametrize("name", ["null_values", "true_values", "false_values"])
@pytest.mark.parametrize("value", [True, [None], [[5]], {"a": {"b": "x"}}, "\ud800", ["\udc80"]], ids=ascii)
def test_words(name: str, value: object) -> None:
    assert refusal(**{name: value}).startswith(name)


def test_nulls_of_columns() -> None:
    assert refusal(null_values={"c": "x"}).startswith(
        "unknown column in null_values 'c'; valid: a, b; the first record is taken for"
    )
    assert refusal(null_values={2: "x"}) == "null_values: there is no column 2; there are 2"
    assert refusal(null_values={"a": "x", 0: "y"}) == "null_values names column 'a' twice"
    assert refusal(null_values={"a": True}) == "null_values of column 'a' must be a text or several, not True"
    assert refusal(null_values={True: "x"}).startswith("unknown column in null_values True")
    assert refusal(true_values={"a": "x"}).startswith("true_values holds for all columns")


def test_word_that_is_true_and_false() -> None:
    assert refusal(true_values=["1", "x"], false_values="x") == "true_values and false_values share 'x'"


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "2", 2**70], ids=repr)
@pytest.mark.parametrize("name", ["threads", "chunk_bytes"])
def test_counts(name: str, value: object) -> None:
    assert re.match(f"{name} must be", refusal(**{name: value}))


@pytest.mark.parametrize("value", [1, 2**31, 2**40, 2**62], ids=repr)
def test_large_counts_are_harmless(value: int) -> None:
    assert read_csv(TEXT, chunk_bytes=value).to_pydict() == {"a": [1], "b": [2]}
    assert read_csv(TEXT, threads=min(value, 2**31)).to_pydict() == {"a": [1], "b": [2]}


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "2", 2**70], ids=repr)
@pytest.mark.parametrize("name", ["threads", "memory_limit"])
def test_context(name: str, value: object) -> None:
    with pytest.raises(OptionError, match=f"{name} must be"):
        read_csv(TEXT, context=Context(**{name: value}))  # type: ignore[arg-type]


def test_context_of_another_kind() -> None:
    assert refusal(context=5) == "context must be a Context, not 5"
    for isa in ("sse9", 5, None):
        with pytest.raises(OptionError, match="isa"):
            Context(isa=isa)  # type: ignore[arg-type]


def test_device() -> None:
    assert refusal(device="gpu:1") == "unknown device 'gpu:1': a GPU is named 'cuda' or 'cuda:1'"
    assert "there is one CPU" in refusal(device="cpu:1")
    assert "device must be" in refusal(device=7)
    assert "GPUs have numbers" in refusal(device="cuda:x")
    with pytest.raises(OptionError, match="unknown kind 'nonsense'; valid: cpu, cuda"):
        Device("nonsense")
    with pytest.raises(OptionError, match="index must be an integer from 0"):
        Device("cuda", -1)
    with pytest.raises(OptionError, match="device"):
        read_csv(TEXT, device=Device("cpu", 7))


@pytest.mark.skipif(not gpu_is_missing(), reason="there is a GPU")
def test_where_there_is_no_gpu_it_is_said_why() -> None:
    for device in ("cuda", "cuda:7", Device("cuda")):
        with pytest.raises((UnsupportedDeviceError, MissingDependencyError), match=r"GPU|NVIDIA"):
            read_csv(TEXT, device=device)


def test_unknown_options() -> None:
    assert refusal(seperator=";") in [f"unknown option 'seperator'; did you mean {name!r}?" for name in ("separator", "sep")]
    assert "did you mean 'header'?" in refusal(headers=True)
    assert refusal(zzz=1) == "unknown option 'zzz'; help(headrace.read_csv) lists the valid ones"


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_an_option_and_its_alias(alias: str) -> None:
    own = ALIASES[alias]
    other = {"header": True, "names": ["x", "y"], "dtypes": "string", "double_quote": False, "skip_initial_space": True}
    value = other.get(own, ";")
    assert re.search(f"{own}.*{alias}.*pass one of them", refusal(**{own: value, alias: value}))


def test_two_aliases_of_one_option() -> None:
    assert "pass one of them" in refusal(delimiter=";", separator=";")


def test_a_context_is_not_overruled_quietly() -> None:
    """`threads` and `device` are short for a context's fields: a value given beside it counts."""
    table = read_csv(TEXT, context=Context(threads=1), threads=2)
    assert table.report.threads == 2


@pytest.mark.parametrize("value", ["", "..", 5, None, b"", "1", "e", "-", "+", "\n", "é", "\t"], ids=ascii)
@pytest.mark.parametrize("name", ["decimal", "thousands"])
def test_number_marks(name: str, value: object) -> None:
    if name == "decimal" or value is not None:
        assert refusal(**{name: value}).startswith(f"{name} must be")


def test_number_marks_that_meet() -> None:
    assert refusal(thousands=".").startswith("decimal and thousands are both '.'; pass decimal=','")
    assert read_csv(b'a\n"1.234,5"\n', thousands=".", decimal=",").to_pydict() == {"a": [1234.5]}
    assert refusal(decimal=",", thousands=",").startswith("decimal and thousands are both ','; pass decimal='.'")
    assert refusal(decimal='"') == "decimal and quote_char are both '\"'"
    assert refusal(thousands="'", quote_char="'") == 'thousands and quote_char are both "\'"'
    assert refusal(thousands="\\", escape_char="\\").startswith("thousands and escape_char")
    assert refusal(thousands=";", lineterminator=";").startswith("thousands and lineterminator")
    assert read_csv(b'a,b\n"1,5",2\n', decimal=",").to_pydict() == {"a": [1.5], "b": [2]}


def test_date_formats() -> None:
    assert "no year" in refusal(date_format="%d/%m")
    assert "unknown directive" in refusal(date_format={"a": "%Q"})
    assert refusal(date_format={"c": "%F"}).startswith(
        "unknown column in date_format 'c'; valid: a, b; the first record is taken for"
    )
    assert refusal(date_format={2: "%F"}) == "date_format: there is no column 2; there are 2"
    assert refusal(date_format={"a": "%F", -2: "%F"}) == "date_format names column 'a' twice"
    assert "did you mean 'date_format'" in refusal(date_formt="%F")
    assert "both given" in refusal(date_format="%F", dateformat="%D")


def test_time_zones() -> None:
    for zone in ("Europe/Bonn", "../../etc/passwd", "+99:00", " "):
        assert "unknown time zone" in refusal(dtypes=f"timestamp[us, {zone}]")


def test_very_long_numbers() -> None:
    """A number as long as its record, with a mark at every fourth byte."""
    digits = 600_000
    grouped = b"1" + b",000" * (digits // 3)
    for threads in (1, 4):
        table = read_csv(
            b'x;y\n"' + grouped + b'";' + grouped + b"\n",
            sep=";",
            thousands=",",
            dtypes="float64",
            on_error="null",
            threads=threads,
        )
        assert list(table.rejects["kind"]) == ["overflow", "overflow"]
        table = read_csv(b"x;y\n0." + b"0" * digits + b"1;" + grouped + b"e-600000\n", sep=";", thousands=",")
        assert table.to_pydict() == {"x": [0.0], "y": [1.0]}


@pytest.mark.parametrize("name", ["quote_char", "escape_char"])
@pytest.mark.parametrize("value", ["0", "x", "-", "+", "."])
def test_quotes_are_no_part_of_numbers(name: str, value: str) -> None:
    """Else `01000` with quotes of zeros would be both 1000 and 10."""
    assert refusal(**{name: value}).startswith(f"{name} must be no letter, digit or sign")


def test_lenient_and_strict_quotes_exclude_each_other() -> None:
    assert refusal(lenient_quotes=True, strict_quotes=True).startswith("lenient_quotes and strict_quotes exclude each other")


def test_faults_of_strict_quotes_advise_options_that_read_the_text() -> None:
    text = b'a,b\nx "y" z,1\n'
    with pytest.raises(ParseError, match="pass lenient_quotes=True, without strict quotes, to take such quotes for text"):
        read_csv(text, strict_quotes=True)
    assert read_csv(text, lenient_quotes=True).to_pydict() == {"a": ['x "y" z'], "b": [1]}


def test_what_a_caller_changes_afterwards_changes_nothing():
    types, nulls, names = {"a": "int8", "b": "string"}, ["x"], ["a", "b"]
    options = {"schema": types, "null_values": nulls}
    first = read_csv(b"a,b\n1,x\n", **options)
    types["a"], nulls[0] = "int16", "1"
    second = read_csv(b"a,b\n1,x\n", **options)
    again = read_csv(b"a,b\n1,x\n", schema={"a": "int8", "b": "string"}, null_values=["x"])
    assert [str(table.schema["a"]) for table in (first, second, again)] == ["int8", "int16", "int8"]
    assert [table.to_pydict() for table in (first, again)] == [{"a": [1], "b": [None]}] * 2
    assert second.to_pydict() == {"a": [None], "b": ["x"]}
    assert read_csv(b"1,2\n", header=False, names=names).column_names == ["a", "b"]
    names.append("c")
    with pytest.raises(ParseError, match="too few fields"):
        read_csv(b"1,2\n", header=False, names=names)


def test_values_that_are_equal_and_not_the_same_are_told_apart():
    data = b"a\nb\n1\n"
    assert read_csv(data, header=1).column_names == ["b"]
    assert read_csv(data, header=True).column_names == ["a"]
    assert read_csv(data, header=0).column_names == ["a"]
    assert read_csv(data, header=False).num_rows == 3
    with pytest.raises(OptionError):
        read_csv(data, skip_rows=True)
    assert read_csv(data, skip_rows=1).column_names == ["b"]


def test_each_call_counts_its_own_copies_and_tells_its_own_progress():
    contexts = [Context(), Context()]
    tables = [read_csv(b"a\n1\n", context=context) for context in contexts]
    assert tables[0].report.crossings is not tables[1].report.crossings
    assert [table.report.crossings.whole for table in tables] == [context.crossings for context in contexts]
    assert tables[0].report.crossings.whole is contexts[0].crossings
