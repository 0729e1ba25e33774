"""Generates records like those of common fields: logs, geometry, genomics, sensors, orders, and tables of every type."""

from __future__ import annotations

import numpy as np

from bench.read.shapes import dates
from bench.read.shapes.columns import WORDS, chosen, fixed, hex_texts, joined, phrases, quoted
from bench.read.shapes.shape import Random

_PATHS = [f"/{one}/{two}" for one in WORDS[20:30] for two in WORDS[30:40]]


def web_log(random: Random, count: int) -> list[str]:
    """Return lines like a web server's, separated by spaces: address, user, time, request, status, bytes, agent."""
    octets = zip(*random.integers(1, 255, (4, count)).tolist(), strict=True)
    requests = [f'"GET {path} HTTP/1.1"' for path in chosen(random, _PATHS, count)]
    agents = chosen(random, ['"Mozilla/5.0 (X11; Linux x86_64)"', '"curl/8.5.0"', '"Mozilla/5.0 (iPhone; like Mac OS X)"'], count)
    times = [f'"{one:%d/%b/%Y:%H:%M:%S} +0000"' for one in dates.moments(random, count)]
    status, size = chosen(random, ["200", "304", "404", "500"], count), random.integers(0, 10**6, count)
    return joined([".".join(map(str, row)) for row in octets], ["-"] * count, times, requests, status, size, agents, sep=" ")


def application_log(random: Random, count: int) -> list[str]:
    """Return lines separated by tabs: time, level, module, thread, message."""
    times = [f"{one:%Y-%m-%d %H:%M:%S.%f}" for one in dates.moments(random, count)]
    levels = chosen(random, ["DEBUG", "INFO", "INFO", "INFO", "WARNING", "ERROR"], count)
    modules = [f"app.{one}.{two}" for one, two in zip(chosen(random, WORDS, count), chosen(random, WORDS, count), strict=True)]
    return joined(times, levels, modules, random.integers(1, 65, count), phrases(random, random.integers(3, 18, count)), sep="\t")


def polygons(random: Random, count: int) -> list[str]:
    """Return an identifier and a quoted polygon of 4 to 40 points in WKT."""
    sizes = random.integers(4, 41, count).tolist()
    points = iter([f"{x:.6f} {y:.6f}" for x, y in random.uniform(-90, 90, (sum(sizes), 2)).tolist()])
    shapes = (", ".join(next(points) for _ in range(size)) for size in sizes)
    return joined(np.arange(count), [f'"POLYGON (({shape}))"' for shape in shapes])


def points(random: Random, count: int) -> list[str]:
    """Return longitude, latitude, the point in WKT and a name."""
    x, y = (fixed(random.integers(-limit * 10**6, limit * 10**6, count), 6) for limit in (180, 90))
    return joined(x, y, [f"POINT ({one} {two})" for one, two in zip(x, y, strict=True)], chosen(random, WORDS, count))


def variants(random: Random, count: int) -> list[str]:
    """Return lines like VCF's, separated by tabs: place, identifier, bases, quality, filter, facts, three genotypes."""
    names = [f"rs{number}" for number in random.integers(1, 10**9, count).tolist()]
    depths, shares = random.integers(1, 200, count).tolist(), fixed(random.integers(0, 1000, count), 3)
    facts = [f"DP={depth};AF={share};AC=1;AN=6" for depth, share in zip(depths, shares, strict=True)]
    genotypes = [f"{call}:{depth}" for call in ("0/0", "0/1", "1/1") for depth in (12, 35, 60)]
    calls = [chosen(random, genotypes, count) for _ in range(3)]
    bases = [chosen(random, list("ACGT"), count) for _ in range(2)]
    chromosomes = [f"chr{number}" for number in random.integers(1, 23, count).tolist()]
    start = random.integers(1, 2 * 10**8, count)
    quality = fixed(random.integers(0, 10**5, count), 2)
    return joined(chromosomes, start, names, *bases, quality, ["PASS"] * count, facts, ["GT:DP"] * count, *calls, sep="\t")


def sequences(random: Random, count: int) -> list[str]:
    """Return lines like SAM's, separated by tabs: read, flag, position, 150 bases, their qualities."""
    letters = np.frombuffer(b"ACGT", np.uint8)[random.integers(0, 4, (count, 150))].tobytes().decode()
    marks = np.minimum(random.poisson(3, (count, 150)), 30)
    qualities = (ord("I") - marks).astype(np.uint8).tobytes().decode()
    starts = range(0, 150 * count, 150)
    reads = [f"read:{number}" for number in range(count)]
    parts = ([text[start : start + 150] for start in starts] for text in (letters, qualities))
    return joined(reads, random.integers(0, 256, count), random.integers(1, 2 * 10**8, count), *parts, sep="\t")


def intervals(random: Random, count: int) -> list[str]:
    """Return lines like BED's, separated by tabs: chromosome, start, end, name, score, strand."""
    start = random.integers(0, 2 * 10**8, count)
    names = [f"peak_{number}" for number in range(count)]
    chromosomes = [f"chr{number}" for number in random.integers(1, 23, count).tolist()]
    strands = chosen(random, ["+", "-"], count)
    return joined(
        chromosomes, start, start + random.integers(1, 5000, count), names, random.integers(0, 1000, count), strands, sep="\t"
    )


def orders(random: Random, count: int) -> list[str]:
    """Return lines of orders: numbers, price, discount, dates, flags and a comment."""
    keys = np.sort(random.integers(1, 6 * 10**6, count))
    days = [[f"{one:%Y-%m-%d}" for one in dates.moments(random, count)] for _ in range(2)]
    price, discount = fixed(random.integers(10**5, 10**7, count), 2), fixed(random.integers(0, 11, count), 2)
    flags, comment = chosen(random, ["A", "N", "R"], count), phrases(random, random.integers(2, 8, count))
    return joined(
        keys, random.integers(1, 2 * 10**5, count), random.integers(1, 51, count), price, discount, flags, *days, comment
    )


def features(random: Random, count: int) -> list[str]:
    """Return rows for machine learning: a label and 30 floats of six digits."""
    return joined(
        random.integers(0, 2, count), *(fixed(column, 6) for column in random.normal(0, 10**6, (30, count)).astype(int))
    )


def mixed(random: Random, count: int) -> list[str]:
    """Return a column of each kind: integer, price, full float, bool, date, time, words, quoted texts, accents, nulls."""
    reals = [repr(value) for value in random.normal(0, 1, count).tolist()]
    flags = random.choice(["true", "false"], count).tolist()
    moments = dates.moments(random, count)
    days, times = [f"{one:%Y-%m-%d}" for one in moments], [f"{one:%Y-%m-%d %H:%M:%S}" for one in moments]
    notes = quoted(phrases(random, random.integers(1, 8, count), [*WORDS, "a, b", 'the "best"']))
    names = chosen(random, [*WORDS, "Zürich", "São Paulo"], count)
    amounts = [str(value) if value > 20 else "" for value in random.integers(0, 100, count).tolist()]
    price = fixed(random.integers(0, 10**5, count), 2)
    return joined(
        random.integers(0, 10**7, count), price, reals, flags, days, times, chosen(random, WORDS, count), notes, names, amounts
    )


EVERY_TYPE = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "date32",
    "timestamp[s]", "timestamp[us, UTC]", "time32[s]", "time64[us]", "decimal128(12, 2)", "string", "large_string", "binary",
)  # fmt: skip
"""Types of `every_type`, in order. Durations have a shape of their own, since few readers know them."""


def every_type(random: Random, count: int) -> list[str]:
    """Return a column of each type of `EVERY_TYPE`."""
    signed = [random.integers(-(2**bits), 2**bits, count) for bits in (7, 15, 31, 62)]
    unsigned = [random.integers(0, 2**bits, count, np.uint64) for bits in (8, 16, 32, 64)]
    moments = dates.moments(random, count)
    forms = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%fZ", "%H:%M:%S", "%H:%M:%S.%f")
    times = [[format(one, form) for one in moments] for form in forms]
    reals = fixed(random.integers(0, 10**6, count), 4), [repr(value) for value in random.normal(0, 1, count).tolist()]
    texts = chosen(random, WORDS, count), phrases(random, random.integers(1, 4, count)), hex_texts(random, count, 16)
    flags = random.choice(["true", "false"], count).tolist()
    return joined(flags, *signed, *unsigned, *reals, *times, fixed(random.integers(0, 10**9, count), 2), *texts)
