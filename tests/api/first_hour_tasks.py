"""Tasks of the first hour with a file, as users of other libraries write them: sources, options of readers, and first looks.

Names in a task are ``path``, a file of `TEXT`; ``tabs``, the same with tabs; ``zipped``, the file in a zip archive; ``folder``,
the folder of all; ``out``, a path to write to; ``text``; arrays of `test_first_hour_differential`; and modules.
"""

from __future__ import annotations

import re

TEXT = "id,name,price,when\n1,Rome,1.5,2024-01-31\n2,Oslo,,2024-02-01\n3,Lima,2.5,2024-03-01\n4,Bonn,4.5,2024-03-02\n"

PANDAS = [
    "pd.read_csv(io.StringIO(text))",
    "pd.read_csv(open(path))",
    "pd.read_csv(Path(path))",
    "pd.read_csv(zipped)",
    "pd.read_csv(path, usecols=lambda name: name != 'when')",
    "pd.read_csv(path, dtype={'id': 'string', 'price': np.float32})",
    "pd.read_csv(path, sep=None, engine='python')",
    "pd.read_csv(path, sep=r'\\s*,\\s*', engine='python')",
    "pd.read_csv(path, skiprows=lambda i: i == 2)",
    "pd.read_csv(path, keep_default_na=False, na_values=[''])",
    "pd.read_csv(path, names=['a', 'b', 'c', 'd'], header=0, usecols=['a', 'c'])",
    "pd.read_csv(path, converters={'name': str.upper})",
    "pd.read_csv(path, parse_dates=True)",
    "pd.read_csv(path, index_col=False)",
    "pd.read_csv(path, nrows=0).columns.tolist()",
    "pd.read_csv(path, dtype='object')",
    "pd.read_csv(path, on_bad_lines='warn')",
    "pd.read_csv(path, dtype_backend='pyarrow')",
    "pd.read_table(tabs)",
    "pd.read_csv(path, iterator=True).get_chunk(2)",
    "pd.concat([pd.read_csv(f) for f in [path, path]], ignore_index=True)",
    "pd.read_csv(path).columns.tolist()",
    "pd.read_csv(path).empty",
    "pd.read_csv(path).drop(columns='name')",
    "pd.read_csv(path).drop('name', axis=1)",
    "pd.read_csv(path).to_dict('records')",
    "pd.read_csv(path)['price'].notna().sum()",
    "pd.read_csv(path)['name'].nunique()",
    "pd.read_csv(path).iloc[0]['name']",
    "pd.read_csv(path).fillna(0)",
]

POLARS = [
    "pl.read_csv(Path(path))",
    "pl.read_csv(text.encode())",
    "pl.read_csv(io.BytesIO(text.encode()))",
    "pl.read_csv(path, try_parse_dates=True)",
    "pl.read_csv(path, infer_schema=False)",
    "pl.read_csv(path, infer_schema_length=None)",
    "pl.read_csv(path, infer_schema_length=10_000, ignore_errors=True)",
    "pl.read_csv(path, columns=['name', 'id']).to_dicts()[0]['name']",
    "pl.read_csv(path, row_index_name='row')",
    "pl.read_csv(path, row_index_name='row', row_index_offset=1)",
    "pl.read_csv(path, null_values=['Oslo', 'Lima'])",
    "pl.read_csv(path, truncate_ragged_lines=True)",
    "pl.read_csv(path, low_memory=True)",
    "pl.read_csv(path, encoding='utf8-lossy')",
    "pl.read_csv(path, eol_char='\\n')",
    "pl.read_csv(folder + '/*.csv').height",
    "pl.scan_csv([path, path], include_file_paths='path').collect().width",
    "pl.scan_csv(path).select(pl.col('id'), pl.col('price')).collect()",
    "pl.scan_csv(path).filter(pl.col('price').is_not_null()).first().collect()",
    "pl.scan_csv(path).collect_schema().len()",
    "pl.scan_csv(path).rename({'id': 'key'}).collect()",
    "pl.scan_csv(path).tail(1).collect()",
    "pl.read_csv(path).filter(pl.col('price').is_not_null()).height",
    "pl.read_csv(path).filter(pl.col('name').str.contains('o'))",
    "pl.read_csv(path).select('name').to_series().to_list()",
    "pl.read_csv(path).get_columns()[0].to_list()",
    "pl.read_csv(path).unique(subset=['name']).height",
    "next(pl.read_csv(path).iter_rows(named=True))",
    "pl.read_csv(path).write_csv(out, include_header=False, null_value='-')",
    "pl.read_csv(path).schema.names()",
]

PYARROW = [
    "csv.read_csv(io.BytesIO(text.encode()))",
    "csv.read_csv(pa.BufferReader(text.encode()))",
    "csv.read_csv(open(path, 'rb'))",
    "csv.read_csv(Path(path))",
    "csv.read_csv(path, convert_options=csv.ConvertOptions(column_types={'id': pa.int32()}))",
    "csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=pa.schema([('id', pa.int64()), ('name', pa.string())])))",
    "csv.read_csv(path, convert_options=csv.ConvertOptions(include_columns=['name', 'id']))",
    "csv.read_csv(path, convert_options=csv.ConvertOptions(include_columns=['id', 'zip'], include_missing_columns=True))",
    "csv.read_csv(path, convert_options=csv.ConvertOptions(null_values=['', 'Oslo'], strings_can_be_null=True))",
    "csv.read_csv(path, convert_options=csv.ConvertOptions(timestamp_parsers=['%Y-%m-%d', csv.ISO8601]))",
    "csv.read_csv(path, convert_options=csv.ConvertOptions(auto_dict_encode=True, auto_dict_max_cardinality=100))",
    "csv.read_csv(path, read_options=csv.ReadOptions(column_names=['a', 'b', 'c', 'd'], skip_rows=1))",
    "csv.read_csv(path, read_options=csv.ReadOptions(use_threads=False, block_size=1 << 20, encoding='utf8'))",
    "csv.read_csv(tabs, parse_options=csv.ParseOptions(delimiter='\\t'))",
    "csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False))",
    "csv.read_csv(path, parse_options=csv.ParseOptions(invalid_row_handler=lambda row: 'skip'))",
    "csv.read_csv(path).to_pandas().shape",
    "csv.read_csv(path)['name'].combine_chunks().to_pylist()",
    "next(csv.read_csv(path).itercolumns()).to_pylist()",
    "csv.open_csv(path, read_options=csv.ReadOptions(block_size=1 << 16)).read_pandas().shape",
    "csv.read_csv(path).schema.field('id').type",
    "csv.read_csv(path).nbytes",
]

DUCKDB = [
    "duckdb.read_csv(path, header=True, sep=',', dtype={'id': 'INTEGER', 'when': 'DATE'}).fetchall()",
    "duckdb.read_csv(path, dtype=['INTEGER', 'VARCHAR', 'DOUBLE', 'DATE']).fetchall()",
    "duckdb.read_csv(path, columns={'id': 'INTEGER', 'name': 'VARCHAR', 'price': 'DOUBLE', 'when': 'DATE'}).fetchall()",
    "duckdb.read_csv(path, auto_detect=True, sample_size=-1).fetchall()",
    "duckdb.read_csv(path, ignore_errors=True, store_rejects=True).fetchall()",
    "duckdb.read_csv(path, date_format='%Y-%m-%d').fetchall()",
    "duckdb.read_csv(path, null_padding=True).fetchall()",
    "duckdb.read_csv(path, quotechar='\"', escapechar='\"').fetchall()",
    "duckdb.read_csv(path, max_line_size=10_000_000, parallel=True).fetchall()",
    "duckdb.read_csv(path, normalize_names=True).columns",
    "duckdb.read_csv(path, encoding='utf-8', compression='none').fetchall()",
    "duckdb.read_csv(path, decimal='.').fetchall()",
    "duckdb.read_csv(folder + '/*.csv', union_by_name=True).shape",
    "duckdb.read_csv(path).arrow().read_all().num_rows",
    "duckdb.read_csv(path).pl()",
    "duckdb.read_csv(path).select('name').fetchall()",
    "duckdb.read_csv(path).to_csv(out, header=True, na_rep='-')",
    "duckdb.read_csv(path).types",
    "duckdb.read_csv(path).describe()",
    "duckdb.read_csv(path).union(duckdb.read_csv(path)).shape",
]

CUDF = [
    "cudf.read_csv(path, dtype=['int32', 'str', 'float64', 'datetime64[s]'])",
    "cudf.read_csv(path, dtype={'when': 'datetime64[ms]'})",
    "cudf.read_csv(path, byte_range=(0, 20))",
    "cudf.read_csv(path, usecols=[0, 1], names=['a', 'b', 'c', 'd'], header=0)",
    "cudf.read_csv(path, quoting=0)",
    "cudf.read_csv(path, skip_blank_lines=True, skipfooter=1)",
    "cudf.read_csv(path, bytes_per_thread=256)",
    "cudf.read_csv(path, index_col=False, mangle_dupe_cols=True)",
    "cudf.read_csv(path, true_values=['yes'], false_values=['no'])",
    "cudf.read_csv(path, use_python_file_object=True)",
    "cudf.read_csv(path, storage_options=None)",
    "cudf.read_csv(tabs, delimiter='\\t')",
    "cudf.read_csv(path, dayfirst=False, parse_dates=['when'])",
    "cudf.read_csv(path, na_filter=False)",
    "cudf.read_csv(path, compression='infer', decimal='.')",
    "cudf.read_csv(io.BytesIO(text.encode())).to_pandas().shape",
    "cudf.read_csv(path).head().to_pandas()",
    "cudf.read_csv(path).columns.to_list()",
    "cudf.concat([cudf.read_csv(path)] * 2)",
    "cudf.read_csv(path)['name'].str.upper()",
]
"""From cuDF's documentation; cuDF is not run."""

NUMPY = [
    "np.argsort(a, kind='stable')",
    "np.unique(a)",
    "np.unique(a, return_counts=True)",
    "np.unique(a, return_inverse=True)",
    "np.unique(a, return_index=True)",
    "np.cumsum(m, axis=1)",
    "np.histogram(f, bins=20, range=(0, 1))",
    "np.histogram(f, bins=[0, 0.1, 0.5, 1])",
    "np.histogram(f, density=True)",
    "np.bincount(a, minlength=20)",
    "np.digitize(f, bins=[0.25, 0.5], right=True)",
    "np.searchsorted([1, 2, 3], 2.5)",
    "np.searchsorted(np.sort(a), 3, side='right')",
    "np.searchsorted(a, 3, sorter=np.argsort(a, kind='stable'))",
    "np.take(m, [1, 0], axis=1)",
    "np.take(a, [[0, -1], [2, 3]])",
    "np.sort(m, axis=0)",
    "np.sort(m, axis=None)",
    "np.sort(a.astype('>i4'))",
    "np.cumulative_sum(a, include_initial=True)",
    "np.sort(f.astype(np.float16))",
    "np.sort(words)",
]

HERE = {
    r"\b(?:pd|pl|cudf|duckdb|csv)\.(read_csv|scan_csv|read_table|concat|col)\b": r"headrace.\1",
    r"\bcsv\.open_csv\b": "headrace.scan_csv",
    r"\bnp\.(argsort|bincount|cumsum|cumulative_sum|digitize|histogram|searchsorted|sort|take|unique)\(": r"headrace.\1(",
}
"""Patterns of the peers' names, and the names here. Nothing else of a task changes."""


def task_here(task: str) -> str:
    """Return a task with the names of this package."""
    for pattern, name in HERE.items():
        task = re.sub(pattern, name, task)
    return task
