"""Describes host columns to the native evaluation of conditions, as ``FilterColumn`` of filter.hpp."""

from __future__ import annotations

from array import array
from typing import Any

from headrace.arrange.gather.take import address_of, is_all_null
from headrace.columns.column import Column
from headrace.columns.traits import TRAITS
from headrace.core.layouts.layout import layout

_KINDS = ("bool", "integer", "unsigned", "float", "decimal", "string", "view", "null")
"""Kinds of values, in the order of FilterKind of filter.hpp; integers stand for dates and times, strings for bytes."""
_COLUMN = layout("FilterColumn").packer()


def described_column(column: Column, held: list[Any]) -> bytes:
    """Return the bytes of a ``FilterColumn``; `held` gets the objects that own its memory."""
    texts = column if column.dictionary is None else column.dictionary
    data = array("Q", map(address_of, texts.data)) if texts.data else None
    parts = texts.values, texts.offsets, column.validity, data, None if texts is column else column.values
    held += parts
    return pack_column(column, tuple(map(address_of, parts)))


def pack_column(column: Column, addresses: tuple[int, ...]) -> bytes:
    """Return the bytes of a ``FilterColumn``, given the addresses of values, offsets, validity, views' buffers and codes."""
    texts = column if column.dictionary is None else column.dictionary
    first_text = 0 if texts is column else texts.offset
    traits = TRAITS[texts.type.name]
    family = {"binary": "string", "code": "string"}.get(traits.family, traits.family)
    if texts.offsets is None and family == "string":
        family = "view"
    if family == "integer" and traits.struct.isupper():
        family = "unsigned"
    kind = _KINDS.index(family) if family in _KINDS else _KINDS.index("integer")
    if is_all_null(column):
        kind = _KINDS.index("null")
    return _COLUMN.pack(*addresses, column.offset, first_text, kind, traits.bits // 8)
