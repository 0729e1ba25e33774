"""Caches the native form of dialects."""

from __future__ import annotations

from headrace import _native
from headrace.core.identity_cache import Recent
from headrace.structure.dialect import Dialect

_dialects: Recent[_native.Dialect] = Recent()


def native_dialect(dialect: Dialect) -> _native.Dialect:
    """Return the dialect as the native code reads it."""
    return _dialects.of(lambda: _native.Dialect.make(dialect), dialect)
