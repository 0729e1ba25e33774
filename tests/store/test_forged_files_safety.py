"""Forges files of a store with right checksums: each is refused with an error of the package, and no process ends by a signal."""

from __future__ import annotations

import json
import multiprocessing
import random
from decimal import Decimal
from pathlib import Path
from struct import pack, pack_into

import pyarrow as pa
import pytest

import headrace
from headrace.core.errors import HeadraceError, SourceError
from headrace.store.files.records import RecordKind, framed, read_records

ROWS = 1000
TABLE = pa.table(
    {
        "k": pa.array(range(ROWS)),
        "t": pa.array([None if i % 7 == 0 else f"text {i % 300}" for i in range(ROWS)]),
        "d": pa.array([Decimal(i % 5) for i in range(ROWS)], pa.decimal128(9, 0)),
    }
)


def written(folder):
    """Write a store with a main, a change, an update and a change of its columns; return its files."""
    with headrace.Store(folder, schema=headrace.Table.from_arrow(TABLE).schema, key="k") as store:
        store.append(TABLE)
        store.merge()
        store.append(TABLE.slice(0, 9).set_column(0, "k", pa.array(range(ROWS, ROWS + 9))))
        store.delete([3, ROWS + 2])
        store.alter(add={"new": "int64"}, defaults={"new": 5})
    return {file.name: file.read_bytes() for file in Path(folder).iterdir() if file.stat().st_size}


def payloads_of(name, data):
    """Return kind, sequence, synced bytes and payload of each record."""
    first = int(name[4:24]) if name.startswith("log") else 1
    return [(one.kind, one.sequence, one.synced, bytearray(one.payload)) for one in read_records(data, first).records]


def forged(name, data, change, kind, which=0):
    """Return a file whose record number `which` of a kind has the payload that a function makes, with right checksums."""
    records = payloads_of(name, data)
    chosen = [place for place, record in enumerate(records) if record[0] == kind][which]
    *start, payload = records[chosen]
    records[chosen] = (*start, change(payload) or payload)
    return b"".join(framed(kind, sequence, synced, bytes(payload)) for kind, sequence, synced, payload in records)


def use(folder):
    """Read and change all of a store. Return the class and the message of an error, or nothing."""
    try:
        with headrace.Store(folder, read_only=True) as store:
            store.table().to_arrow().validate(full=True)
        with headrace.Store(folder) as store:
            store.lookup([5, ROWS + 3])
            store.merge()
            store.table().to_arrow().validate(full=True)
    except Exception as error:  # noqa: BLE001 -- the test compares it
        return f"{'' if isinstance(error, HeadraceError) else 'raw '}{type(error).__name__}: {error}"
    return ""


def _use_each(folders, results):
    for folder in folders:
        results.send(use(folder))


def uses(folders):
    """Return the result of `use` of each folder, in a process that a crash ends."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=_use_each, args=(folders, sending))
    child.start()
    sending.close()
    found = []
    try:
        while len(found) < len(folders):
            assert receiving.poll(120), f"no answer for {folders[len(found)]}"
            found.append(receiving.recv())
    except EOFError:
        child.join()
        pytest.fail(f"exit code {child.exitcode} at {folders[len(found)]}")
    child.join()
    return found


def put(folder, files):
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return str(folder)


def overwritten(offset, value):
    return lambda payload: pack_into("<Q", payload, offset, value)


def last_bytes(payload):
    """Set bits of the last codes of a column without nulls."""
    payload[-8:] = b"\xff" * 8


def codes(payload):
    """Set all bits of the codes."""
    dictionary, words = (int.from_bytes(payload[at : at + 8], "little") for at in (8, 16))
    payload[32 + dictionary : 32 + dictionary + words] = b"\xff" * words


def swapped_texts(payload):
    """Make the first text of the dictionary the greatest."""
    at = payload.index(b"text 1text 10")
    payload[at : at + 6] = b"uuuuuu"


def not_utf8(payload):
    at = payload.index(b"text 1text 10")
    payload[at] = 0xFF


def offsets(payload):
    """Set the second offset of texts, which follows a zero, beyond the texts."""
    at = payload.index(pack("<iii", 0, 6, 12))
    pack_into("<i", payload, at + 4, 1 << 30)


def runs(*rows):
    """Return the row numbers of rows as runs of consecutive ones."""
    return lambda _: pack(f"<{len(rows)}Q", *rows)


def in_json(**values):
    return lambda payload: json.dumps(json.loads(bytes(payload)) | values).encode()


COLUMN, ROWS_KIND, CHANGE = RecordKind.COLUMN, RecordKind.ROWS, RecordKind.CHANGE
MAIN_FORGERIES = {
    "codes-k": (codes, COLUMN, 0),
    "codes-t": (codes, COLUMN, 1),
    "codes-d": (codes, COLUMN, 2),
    "nulls": (overwritten(0, 5), COLUMN, 1),
    "no-nulls": (overwritten(0, 0), COLUMN, 1),
    "dictionary-size": (overwritten(8, 8), COLUMN, 1),
    "codes-size": (overwritten(16, 8), COLUMN, 1),
    "huge-size": (overwritten(16, (1 << 64) - 8), COLUMN, 1),
    "validity-size": (overwritten(24, 0), COLUMN, 1),
    "unsorted": (swapped_texts, COLUMN, 1),
    "not-utf8": (not_utf8, COLUMN, 1),
    "offsets": (offsets, COLUMN, 1),
    "empty": (lambda _: b"\0", COLUMN, 1),
    "rows": (overwritten(8, 1 << 61), ROWS_KIND, 0),
    "first-row": (overwritten(0, 1 << 63), ROWS_KIND, 0),
    "next-row": (overwritten(0, 10), ROWS_KIND, 0),
    "odd-rows": (lambda payload: payload[:8], ROWS_KIND, 0),
    "description": (in_json(columns=[]), RecordKind.MAIN, 0),
    "count": (in_json(rows="x"), RecordKind.MAIN, 0),
}
LOG_FORGERIES = {
    "first-row": (overwritten(0, 3), CHANGE, 0),
    "huge-first-row": (overwritten(0, 1 << 63), CHANGE, 0),
    "removed": (overwritten(8, 1 << 60), CHANGE, 0),
    "removes-no-row": (overwritten(16, 1 << 40), CHANGE, 1),
    "removes-twice": (overwritten(24, 3), CHANGE, 1),
    "stream": (lambda payload: payload[:100], CHANGE, 0),
    "json": (lambda _: bytes(8), RecordKind.SCHEMA, 0),
    "length": (overwritten(0, 1 << 62), RecordKind.SCHEMA, 0),
}
MANIFEST_FORGERIES = {
    "schema": {"schema": {"k": "int64"}},
    "no-schema": {"schema": {}},
    "type": {"schema": {"k": "x"}},
    "types": {"schema": {"k": 5}},
    "list": {"schema": [1]},
    "key": {"key": "x"},
    "key-type": {"key": "d"},
    "keys": {"key": [["k"]]},
    "twice": {"key": ["k", "k"]},
    "policy": {"on_duplicate": []},
    "generation": {"generation": "1"},
    "negative": {"generation": -1},
    "huge": {"generation": 10**30},
    "float": {"first_sequence": 1.0},
    "sequence": {"first_sequence": 1 << 70},
    "next-row": {"next_row": 5},
    "bool": {"next_row": True},
    "format": {"format": None},
}


def test_directed(tmp_path):
    files = written(tmp_path / "whole")
    assert uses([put(tmp_path / "same", files)]) == [""]
    main, log = (next(name for name in files if name.startswith(kind)) for kind in ("main", "log"))
    folders, expected = [], []
    for name, forgeries in (
        (main, MAIN_FORGERIES),
        (log, LOG_FORGERIES),
        ("manifest", {case: (in_json(**values), RecordKind.MANIFEST, 0) for case, values in MANIFEST_FORGERIES.items()}),
    ):
        for case, how in forgeries.items():
            folders.append(put(tmp_path / f"{name[:4]}-{case}", {**files, name: forged(name, files[name], *how)}))
            expected.append(name)
    wrong = [
        (folder, found)
        for folder, name, found in zip(folders, expected, uses(folders), strict=True)
        if not found.startswith(SourceError.__name__) or name[:3] not in found
    ]
    assert not wrong


@pytest.mark.parametrize("seed", range(3))
def test_random(tmp_path, seed):
    """Overwrite bytes of payloads: the store is used as it is, or refused."""
    draw, files = random.Random(seed), written(tmp_path / "whole")
    folders = []
    for number in range(40):
        name = draw.choice(list(files))
        chosen = draw.choice([record for record in payloads_of(name, files[name]) if record[3]])
        kind, kinds = chosen[0], [one for one in payloads_of(name, files[name]) if one[0] == chosen[0]]

        def change(payload):
            for _ in range(draw.randrange(1, 5)):
                payload[draw.choice([draw.randrange(len(payload)), draw.randrange(min(700, len(payload)))])] = draw.randrange(256)

        data = forged(name, files[name], change, kind, kinds.index(chosen))
        folders.append(put(tmp_path / str(number), {**files, name: data}))
    found = uses(folders)
    assert not [one for one in found if one.startswith("raw")]
    assert sum(map(bool, found)) > 10, found


def test_a_number_of_rows_that_needs_much_memory(tmp_path):
    """Codes of a column of one value have no bits, so that a small file can have any number of rows."""
    with headrace.Store(tmp_path / "whole", schema={"a": "string"}) as store:
        store.append(b"a\nx\nx\n")
        store.merge()
    files = {file.name: file.read_bytes() for file in (tmp_path / "whole").iterdir()}
    main, rows = next(name for name in files if name.startswith("main")), 1 << 50
    with_rows = forged(main, files[main], runs(0, rows), ROWS_KIND)
    files[main] = forged(main, with_rows, in_json(rows=rows), RecordKind.MAIN)
    files["manifest"] = forged("manifest", files["manifest"], in_json(next_row=rows), RecordKind.MANIFEST)
    found = uses([put(tmp_path / "forged", files)])
    assert found[0].startswith("MemoryLimitError") and f"{rows:_} rows" in found[0]


def test_many_rows_of_one_key_of_two_columns(tmp_path):
    """A row of the log has the key of another one. Each would take a hash map of its own."""
    keys = pa.table({"a": ["x"] * 200, "b": list(range(200))})
    with headrace.Store(tmp_path, schema=headrace.Table.from_arrow(keys).schema, key=["a", "b"]) as store:
        store.append(keys)
    log = next(file for file in tmp_path.iterdir() if file.name.startswith("log") and file.stat().st_size)

    def with_equal_keys(payload):
        at = payload.index(pack("<4q", 0, 1, 2, 3))
        payload[at : at + 8 * 200] = pack("<q", 7) * 200

    log.write_bytes(forged(log.name, log.read_bytes(), with_equal_keys, CHANGE))
    with headrace.Store(tmp_path) as store:
        assert len(store) == 200
        with pytest.raises(SourceError, match=r"two rows have the key \('x', 7\)"):
            store.lookup([("x", 7)])
        with pytest.raises(SourceError, match="two rows have the key"):
            store.append(keys.slice(0, 1))
