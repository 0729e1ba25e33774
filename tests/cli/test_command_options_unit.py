"""Options of the command: each reaches `read_csv` under its own name, and every option of `read_csv` has one."""

from __future__ import annotations

import argparse
import inspect
from typing import Any

import pytest

from headrace import read_csv
from headrace.cli.common import options, values

ARGUMENTS = set(inspect.signature(read_csv).parameters) - {"source", "aliases"}
NOT_REACHED = {
    "device": "there is one",
    "context": "`threads` is its only part that a command needs",
    "schema": "`dtypes` says as much",
    "progress": "the command has its own",
}


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(allow_abbrev=False)
    options.add_files(made)
    options.add_options(made, "files", "text", "columns", "work")
    return made


def given(*arguments: str) -> dict[str, Any]:
    known = vars(parser().parse_args(["in.csv", *arguments]))
    assert known.pop("file") == ["in.csv"]
    return {name: value for name, value in known.items() if value is not None or name in {"quote_char", "compression"}}


def test_every_option_is_an_argument_of_read_csv_and_every_argument_has_an_option() -> None:
    reached = {action.dest for action in parser()._actions} - {"help", "file"}
    assert reached == ARGUMENTS - set(NOT_REACHED)


def test_what_is_not_given_is_left_to_read_csv() -> None:
    assert given() == {}


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        (["--dialect", "auto"], {"dialect": "auto"}),
        (["--sep", "\\t"], {"sep": "\t"}),
        (["--sep", "||"], {"sep": "||"}),
        (["--quote", ""], {"quote_char": None}),
        (["--quote", "'"], {"quote_char": "'"}),
        (["--no-double-quote"], {"double_quote": False}),
        (["--lenient-quotes"], {"lenient_quotes": True}),
        (["--strict-quotes"], {"strict_quotes": True}),
        (["--escape", "\\"], {"escape_char": "\\"}),
        (["--comment", "//"], {"comment": "//"}),
        (["--line-end", "\\r\\n"], {"lineterminator": "\r\n"}),
        (["--skip-initial-space"], {"skip_initial_space": True}),
        (["--strip"], {"strip": True}),
        (["--keep-blank-lines"], {"skip_blank_lines": False}),
        (["--header"], {"header": True}),
        (["--no-header"], {"header": False}),
        (["--header-rows", "2"], {"header": 2}),
        (["--header-rows", "0,1"], {"header": [0, 1]}),
        (["--skip-rows", "3"], {"skip_rows": 3}),
        (["--skip-rows-after-header", "1"], {"skip_rows_after_header": 1}),
        (["--skip-footer", "1"], {"skip_footer": 1}),
        (["--short-records", "null"], {"short_records": "null"}),
        (["--long-records", "collect"], {"long_records": "collect"}),
        (["--names", 'a,"b, c"'], {"names": ["a", "b, c"]}),
        (["--columns", "a,b"], {"columns": ["a", "b"]}),
        (["--dtypes", "a=int8"], {"dtypes": {"a": "int8"}}),
        (["--no-infer"], {"infer_schema": False}),
        (["--shrink"], {"shrink": True}),
        (["--null", "", "--null", "NA"], {"null_values": ["", "NA"]}),
        (["--quoted-null"], {"quoted_null": True}),
        (["--true", "yes", "--true", "y"], {"true_values": ["yes", "y"]}),
        (["--false", "no"], {"false_values": ["no"]}),
        (["--row-index", "i"], {"row_index_name": "i"}),
        (["--row-index-offset", "-1"], {"row_index_offset": -1}),
        (["--decimal", ","], {"decimal": ","}),
        (["--thousands", "."], {"thousands": "."}),
        (["--date-format", "%d/%m/%Y"], {"date_format": ["%d/%m/%Y"]}),
        (["--date-format", "%d=%m", "--date-format", "%F"], {"date_format": ["%d=%m", "%F"]}),
        (
            ["--date-format", "a=%F", "--date-format", "b=%D", "--date-format", "a=%Y=%m=%d"],
            {"date_format": {"a": ["%F", "%Y=%m=%d"], "b": ["%D"]}},
        ),
        (["--dayfirst"], {"dayfirst": True}),
        (["--strings", "view"], {"strings": "view"}),
        (["--encoding", "cp1252"], {"encoding": "cp1252"}),
        (["--encoding-errors", "replace"], {"encoding_errors": "replace"}),
        (["--compression", "gzip"], {"compression": "gzip"}),
        (["--compression", "none"], {"compression": None}),
        (["--no-glob"], {"glob": False}),
        (["--union-by-name"], {"union_by_name": True}),
        (["--include-missing-columns"], {"include_missing_columns": True}),
        (["--file-paths", "file"], {"include_file_paths": "file"}),
        (["--hive"], {"hive_partitioning": True}),
        (["--no-hive"], {"hive_partitioning": False}),
        (["--n-rows", "10"], {"n_rows": 10}),
        (["--on-error", "reject"], {"on_error": "reject"}),
        (["--max-rejects", "3"], {"max_rejects": 3}),
        (["--threads", "2"], {"threads": 2}),
        (["--chunk-bytes", "4096"], {"chunk_bytes": 4096}),
    ],
)
def test_options_become_arguments(arguments: list[str], read: dict[str, Any]) -> None:
    assert given(*arguments) == read


def test_date_formats_are_for_all_columns_or_by_column(capsys: pytest.CaptureFixture[str]) -> None:
    for formats in (["%F", "a=%F"], ["a=%F", "%F"]):
        with pytest.raises(SystemExit):
            given("--date-format", formats[0], "--date-format", formats[1])
        assert "not both" in capsys.readouterr().err


def test_names_and_types_are_taken_apart() -> None:
    assert values.names('a,"b, c",d') == ["a", "b, c", "d"]
    assert values.names("") == []
    assert values.types("string") == "string"
    assert values.types("a=int64, b = date") == {"a": "int64", "b ": " date"}
    assert values.types("t=timestamp[us, UTC],x=y=float64") == {"t": "timestamp[us, UTC]", "x=y": "float64"}
    assert values.types("p=decimal128(12, 2),q=int8") == {"p": "decimal128(12, 2)", "q": "int8"}
    assert values.types("d=decimal128(12, 2),e=Decimal(9,2)") == {"d": "decimal128(12, 2)", "e": "Decimal(9,2)"}
