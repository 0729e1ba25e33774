"""Crashes a store, fills its disk and damages its files in a history of changes of its columns, between rows and merges."""

from __future__ import annotations

import pytest

from headrace import Table
from headrace.core.context import Context
from headrace.core.errors import SourceError
from headrace.store.files.log import SyncPolicy
from headrace.store.files.records import HEADER_BYTES, RecordKind, read_records
from headrace.store.opening import Source, StoreRequest, opened, salvaged
from headrace.store.schema_change import SchemaRequest
from headrace.store.triggers import MergeTriggers
from tests.store.files.crash_cases import FORMS, Crashed, CrashFiles

HISTORY = [
    ("append", {"n": [1, 2], "city": ["Rome", None]}),
    ("alter", {"add": {"rank": "int8", "note": "string"}, "defaults": {"rank": 7}, "rename": {"city": "town"}}),
    ("append", {"n": [3], "town": ["Oslo"], "rank": [None], "note": ["x"]}),
    ("merge", {}),
    ("alter", {"drop": ["note"], "widen": {"rank": "int32"}}),
    ("append", {"n": [4], "town": ["Bonn"], "rank": [70_000]}),
    ("remove", {"n": [1]}),
    ("alter", {"rename": {"rank": "town", "town": "rank"}, "add": {"paid": "bool"}, "defaults": {"paid": True}}),
    ("merge", {}),
    ("alter", {"drop": ["rank"]}),
    ("merge", {}),
    ("append", {"n": [5], "town": [None], "paid": [False]}),
    ("alter", {"widen": {"town": "float64"}}),
]
TYPES = {"n": "int64", "city": "string", "town": "string", "rank": "int8", "note": "string"}


def source_of(files):
    context = Context(threads=1)
    return Source("store", files, SyncPolicy(), MergeTriggers(), context, context)


def opened_store(files):
    """Open the store, or create it."""
    schema = None if "manifest" in files.names() else {name: TYPES[name] for name in ("n", "city")}
    return opened(source_of(files), StoreRequest.of(schema, None if schema is None else "n", None, is_read_only=False))


def columns_of(values, schema):
    """Return lists of values as columns of the types of a schema."""
    import pyarrow as pa

    types = {"int64": pa.int64(), "int32": pa.int32(), "int8": pa.int8(), "string": pa.string(), "bool": pa.bool_()}
    types["float64"] = pa.float64()
    table = pa.table({name: pa.array(value, types[str(schema[name])]) for name, value in values.items()})
    return Table.from_arrow(table).columns


def apply(engine, step):
    kind, given = step
    if kind == "append":
        engine.append(columns_of(given, engine.state.schema))
    elif kind == "alter":
        engine.alter(SchemaRequest.of(*(given.get(name) for name in ("add", "defaults", "drop", "rename", "widen"))))
    elif kind == "remove":
        import numpy as np

        engine.remove_keys(np.array(given["n"]))
    else:
        engine.merge()


def apply_to_model(model, step):
    """Return the columns of a model, each a list of values by name, after a step."""
    kind, given = step
    if kind == "append":
        return {name: values + given[name] for name, values in model.items()}
    if kind == "alter":
        names = {name: given.get("rename", {}).get(name, name) for name in model if name not in given.get("drop", ())}
        kept = {new: model[old] for old, new in names.items()}
        length, defaults = len(model["n"]), given.get("defaults", {})
        return {**kept, **{name: [defaults.get(name)] * length for name in given.get("add", ())}}
    if kind == "remove":
        stays = [number not in given["n"] for number in model["n"]]
        return {name: [value for value, stay in zip(values, stays, strict=True) if stay] for name, values in model.items()}
    return model


def values_of(store):
    found = store.state.columns(store.state.schema, Context(threads=1))
    return {name: column.to_pylist() for name, column in found.items()}


def run(files):
    """Run the history; return the model after the acknowledged steps, and after the one that did not end."""
    acknowledged = attempted = {"n": [], "city": []}
    try:
        engine = opened_store(files).engine
        for step in HISTORY:
            attempted = apply_to_model(acknowledged, step)
            apply(engine, step)
            acknowledged = attempted
        engine.close()
    except Crashed:
        pass
    return acknowledged, attempted


def operations():
    files = CrashFiles()
    run(files)
    return files.operations


def test_the_history_without_a_crash():
    files = CrashFiles()
    acknowledged, _ = run(files)
    assert acknowledged == {"n": [2, 3, 4, 5], "town": [7, None, 70_000, None], "paid": [True, True, True, False]}
    store = opened_store(files)
    assert values_of(store) == acknowledged
    assert {name: str(type_) for name, type_ in store.state.schema.items()} == {"n": "int64", "town": "float64", "paid": "bool"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.long)])
def test_a_crash_in_every_operation(form, every):
    for number in range(1 + FORMS.index(form) % every, operations() + 1, every):
        files = CrashFiles(crash_at=number)
        acknowledged, attempted = run(files)
        after = files.after_crash(form)
        if "manifest" not in after.names():
            assert not acknowledged["n"]
            continue
        store = opened_store(after)
        found = values_of(store)
        assert found in (acknowledged, attempted), number
        apply(store.engine, ("alter", {"add": {"late": "string"}, "defaults": {"late": "y"}}))
        store.engine.merge()
        store.engine.close()
        assert values_of(opened_store(after)) == {**found, "late": ["y"] * len(found["n"])}


@pytest.mark.parametrize("fails", [1, 3])
def test_a_full_disk_in_every_operation(fails):
    """A step that fails changes nothing, and the later ones go on or are refused."""
    for number in range(8 + fails, operations() + 1, 3):
        files = CrashFiles(fail_at=number, fails=fails)
        engine, model = opened_store(files).engine, {"n": [], "city": []}
        for step in HISTORY:
            try:
                apply(engine, step)
            except (OSError, SourceError):
                if step[0] != "merge":
                    break  # the later steps name other columns
            else:
                model = apply_to_model(model, step)
        found = engine.state.columns(engine.state.schema, Context(threads=1))
        assert {name: column.to_pylist() for name, column in found.items()} == model
        files.fail_at = None
        engine.folder.abandon()
        assert values_of(opened_store(files)) == model, number


def files_after(count):
    """Return the files after the first steps of the history, and the store's values."""
    files = CrashFiles()
    store = opened_store(files)
    for step in HISTORY[:count]:
        apply(store.engine, step)
    store.engine.close()
    return {name: bytes(files.read(name)) for name in files.names()}, values_of(store)


def salvaged_copy(image):
    copy = CrashFiles()
    found = salvaged(source_of(CrashFiles(image)), source_of(copy))
    return found, values_of(opened_store(copy))


def flipped(data, at):
    broken = bytearray(data)
    broken[at] ^= 4
    return bytes(broken)


def test_a_damaged_column_is_lost_by_its_present_name():
    image, whole = files_after(8)
    main = next(name for name in image if name.startswith("main"))
    columns = [record for record in read_records(image[main], 1).records if record.kind == RecordKind.COLUMN]
    names = {1: ["rank"], 2: ["town"], 3: []}  # city was renamed twice, rank once, and note dropped
    for place, lost in names.items():
        broken = {**image, main: flipped(image[main], columns[place].begin + HEADER_BYTES + 1)}
        found, values = salvaged_copy(broken)
        assert found.lost_columns == lost and found.number == len(whole["n"])
        rows_of_main = 2  # rows 2 and 3, since row 1 was removed
        assert values == {
            name: [None] * rows_of_main + column[rows_of_main:] if name in lost else column for name, column in whole.items()
        }


def test_rows_and_columns_up_to_a_damaged_record():
    image, _ = files_after(3)
    log = next(name for name in image if name.startswith("log"))
    records = read_records(image[log], 1).records
    assert [record.kind for record in records] == [RecordKind.CHANGE, RecordKind.SCHEMA, RecordKind.CHANGE, RecordKind.SEAL]
    model = {"n": [], "city": []}
    for place, step in enumerate(HISTORY[:3]):
        broken = {**image, log: flipped(image[log], records[place].begin + HEADER_BYTES + 1)}
        with pytest.raises(SourceError, match=f"{log} at byte {records[place].begin}: "):
            opened_store(CrashFiles(broken))
        found, values = salvaged_copy(broken)
        assert found.number == len(model["n"]) and values == model
        model = apply_to_model(model, step)
