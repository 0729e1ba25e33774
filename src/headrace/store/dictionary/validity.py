"""Selects, joins and aligns the validity of rows, one bit each, least significant first."""

from __future__ import annotations

from typing import Any, NamedTuple

from headrace.columns.column import Column
from headrace.core.buffer import Buffer, copy_of
from headrace.store.dictionary.encoded_column import EncodedColumn
from headrace.store.dictionary.items import items_at


class Validity(NamedTuple):
    """Validity of rows, None without nulls, and the number of nulls."""

    bits: Buffer | None
    null_count: int


def flags_of(bits: Buffer, length: int, offset: int = 0) -> Any:
    """Return `length` bits from bit `offset` on as bools."""
    import numpy as np

    first = offset // 8
    packed = items_at(bits, "|u1", -(-(offset + length) // 8) - first, first)
    return np.unpackbits(packed, bitorder="little")[offset % 8 :][:length].view(bool)


def of_flags(flags: Any) -> Validity:
    """Return the validity of rows, given as bools."""
    import numpy as np

    nulls = len(flags) - int(np.count_nonzero(flags))
    return Validity(copy_of(np.packbits(flags, bitorder="little")) if nulls else None, nulls)


def of_rows(bits: Buffer, rows: Any) -> Any:
    """Return the bits of row numbers as bools."""
    packed = items_at(bits, "|u1", bits.nbytes)
    return (packed[rows >> 3] >> (rows & 7) & 1).astype(bool)


def of_column(column: Column) -> Validity:
    """Return the validity of a column from its first row on."""
    if column.type.name == "null":
        return all_null(column.length)
    if column.validity is None:
        return Validity(None, 0)
    return of_flags(flags_of(column.validity, column.length, column.offset))


def all_null(length: int) -> Validity:
    """Return the validity of rows that are all null."""
    return Validity(copy_of(bytes(-(-length // 8))) if length else None, length)


def joined(first: EncodedColumn, second: Validity, length: int) -> Validity:
    """Return the validity of the rows of a column, and then of `length` rows."""
    nulls = first.null_count + second.null_count
    if not nulls:
        return Validity(None, 0)
    import numpy as np

    whole = first.length // 8
    before, after = _packed(first.validity, first.length), _packed(second.bits, length)
    bits = [np.unpackbits(before[whole:], bitorder="little")[: first.length % 8], np.unpackbits(after, bitorder="little")]
    rest = np.packbits(np.concatenate(bits)[: first.length % 8 + length], bitorder="little")
    return Validity(copy_of(np.concatenate([before[:whole], rest])), nulls)


def _packed(bits: Buffer | None, length: int) -> Any:
    import numpy as np

    size = -(-length // 8)
    return np.full(size, 0xFF, np.uint8) if bits is None else items_at(bits, "|u1", size)
