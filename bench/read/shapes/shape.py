"""Defines a shape of data, and generates its text.

A text is a header and one block of random records, which is repeated up to the size. Generating is slow, and no reader gains
from repetition at that distance.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench.read.cases import Types
from bench.read.data import folder

Random = np.random.Generator
Lines = Callable[[Random, int], list[str]]
"""A generator: `count` records without line ends. A record may have line breaks in quotes."""

BLOCK_BYTES, SAMPLE_BYTES = 4 << 20, 64 << 10


@dataclass(frozen=True, slots=True)
class Goal:
    """Targets: on the CPU as a multiple of the best peer's rate, on a GPU (H200) in GB/s of text."""

    cpu: float = 2.5
    gpu: float = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts of a text that readers other than headrace must be given as options.

    Parameters
    ----------
    quotes
        Fields are quoted.
    breaks
        Quoted fields contain line breaks.
    formats
        chrono's formats of dates and times for Polars, by type, where they are not `DATE_FORMATS`.
    as_text
        Columns that readers without a policy for faults read as text.
    line_end, encoding
        Line end and encoding of the text.
    """

    quotes: bool = False
    breaks: bool = False
    formats: Mapping[str, str] = field(default_factory=dict)
    as_text: tuple[int, ...] = ()
    line_end: str = "\n"
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape of data.

    Parameters
    ----------
    name
        Unique name.
    lines
        Generator of its records.
    types
        Expected types of the columns. Peers get them.
    goal
        Targets.
    given
        headrace gets the types too. Otherwise it infers them.
    options
        Further options of `read_csv`. `bench.read.shapes.peers` translates them for peers.
    facts
        Facts for peers.
    """

    name: str
    lines: Lines
    types: tuple[str, ...]
    goal: Goal = Goal()
    given: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    facts: Facts = Facts()

    @property
    def schema(self) -> Types:
        """Types by column name."""
        return {f"c{i}": text for i, text in enumerate(self.types)}

    @property
    def read_options(self) -> dict[str, Any]:
        """Options of `read_csv`."""
        return {"header": True, **({"schema": self.schema} if self.given else {}), **self.options}


def records_of(shape: Shape, count: int) -> bytes:
    """Return `count` records, the same ones in every call."""
    seed = int.from_bytes(hashlib.sha256(shape.name.encode()).digest()[:8], "little")
    lines = shape.lines(np.random.default_rng(seed), count)
    return "".join(line + shape.facts.line_end for line in lines).encode(shape.facts.encoding)


def header_of(shape: Shape) -> bytes:
    """Return the header with its line end, after a byte-order mark in UTF-16."""
    text = str(shape.options.get("sep", ",")).join(shape.schema) + shape.facts.line_end
    mark = "\ufeff" if shape.facts.encoding.startswith("utf-16") else ""
    return (mark + text).encode(shape.facts.encoding)


def sample_of(shape: Shape) -> tuple[bytes, int]:
    """Return about SAMPLE_BYTES of records, or one longer record, and their number."""
    count, sample = 1, records_of(shape, 1)
    while len(sample) < SAMPLE_BYTES:
        count *= 2
        sample = records_of(shape, count)
    return sample, count


def text_of(shape: Shape, size: int) -> bytes:
    """Return a text of about `size` bytes of whole records, at least one."""
    header = header_of(shape)
    sample, count = sample_of(shape)
    block = records_of(shape, max(1, min(size, BLOCK_BYTES) * count // len(sample)))
    return header + block * max(1, round((size - len(header)) / len(block)))


def base_file(shape: Shape) -> Path:
    """Return the file of a text of BLOCK_BYTES. Generate it if it is missing or its generator has changed."""
    digest = hashlib.sha256(header_of(shape) + sample_of(shape)[0]).hexdigest()[:8]
    words = "".join(letter if letter.isalnum() else " " for letter in shape.name).split()
    path = folder() / "shapes" / f"{'-'.join(words)}-{BLOCK_BYTES}-{digest}.csv"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(text_of(shape, BLOCK_BYTES))
        part.rename(path)
    return path


def stored_text(shape: Shape, size: int) -> bytes:
    """Return `text_of` from the stored file, which is faster if `size` is BLOCK_BYTES at least."""
    if size < BLOCK_BYTES:
        return text_of(shape, size)
    header, text = header_of(shape), base_file(shape).read_bytes()
    return header + text[len(header) :] * max(1, round((size - len(header)) / (len(text) - len(header))))
