"""Opens and creates stores, and copies the undamaged rows of a store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.errors import OptionError, SourceError, UnknownColumnError, shown
from headrace.core.expressions.column_expression import ColumnExpression
from headrace.core.options import choice
from headrace.sources.kinds.file import checked_path, is_path
from headrace.store.arrow_columns import needed_arrow
from headrace.store.engine import Selection, StoreEngine
from headrace.store.files.file_system import FileSystem, HostFiles
from headrace.store.files.folder import StoreFolder, read_content, read_undamaged
from headrace.store.files.log import SyncPolicy
from headrace.store.files.main_file import Damage, Place
from headrace.store.files.manifest import MANIFEST, Manifest
from headrace.store.keys.key_values import check_key_type
from headrace.store.keys.store_key import KeyNames, StoreKey
from headrace.store.main import Main
from headrace.store.reader import Replayed, StoreReader, replayed, schema_of, torn_bytes_of
from headrace.store.rules import DUPLICATE_POLICIES, StoreRules
from headrace.store.schema import parsed_schema, texts_of
from headrace.store.state import StoreState
from headrace.store.triggers import MergeTriggers


@dataclass(frozen=True, slots=True)
class Source:
    """The place of a store, and the resources of its calls."""

    where: str | None  # the folder, for messages; None for a store in memory
    files: FileSystem | None  # its files; None for a store in memory
    policy: SyncPolicy
    triggers: MergeTriggers  # times of syncs, thresholds of merges
    context: Context  # threads and memory of each call, on the host
    merge_context: Context  # the same of a merge, which may run on a GPU

    @classmethod
    def of(cls, path: Any, policy: SyncPolicy, triggers: MergeTriggers, context: Context) -> Source:
        """Return the source of a path or None.

        Raise OptionError if `path` is no path. Raise UnsupportedDeviceError if the context names a GPU that is not there.
        Raise MissingDependencyError if there is a path, and PyArrow is not installed; or the context names a GPU, and
        CUDA's package is not installed.
        """
        host = context
        if context.device.kind != "cpu":
            from headrace.gpu.device.device import gpu  # needs cuda-core

            gpu(context.device)
            host = replace(context, device=Device())
        if path is None:
            return cls(None, None, policy, triggers, host, context)
        if not is_path(path):
            raise OptionError.wrong("path", "a path or None", path)
        where = str(os.fsdecode(checked_path(path, "path")))
        needed_arrow()
        return cls(where, HostFiles(where), policy, triggers, host, context)


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """The options of a caller about the content of a store; None for those that are not passed."""

    schema: dict[str, DataType] | None
    key: KeyNames
    on_duplicate: str | None
    is_read_only: bool

    @classmethod
    def of(cls, schema: object, key: object, on_duplicate: object, is_read_only: bool) -> StoreRequest:
        """Return the request of options. Raise OptionError if an option is wrong."""
        found = None if schema is None else parsed_schema(schema)
        names = _names_of_key(key)
        if found is not None:
            for name in names:
                if name not in found:
                    raise UnknownColumnError(f"key is {shown(key)}, and schema has no column {shown(name)}")
                check_key_type(name, found[name])
        policy = None if on_duplicate is None else choice("on_duplicate", on_duplicate, DUPLICATE_POLICIES)
        return cls(found, names, policy, is_read_only)

    def manifest(self) -> Manifest:
        """Return the manifest of a new store. Raise SourceError if no schema is given."""
        if self.schema is None:
            raise SourceError("a store in memory needs schema=")
        return Manifest(texts_of(self.schema), key_option(self.key), self.on_duplicate or DUPLICATE_POLICIES[0])

    def check(self, manifest: Manifest, schema: Mapping[str, DataType], where: str) -> None:
        """Raise OptionError if a store differs from what the caller passed."""
        if self.schema is not None and list(self.schema.items()) != list(schema.items()):
            raise OptionError(f"{where} has other columns than schema: {shown(texts_of(schema), 200)}")
        if self.key and self.key != _names_of_key(manifest.key):
            raise OptionError(f"{where} has the key {shown(manifest.key)}, not {shown(key_option(self.key))}")


def key_option(names: KeyNames) -> str | list[str] | None:
    """Return the key in the form of an option: None, a name, or several names in a list."""
    return None if not names else names[0] if len(names) == 1 else list(names)


def _names_of_key(key: object) -> KeyNames:
    names = [] if key is None else [key] if isinstance(key, str) else key
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names) or (key is not None and not names):
        raise OptionError.wrong("key", "the name of a column, several names in a list, or None", key)
    if len(set(names)) < len(names):
        raise OptionError(f"key has a column twice: {shown(names)}")
    return tuple(names)


@dataclass(slots=True)
class OpenedStore:
    """An open store."""

    key: StoreKey | None  # the key; None without one
    rows: StoreEngine | StoreReader  # the engine of a writer, or the rows of a reader
    removed_bytes: int = 0  # bytes that a crash had cut off, and that a writer has removed

    @property
    def state(self) -> StoreState:
        """The present state."""
        return self.rows.state

    @property
    def torn_bytes(self) -> int:
        """Bytes that a crash had cut off."""
        return self.rows.torn_bytes if isinstance(self.rows, StoreReader) else self.removed_bytes

    @property
    def engine(self) -> StoreEngine | None:
        """The engine, which changes the store; None for a reader."""
        return self.rows if isinstance(self.rows, StoreEngine) else None


def opened(source: Source, request: StoreRequest) -> OpenedStore:
    """Open a store, or create it.

    Raise OptionError if the store differs from what the caller passed, or is in memory and to be read only. Raise SourceError
    if there is no store and no schema, another writer has the store, or a file is damaged. Raise OSError if a file cannot be
    read or written.
    """
    if source.files is None:
        if request.is_read_only:
            raise OptionError("read_only=True needs the path of a store")
        return _writer(source, request.manifest(), None)
    where = repr(source.where)
    if request.is_read_only:
        content = read_content(source.files, str(source.where))
        with Place(content.where, MANIFEST).decoding():
            key = _key_of(content.manifest, source.context)
        reader = StoreReader(source.files, str(source.where), content, key, source.context)
        request.check(content.manifest, reader.state.schema, where)
        return OpenedStore(key, reader)
    if MANIFEST not in source.files.names() and request.schema is not None:
        folder = StoreFolder.create(source.files, str(source.where), request.manifest(), source.policy)
        return _writer(source, folder.manifest, folder)
    folder, content = StoreFolder.open(source.files, str(source.where), source.policy)
    try:
        found = replayed(content)
        with Place(content.where, MANIFEST).decoding():
            _key_of(content.manifest, source.context)
        request.check(content.manifest, found.state.schema, where)
        manifest = replace(content.manifest, on_duplicate=request.on_duplicate or content.manifest.on_duplicate)
        return _writer(source, manifest, folder, found, torn_bytes_of(content))
    except BaseException:
        folder.abandon()
        raise


def _writer(
    source: Source, manifest: Manifest, folder: StoreFolder | None, found: Replayed | None = None, torn_bytes: int = 0
) -> OpenedStore:
    key = _key_of(manifest, source.context)
    rules = StoreRules(key, manifest.on_duplicate, source.triggers, source.context, source.merge_context)
    schema = schema_of(manifest)
    state, next_row, _ = (StoreState(schema, Main.empty(schema)), 0, []) if found is None else found
    return OpenedStore(key, StoreEngine(rules, state, next_row, folder), torn_bytes)


def _key_of(manifest: Manifest, context: Context) -> StoreKey | None:
    names, schema = _names_of_key(manifest.key), schema_of(manifest)
    choice("on_duplicate", manifest.on_duplicate, DUPLICATE_POLICIES)
    for name in names:
        check_key_type(name, schema[name])
    return StoreKey({name: schema[name] for name in names}, context) if names else None


class SalvagedRows(NamedTuple):
    """Rows that were copied from a store."""

    number: int
    damage: Damage | None  # the damage of the store; None if there is none
    lost_columns: list[str]  # names of the damaged columns of its main, which have nulls in the copy


def salvaged(source: Source, target: Source) -> SalvagedRows:
    """Copy the rows up to the damage.

    Raise SourceError if there is no store, or its manifest is damaged. Raise OptionError if the target has a store. Raise
    OSError if a file cannot be read or written.
    """
    assert source.files is not None and target.files is not None
    found = read_undamaged(source.files, str(source.where))
    manifest = found.content.manifest
    state, _, lost_columns = replayed(found.content)
    start = Manifest(texts_of(state.schema), manifest.key, manifest.on_duplicate)
    folder = StoreFolder.create(target.files, str(target.where), start, target.policy)
    copy = _writer(target, start, folder)
    assert copy.engine is not None
    try:
        copy.engine.append(state.columns(state.schema, source.context))
    finally:
        copy.engine.close()
    return SalvagedRows(state.num_rows, found.damage, lost_columns)


def selection(condition: ColumnExpression, schema: Mapping[str, DataType], context: Context) -> Selection:
    """Return a function that returns the numbers of the rows of a state for which a condition is true.

    Raise OptionError if the expression is no condition on columns of the schema. Raise UnknownColumnError if there is no such
    column.
    """
    from headrace.arrange.filter.filter import selected_rows  # without NumPy its error names another call
    from headrace.arrange.filter.program import compiled

    program = compiled(condition, schema)

    def selected(state: StoreState) -> Any:
        if not state.num_rows:
            return state.row_numbers
        present = program if state.schema is schema else compiled(condition, state.schema)  # other threads change columns
        rows = selected_rows(state.columns(present.columns, context), present, context)
        return state.row_numbers if rows is None else state.row_numbers[rows.astype("i8")]

    return selected
