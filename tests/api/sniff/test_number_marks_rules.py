"""Rules by which a decimal comma and marks of thousands are proposed: where values fit and no other meaning does."""

from __future__ import annotations

import pytest

import headrace

PROPOSED = {
    "two numbers": (b"a;b\n1,5;2,7\n", [1.5], [2.7]),
    "tabs": (b"a\tb\n1,5\t2,7\n", [1.5], [2.7]),
    "without a header": (b"1,5;2,5;x\n4,5;6,5;y\n", [1.5, 4.5], [2.5, 6.5]),
    "signs": (b"a;b\n-1,5;+2,25\n+0,5;-0,75\n", [-1.5, 0.5], [2.25, -0.75]),
    "exponents": (b"a;b\n1,5e3;x\n2,5E-1;y\n", [1500.0, 0.25], ["x", "y"]),
    "beside integers": (b"a;b\n1,5;20\n2,5;30\n", [1.5, 2.5], [20, 30]),
    "integers in the same column": (b"a;b\n1;x\n2,5;y\n", [1.0, 2.5], ["x", "y"]),
    "beside dates": (b"a;b\n1,5;2020-01-31\n2,5;2020-02-01\n", [1.5, 2.5], None),
    "beside dates with points": (b"a;b\n1,5;31.01.2020\n2,5;01.02.2020\n", [1.5, 2.5], ["31.01.2020", "01.02.2020"]),
    "beside times": (b"a;b\n1,5;2020-01-31 10:20:30\n", [1.5], None),
    "in quotes": (b'a;b\n"1,5";"x"\n"2,5";"y"\n', [1.5, 2.5], ["x", "y"]),
    "empty fields": (b"a;b\n1,5;\n;2,5\n", [1.5, None], [None, 2.5]),
    "words for null": (b"a;b\n1,5;x\nNA;y\n2,5;z\n", [1.5, None, 2.5], ["x", "y", "z"]),
    "three decimals after a zero": (b"a;b\n0,125;x\n0,250;y\n", [0.125, 0.25], ["x", "y"]),
    "three decimals after four digits": (b"a;b\n1234,125;x\n1,250;y\n", [1234.125, 1.25], ["x", "y"]),
    "one value of three that has no thousands": (b"a;b\n1,234;x\n5,678;y\n9,1;z\n", [1.234, 5.678, 9.1], ["x", "y", "z"]),
    "another column shows it": (b"a;b\n1,234;1,5\n5,678;2,5\n", [1.234, 5.678], [1.5, 2.5]),
    "many decimals": (b"a;b\n52,520008;13,404954\n", [52.520008], [13.404954]),
    "text with commas beside": (b"a;b\n1,5;well, yes\n2,5;no, well\n", [1.5, 2.5], ["well, yes", "no, well"]),
    "a preamble": (b"exported by hand\na;b\n1,5;x\n2,5;y\n", [1.5, 2.5], ["x", "y"]),
    "comments": (b"# unit: m\na;b\n1,5;x\n# later\n2,5;y\n", [1.5, 2.5], ["x", "y"]),
    "CR LF": (b"a;b\r\n1,5;x\r\n2,5;y\r\n", [1.5, 2.5], ["x", "y"]),
    "a version with two points": (b"a;b\n1,5;1.2.3\n2,5;1.3.0\n", [1.5, 2.5], ["1.2.3", "1.3.0"]),
    "decimals of several lengths": (b"a;b\n2,1;x\n2,25;y\n10,0;z\n", [2.1, 2.25, 10.0], ["x", "y", "z"]),
    "pairs beside numbers": (b"a;b\n1,50;2,1\n2,25;2,10\n", [1.5, 2.25], [2.1, 2.1]),
    "short records": (b"a;b;c\n1,5;x;1\n2,5;y\n3,5;z;3\n4,5;w;4\n", [1.5, 2.5, 3.5, 4.5], ["x", "y", "z", "w"]),
}
NOT_PROPOSED = {
    "thousands": b"a;b\n1,234;x\n5,678;y\n",
    "millions": b"a;b\n1,234,567;x\n5,678,901;y\n",
    "pairs": b"a\tb\n2,1\tx\n2,10\ty\n",
    "pairs of several lengths": b"a;b\n10,3;x\n9,20;y\n9,205;z\n",
    "thousands in some records": b"a;b\n1.234,50;x\nabout 5.678,25;y\n",
    "thousands of points beside a decimal point": b"a;b\n1.234,50;1.5\n5.678,25;2.5\n",
    "three decimals in another column": b"a;b\n1.234,50;1.234\n5.678,25;2.125\n",
    "three decimals beside a word for null": b"a;b\n1.234,50;1.234\n5.678,25;NA\n",
    "telephones": b"a;b\n+49.123,456;x\n+49.124,457;y\n",
    "pairs of degrees": b'a,b\n"52.123,13",x\n"48.137,11",y\n',
    "pairs with zeros at the end": b"a;b\n52.123,9;x\n48.137,10;y\n",
    "a point in another column": b"a;b\n1,5;2.5\n2,5;3.5\n",
    "a point beside words for null": b"a;b\n1,5;2.5\n2,5;NA\n",
    "a point in the same column": b"a;b\n1,5;x\n2.5;y\n",
    "millions beside pairs": b"a;b;c\n1,234,567;1,234;1,2\n5,678,901;5,678;3,4\n",
    "a list": b"a;b\n1,2,3;x\n4,5,6;y\n",
    "a list of pairs and more": b"a;b\n1,2;x\n4,5,6;y\n",
    "text": b"a;b\n1,5;x\nabout 2;y\n",
    "integers": b"a;b\n1;2\n3;4\n",
    "points": b"a;b\n1.5;2.5\n3.5;4.5\n",
    "separated by commas": b'a,b\n"1,5","2,5"\n"3,5","4,5"\n',
    "separated by bars": b"a|b\n1,5|x\n2,5|y\n",
    "dates in words": b"a;b\nMay 5, 2020;1\nJune 6, 2021;2\n",
    "no digits after the comma": b"a;b\n1,;x\n2,;y\n",
    "no digits before the comma": b"a;b\n,5x;x\n,6x;y\n",
    "units": b"a;b\n1,5 m;x\n2,5 m;y\n",
    "times with decimals": b"a;b\n10:20:30,5;x\n10:20:31,5;y\n",
    "empty columns": b"a;b\n;x\n;y\n",
}


@pytest.mark.parametrize("name", PROPOSED)
def test_decimal_commas_are_proposed(name: str) -> None:
    text, first, second = PROPOSED[name]
    assert headrace.sniff_csv(text).options.get("decimal") == ",", headrace.sniff_csv(text)
    table = headrace.read_csv(text, dialect="auto")
    columns = list(table.to_pydict().values())
    assert columns[0] == first
    assert second is None or columns[1] == second
    assert table.report.sniffed is not None
    assert table.report.sniffed.decimal == ","
    sniffed = headrace.sniff_csv(text)
    assert table.equals(headrace.read_csv(text, **sniffed.options))
    assert {name: str(type_) for name, type_ in table.schema.items()} == dict(sniffed.schema) or sniffed.null_values
    assert any(line.startswith("decimal=','") for line in sniffed.evidence)


THOUSANDS = {
    "points": (b"a;b\n1.234,50;x\n5.678,25;y\n0,5;z\n", ",", ".", [1234.5, 5678.25, 0.5]),
    "points, in quotes": (b'a,b\n"1.234,50",x\n"5.678,25",y\n"12,50",z\n', ",", ".", [1234.5, 5678.25, 12.5]),
    "millions, in quotes": (b'a,b\n"1.234,50",x\n"1.005.678,25",y\n', ",", ".", [1234.5, 1005678.25]),
    "decimals of several lengths": (b"a;b\n1.234,5;x\n5.678,25;y\n", ",", ".", [1234.5, 5678.25]),
    "differences": (b"a;b\n-1.234,50;x\n+5.678,25;y\n", ",", ".", [-1234.5, 5678.25]),
    "commas": (b"a;b\n1,234.50;x\n5,678.25;y\n", ".", ",", [1234.5, 5678.25]),
    "commas, in quotes": (b'a,b\n"1,234,567.5",x\n-2.25,y\n', ".", ",", [1234567.5, -2.25]),
    "commas beside pairs": (b"a\tb\n1,234.50\t1,2\n5,678.25\t3,4\n", ".", ",", [1234.5, 5678.25]),
    "apostrophes": (b"a;b\n1'234.50;x\n12;y\n", ".", "'", [1234.5, 12.0]),
    "words for null": (b"a;b\n1.234,50;x\nNA;y\n", ",", ".", [1234.5, None]),
}


@pytest.mark.parametrize("name", THOUSANDS)
def test_marks_of_thousands_are_proposed_with_the_decimal_point(name: str) -> None:
    text, decimal, thousands, first = THOUSANDS[name]
    sniffed = headrace.sniff_csv(text)
    assert (sniffed.decimal, sniffed.thousands) == (decimal, thousands), sniffed
    table = headrace.read_csv(text, dialect="auto")
    assert table["a"].to_pylist() == first
    assert table.equals(headrace.read_csv(text, **sniffed.options))


def test_columns_whose_numbers_change_are_in_the_evidence() -> None:
    may_be_decimals = headrace.sniff_csv(b"a;b\n1.234,50;1.234\n5.678,25;2.125\n")
    reason = "not decimal=',', thousands='.': 'a' has numbers like '1.234,50', since 'b' has 1.234 and may have decimal points"
    assert reason in may_be_decimals.evidence
    thousands = headrace.sniff_csv(b"a;b\n1.234,50;950\n5.678,25;2.125\n")
    assert "decimal=',', thousands='.': 'a' has numbers like '1.234,50', and 'b' has 2.125 for 2125" in thousands.evidence
    table = headrace.read_csv(b"a;b\n1.234,50;950\n5.678,25;2.125\n", dialect="auto")
    assert table.to_pydict() == {"a": [1234.5, 5678.25], "b": [950, 2125]}


@pytest.mark.parametrize("name", NOT_PROPOSED)
def test_other_commas_are_not(name: str) -> None:
    sniffed = headrace.sniff_csv(NOT_PROPOSED[name])
    assert (sniffed.decimal, sniffed.thousands) == (".", None)
    assert not sniffed.options.keys() & {"decimal", "thousands"}


@pytest.mark.parametrize("options", [{"thousands": ","}, {"decimal": "'"}, {"thousands": " "}])
def test_marks_that_are_given_stay(options: dict[str, str]) -> None:
    table = headrace.read_csv(b"a;b\n1,5;x\n2,5;y\n", dialect="auto", **options)
    assert table.to_pydict()["a"] == ["1,5", "2,5"]


def test_types_that_are_given_stay() -> None:
    table = headrace.read_csv(b"a;b\n1,5;2,5\n", dialect="auto", dtypes={"a": "string"})
    assert table.to_pydict() == {"a": ["1,5"], "b": [2.5]}


def test_several_files() -> None:
    table = headrace.read_csv([b"a;b\n1,5;x\n", b"a;b\n2;y\n"], dialect="auto")
    assert table.to_pydict()["a"] == [1.5, 2.0]


def test_scan() -> None:
    assert headrace.scan_csv(b"a;b\n1,5;x\n", dialect="auto").read().to_pydict()["a"] == [1.5]
