"""Finds how files are written and reads them: four files of DuckDB's tests with different separators, quotes and preambles."""

from pathlib import Path

import headrace

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "duckdb-csv" / "auto"

for name in ("pipe_delim_quote.csv", "semicolon_quote.csv", "tab_single_quote.csv", "skip_row.csv"):
    table = headrace.read_csv(FOLDER / name, dialect="auto")
    found = table.report.sniffed
    assert found is not None
    print(f"{name}: sep={found.options['sep']!r}, skip_rows={found.skip_rows}, {table.num_rows} rows")
    print("   ", *(f"{column}: {kind}" for column, kind in table.schema.items()), sep="  ")
