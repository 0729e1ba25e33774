"""Columns of every type, and the expected parts of encoded columns, computed with Python's own sort and dictionaries."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import numpy as np

from headrace.columns.column import Column
from headrace.columns.types import DataType, parse_type
from headrace.core.buffer import copy_of
from headrace.store.dictionary.encoded_column import EncodedColumn

FLOAT_BITS = {
    "float32": [0x80000000, 0, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7FC00001, 1, 0x80000001, 0x3F800000],
    "float64": [1 << 63, 0, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, 0xFFF8 << 48, (0x7FF8 << 48) + 1, 1, (1 << 63) + 1],
}
NUMBER_TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "bool")
TIME_TYPES = ("date32", "timestamp[us, UTC]", "time32[ms]", "time64[ns]", "duration[s]")
SHORT_DECIMAL, DECIMAL = "decimal128(18, 2)", "decimal128(38, 2)"
"""Types of values that 64 bits have, and of values that nearly all take more."""
TEXT_TYPES = ("string", "large_string", "binary", "large_binary")


def column_of(type_name: str, values: list[Any]) -> Column:
    """Return a column of raw values: integers (bits of floats), bytes, or bools; None for null."""
    type_ = parse_type(type_name)
    present = [value is not None for value in values]
    nulls = present.count(False)
    validity = copy_of(np.packbits(np.array(present, bool), bitorder="little").tobytes()) if nulls else None
    if type_.name in TEXT_TYPES:
        texts = [value or b"" for value in values]
        offsets = np.cumsum([0, *map(len, texts)]).astype(f"i{type_.bits // 8}")
        return Column(type_, len(values), nulls, copy_of(b"".join(texts)), validity, copy_of(offsets.tobytes()))
    if type_.name == "bool":
        data = np.packbits(np.array([bool(value) for value in values], bool), bitorder="little").tobytes()
    elif type_.name == "decimal128":
        data = b"".join((value or 0).to_bytes(16, "little", signed=True) for value in values)
    else:
        width = type_.bits // 8
        data = b"".join(((value or 0) & (1 << type_.bits) - 1).to_bytes(width, "little") for value in values)
    return Column(type_, len(values), nulls, copy_of(data), validity)


def raw_values(column: Column) -> list[Any]:
    """Return the values of a column as `column_of` takes them."""
    type_ = column.type
    if type_.name in TEXT_TYPES:
        plain = replace(column, type=DataType("large_binary" if type_.bits == 64 else "binary"))
        return plain.to_pylist()
    if type_.name == "null":
        return [None] * column.length
    if type_.name == "decimal128":
        data = bytes(memoryview(column.values))
        items = [int.from_bytes(data[16 * i : 16 * i + 16], "little", signed=True) for i in range(column.length)]
    elif type_.name == "bool":
        items = replace(column, validity=None, null_count=0).to_pylist()
    else:
        name = f"uint{type_.bits}" if type_.name in FLOAT_BITS else f"int{type_.bits}"
        name = type_.name if type_.name.startswith("uint") else name
        items = replace(column, type=DataType(name), validity=None, null_count=0).to_pylist()
    if column.validity is None:
        return items
    bits = np.unpackbits(np.frombuffer(memoryview(column.validity), "u1"), bitorder="little")[column.offset :]
    return [item if there else None for item, there in zip(items, bits, strict=False)]


def total_order(type_name: str, value: Any) -> Any:
    """Return a key that orders raw values as IEEE 754's totalOrder does, and others as themselves."""
    if type_name not in FLOAT_BITS:
        return value
    bits = 32 if type_name == "float32" else 64
    return value if value < 1 << bits - 1 else (1 << bits - 1) - 1 - value


def random_values(type_name: str, count: int, distinct: int, seed: int) -> list[Any]:
    """Return raw values of at most `distinct` kinds, with the extremes of the type."""
    random = np.random.default_rng(seed)
    picks = random.integers(0, max(distinct, 1), count).tolist()
    if type_name in TEXT_TYPES:
        return [b"\0" * (i % 3) + b"prefix of many" * (i % 4) + struct.pack(">H", i * 7919 % 65536)[i % 2 :] for i in picks]
    if type_name in FLOAT_BITS:
        special = FLOAT_BITS[type_name]
        width = 32 if type_name == "float32" else 64
        pool = [*special, *random.integers(0, 1 << 31, max(distinct, 1)).tolist()][: max(distinct, 1)]
        return [pool[i % len(pool)] & (1 << width) - 1 for i in picks]
    if type_name == "bool":
        return [bool(i & 1) for i in picks]
    if type_name.startswith("decimal"):
        scale = 10**15 if type_name == SHORT_DECIMAL else 10**19
        return [(i - distinct // 2) * scale + i for i in picks]
    type_ = parse_type(type_name)
    low = 0 if type_.name.startswith("uint") else -(1 << type_.bits - 1)
    pool = np.unique(np.append(random.integers(0, 1 << min(type_.bits, 62), 2 * distinct + 2, dtype=np.int64), 0))[:distinct]
    shifted = [low + int(item) for item in pool] or [low]
    return [shifted[i % len(shifted)] for i in picks]


def expected(type_name: str, values: list[Any]) -> tuple[list[Any], list[int]]:
    """Return the sorted distinct raw values, and the code of each; 0 for null."""
    distinct = sorted({value for value in values if value is not None}, key=lambda value: total_order(type_name, value))
    numbers = {value: i for i, value in enumerate(distinct)}
    return distinct, [0 if value is None else numbers[value] for value in values]


def packed(codes: list[int], bits: int) -> bytes:
    """Return codes as a little-endian stream of bits in words of 64, from a list of all bits."""
    stream = np.asarray(codes, np.int64).reshape(-1, 1) >> np.arange(bits) & 1
    padding = np.zeros(-len(codes) * bits % 64, np.uint8)
    return np.packbits(np.concatenate([stream.astype(np.uint8).reshape(-1), padding]), bitorder="little").tobytes()


def check(encoded: EncodedColumn, type_name: str, values: list[Any]) -> None:
    """Compare all parts of an encoded column with the expected ones."""
    distinct, codes = expected(type_name, values)
    assert raw_values(encoded.dictionary) == distinct
    assert encoded.bits == (max(len(distinct) - 1, 0)).bit_length()
    assert bytes(memoryview(encoded.words)) == packed(codes, encoded.bits)
    assert (encoded.length, encoded.null_count) == (len(values), values.count(None))
    flags = np.ones(len(values), "u1")
    if encoded.validity is not None:
        flags = np.unpackbits(np.frombuffer(memoryview(encoded.validity), "u1"), bitorder="little")[: len(values)]
    assert flags.tolist() == [value is not None for value in values]
