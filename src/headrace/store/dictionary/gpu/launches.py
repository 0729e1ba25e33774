"""Launches the kernels of dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape
from headrace.store.dictionary.gpu.tuning import (
    BLOCK_BYTES,
    BLOCK_CODES,
    ON_CHIP_BYTES,
    TEXT_TILE,
    TRANSLATE_GROUPS,
    TRANSLATION,
    VALUE_TILES,
    VALUE_TYPES,
    MergeTile,
    Translation,
)

_FOLDER = "store/dictionary/gpu/"
_WARP = 32
_CHAIN_WORD = 8
_TEXT_CHAIN_WORD = 32
_TEXTS = layout("TextValues").packer()
_PAIR = layout("TextPair")
_SOURCE = layout("CodeSource")
_BLOCKS = layout("CodeBlocks").packer()


@dataclass(frozen=True, slots=True)
class DeviceNumbers:
    """A dictionary of numbers: its values, and their number."""

    values: DeviceBuffer
    count: int


@dataclass(frozen=True, slots=True)
class DeviceTexts:
    """A dictionary of texts: offsets of 8 bytes, bytes, and the number of texts."""

    offsets: DeviceBuffer
    data: DeviceBuffer
    count: int

    @property
    def packed(self) -> bytes:
        """Bytes of a ``TextValues``."""
        return _TEXTS.pack(self.offsets.address, self.data.address)


@dataclass(frozen=True, slots=True)
class MergedDictionary:
    """A merged dictionary, and the new codes of main and delta, u32."""

    dictionary: Any
    main_codes: DeviceBuffer
    delta_codes: DeviceBuffer


@dataclass(frozen=True, slots=True)
class CodeTable:
    """A translation table of codes of `bits` bits, and its counts and bits; None if a kernel reads the table alone."""

    table: DeviceBuffer | None
    bits: int
    blocks: DeviceBuffer | None = None

    @property
    def packed(self) -> bytes:
        """Bytes of a ``CodeBlocks``."""
        return _BLOCKS.pack(*(0 if part is None else part.address for part in (self.blocks, self.table)))

    @property
    def shared_bytes(self) -> int:
        """Shared memory of the counts and bits; 0 without."""
        return 0 if self.blocks is None else BLOCK_BYTES * _blocks_of(1 << self.bits)


@dataclass(frozen=True, slots=True)
class DeviceCodes:
    """Packed codes: `count` of them from number `first` on, the validity of their rows, and their translation."""

    words: DeviceBuffer
    count: int
    validity: DeviceBuffer | None
    table: CodeTable
    first: int = 0

    @property
    def packed(self) -> bytes:
        """Bytes of a ``CodeSource``."""
        validity = 0 if self.validity is None else self.validity.address
        return _SOURCE.packer().pack(self.words.address, self.first, self.count, self.table.bits, validity, self.table.packed)


class DictionaryKernels:
    """Merges dictionaries and translates codes in the stream of a launcher.

    `tiles`: Tile of a merge of numbers by their width. Benchmarks and tests have others.
    """

    def __init__(
        self,
        launcher: Launcher,
        *,
        tiles: Mapping[int, MergeTile] = VALUE_TILES,
        text_tile: MergeTile = TEXT_TILE,
        translation: Translation = TRANSLATION,
    ) -> None:
        self._launcher = launcher
        self._tiles = tiles
        self._text_tile = text_tile
        self._translation = translation

    def merge_numbers(self, main: DeviceNumbers, delta: DeviceNumbers, rule: bytes) -> MergedDictionary:
        """Merge two dictionaries of numbers; `rule`: bytes of their ``KeyRule``. The host waits for the number of values."""
        launcher, width, values = self._launcher, len(rule) // 4, main.count + delta.count
        merged = launcher.allocate(values * width)
        tables = self._table(main.count), self._table(delta.count)
        if not values:
            return MergedDictionary(DeviceNumbers(merged, 0), *tables)
        tile = self._tiles[width]
        defines: dict[str, Any] = {"HR_VALUE": VALUE_TYPES[width], **tile.defines}
        shape = Shape(defines, tile.blocks(values), tile.threads)
        given = (main.values, main.count, delta.values, delta.count, rule)
        cuts = self._cut(_number_entry("cut_numbers", width), shape, tile.blocks(values), given)
        chain, found = self._chain(tile.blocks(values), _CHAIN_WORD), launcher.allocate(8)
        args = (main.values, delta.values, values, rule, cuts, chain, merged, *tables, found)
        launcher.launch(_number_entry("merge_numbers", width), shape, args)
        return MergedDictionary(DeviceNumbers(merged, self._number(found)), *tables)

    def merge_texts(self, main: DeviceTexts, delta: DeviceTexts) -> MergedDictionary:
        """Merge two dictionaries of texts. The host waits for the numbers of texts and bytes."""
        launcher, values = self._launcher, main.count + delta.count
        tables = self._table(main.count), self._table(delta.count)
        offsets = launcher.allocate(8 * (values + 1))
        if not values:
            launcher.fill(offsets, 0)
            return MergedDictionary(DeviceTexts(offsets, launcher.allocate(0), 0), *tables)
        pair, tile = main.packed + delta.packed, self._text_tile
        shape = Shape(tile.defines, tile.blocks(values), tile.threads)
        cuts = self._cut(_text_entry("cut_texts"), shape, tile.blocks(values), (pair, main.count, delta.count))
        sources, found = launcher.allocate(4 * values), launcher.allocate(8)
        memory = self._chain(tile.blocks(values), _TEXT_CHAIN_WORD)
        args = (pair, values, cuts, memory, sources, offsets, *tables, found)
        launcher.launch(_text_entry("merge_texts"), shape, args)
        count = self._number(found)
        data = launcher.allocate(self._number(BufferSlice(offsets, 8 * count, 8)))
        shape = Shape(tile.defines, -(-count * _WARP // tile.threads), tile.threads)
        launcher.launch(_text_entry("copy_merged_texts"), shape, (pair, count, sources, offsets, data))
        return MergedDictionary(DeviceTexts(offsets, data, count), *tables)

    def on_chip(self, table: CodeTable, count: int) -> CodeTable:
        """Return a table of `count` codes with its counts and bits if these fit shared memory; otherwise the table."""
        if table.table is None or not count or BLOCK_BYTES * _blocks_of(1 << table.bits) > ON_CHIP_BYTES:
            return table
        launcher, blocks = self._launcher, _blocks_of(1 << table.bits)
        words = launcher.allocate(BLOCK_BYTES * blocks, fill=0)
        threads = self._translation.threads
        shape = Shape(self._translation.defines(0), -(-_blocks_of(count) * _WARP // threads), threads)
        launcher.launch(_translate_entry("make_code_blocks"), shape, (table.table, count, words))
        return CodeTable(table.table, table.bits, words)

    def translate(self, main: DeviceCodes, delta: DeviceCodes, bits: int) -> DeviceBuffer:
        """Return the codes of main and then of delta, packed in `bits` bits. Only the table of main may be on chip."""
        count = main.count + delta.count
        words = self._launcher.allocate(-(-count * bits // 64) * 8)
        if count and bits:
            given = self._translation
            blocks = -(-count // (given.threads * TRANSLATE_GROUPS))
            shared = main.table.shared_bytes
            blocks = min(blocks, given.resident_blocks(shared)) if shared else blocks
            shape = Shape(given.defines(int(shared > 0)), blocks, given.threads, shared)
            self._launcher.launch(_translate_entry("translate_codes"), shape, (main.packed, delta.packed, words, bits))
        return words

    def _table(self, count: int) -> DeviceBuffer:
        """Return memory of a table with an entry for each number that a code's bits can represent: zeros after `count`."""
        table = self._launcher.allocate(4 << (count - 1).bit_length() if count else 4)
        self._launcher.fill(BufferSlice(table, 4 * count), 0)
        return table

    def _chain(self, tiles: int, word: int) -> DeviceBuffer:
        return self._launcher.allocate(word * (1 + tiles), fill=0)

    def _cut(self, entry: Entry, shape: Shape, tiles: int, given: tuple[Any, ...]) -> DeviceBuffer:
        """Return the number of main values before each tile, and before the end; `shape`: shape of the merge."""
        number = tiles + 1
        cuts = self._launcher.allocate(8 * number)
        self._launcher.launch(entry, Shape(shape.defines, -(-number // shape.threads), shape.threads), (*given, cuts))
        return cuts

    def _number(self, buffer: DeviceBuffer) -> int:
        return int(self._launcher.fetch(buffer).view(np.int64)[0])


def _blocks_of(count: int) -> int:
    return -(-count // BLOCK_CODES)


@cache
def _number_entry(name: str, width: int) -> Entry:
    signatures = {"cut_numbers": f"PQPQ{4 * width}sP", "merge_numbers": f"PPQ{4 * width}sPPPPPP"}
    return Entry(f"{_FOLDER}merge_numbers.cu", name, signatures[name])


@cache
def _text_entry(name: str) -> Entry:
    signatures = {"cut_texts": "QQP", "merge_texts": "QPPPPPPP", "copy_merged_texts": "QPPP"}
    return Entry(f"{_FOLDER}merge_texts.cu", name, _PAIR.argument + signatures[name])


@cache
def _translate_entry(name: str) -> Entry:
    signatures = {"make_code_blocks": "PQP", "translate_codes": f"{_SOURCE.argument}{_SOURCE.argument}PI"}
    return Entry(f"{_FOLDER}translate.cu", name, signatures[name])
