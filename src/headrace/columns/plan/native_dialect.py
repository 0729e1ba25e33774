"""Caches the native form of dialects."""

from __future__ import annotations

from headrace import _native
from headrace.core.identity_cache import IdentityCache
from headrace.structure.dialect import Dialect

_dialects: IdentityCache[_native.Dialect] = IdentityCache()


def native_dialect(dialect: Dialect) -> _native.Dialect:
    """Return the dialect as the native code reads it."""
    return _dialects.get_or_create(lambda: _native.Dialect.make(dialect), dialect)
