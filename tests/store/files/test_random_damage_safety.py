"""Damages files of a store at random: it is refused, or has the rows of its first changes, and no others."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from headrace.core.errors import SourceError
from headrace.store.files.folder import read_content, read_undamaged
from headrace.store.files.manifest import MANIFEST
from headrace.store.files.records import MAGIC, SECTOR
from tests.store.files.crash_cases import CrashFiles
from tests.store.files.folder_cases import WHERE, History, payloads
from tests.tiers import seeds

pytestmark = pytest.mark.pure

TURNS = 150


def damaged(data, draw):
    """Return bytes with one range that was overwritten, cut out, repeated, or exchanged with another one."""
    records = [found.start() for found in re.finditer(MAGIC, data)]
    borders = draw.choice([range(len(data)), range(0, len(data), SECTOR), [*records, len(data)]])
    begin, end = sorted(draw.choice(borders) for _ in range(2))
    part = data[begin:end]
    match draw.randrange(6):
        case 0:
            part = bytes(len(part))
        case 1:
            part = draw.randbytes(len(part))
        case 2:
            part = b""
        case 3:
            part = part * 2
        case 4:
            part = part[::-1]
        case _:
            other = draw.choice(borders)
            part = data[other : other + len(part)]
    return data[:begin] + part + data[end:]


@pytest.mark.parametrize("seed", seeds(30))
def test_damage_anywhere(seed):
    draw, files, history = random.Random(seed), CrashFiles(), History()
    history.run(files)
    whole = {name: files.read(name) for name in files.names()}
    beginnings = [history.attempted[:end] for end in (0, *history.ends)]
    refused = 0
    for _ in range(TURNS):
        name = draw.choice([name for name, data in whole.items() if data])
        broken = CrashFiles({**whole, name: damaged(whole[name], draw)})
        try:
            assert payloads(read_content(broken, WHERE)) in beginnings
        except SourceError:
            refused += 1
        if name != MANIFEST:
            found = read_undamaged(broken, WHERE).content
            kept = replace(found, main=tuple(record for record in found.main if not record.is_lost))
            assert set(payloads(kept)) <= set(history.attempted)
    assert refused > TURNS // 2
