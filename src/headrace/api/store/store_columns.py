"""Defines `StoreColumns`, a base of `Store`: its columns and its key, and changes of the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace.columns.types import DataType
from headrace.core.errors import OptionError

if TYPE_CHECKING:
    from headrace.store.engine import StoreEngine
    from headrace.store.opening import OpenedStore


class StoreColumns:
    """The columns of a store."""

    _opened: OpenedStore
    _last: Any

    @property
    def schema(self) -> Mapping[str, DataType]:
        """Mapping from name to type."""
        return dict(self._opened.state.schema)

    @property
    def key(self) -> str | list[str] | None:
        """Name of the key column, or names of several in a list; None without a key."""
        from headrace.store.opening import key_option  # needs NumPy

        return key_option(() if self._opened.key is None else self._opened.key.names)

    def alter(
        self,
        *,
        add: Mapping[str, Any] | None = None,
        defaults: Mapping[str, Any] | None = None,
        drop: str | Sequence[str] | None = None,
        rename: Mapping[str, str] | None = None,
        widen: Mapping[str, Any] | None = None,
    ) -> None:
        """Add, drop, rename and widen columns, all in one change. Columns of the key stay as they are.

        The log gets the change, and no row is written. A merge writes the main with the new columns. Snapshots keep the columns
        that they have. A merge that is running ends first. Later rows need all columns of the store, as before.

        Parameters
        ----------
        add
            Types of new columns by name. They follow the others.
        defaults
            Values of new columns in the rows that are there: literals by name. The other new columns have nulls there.
        drop
            Name of a column that goes, or several in a list.
        rename
            New names by the name before.
        widen
            New types by the name before the change. Integers and floats take a type that has all values of the old one, such as
            ``int64`` or ``float64`` for ``int32``. Texts and bytes take ``large_string`` and ``large_binary``, and decimals
            more digits before the point.

        Raises
        ------
        OptionError
            A column is of the key, a type is not wider, or two columns get the same name. Nothing is changed.
        UnknownColumnError
            There is no such column.
        OSError, SourceError
            As for `append`.

        Examples
        --------
        >>> import headrace
        >>> store = headrace.Store(schema={"n": "int32", "note": "string", "fare": "float64"})
        >>> store.append(b"n,note,fare\\n1,a,2.5\\n")
        1
        >>> store.alter(
        ...     add={"paid": "bool"}, defaults={"paid": True}, drop="note", rename={"fare": "price"}, widen={"n": "int64"}
        ... )
        >>> store.table().to_pylist()
        [{'n': 1, 'price': 2.5, 'paid': True}]
        """
        from headrace.store.schema_change import SchemaRequest  # needs NumPy

        self._engine("alter").alter(SchemaRequest.of(add, defaults, drop, rename, widen))

    def _engine(self, call: str) -> StoreEngine:
        engine = self._opened.engine
        if engine is None:
            raise OptionError(f"{call}() changes the store, which is open with read_only=True")
        self._last = None
        return engine
