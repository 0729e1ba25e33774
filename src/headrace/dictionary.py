"""Offers columns of a sorted dictionary and packed codes: encode, decode and merge them (Krueger et al. 2011).

>>> import headrace
>>> main = headrace.dictionary.encode(headrace.read_csv(b"x\\n30\\n10\\n")["x"])
>>> merged = headrace.dictionary.merge(main, headrace.read_csv(b"x\\n20\\n")["x"])
>>> merged.dictionary.to_pylist(), headrace.dictionary.decode(merged).to_pylist()
([10, 20, 30], [30, 10, 20])
"""

from headrace.store.dictionary.decode import decode
from headrace.store.dictionary.dictionaries import DictionaryMerge, merge_dictionaries
from headrace.store.dictionary.distinct import DistinctValues, distinct_values
from headrace.store.dictionary.encode import encode, filtered, merge
from headrace.store.dictionary.encoded_column import EncodedColumn
from headrace.store.dictionary.merge_columns import merge_columns
from headrace.store.dictionary.packing import pack, unpack

__all__ = [
    "DictionaryMerge",
    "DistinctValues",
    "EncodedColumn",
    "decode",
    "distinct_values",
    "encode",
    "filtered",
    "merge",
    "merge_columns",
    "merge_dictionaries",
    "pack",
    "unpack",
]
