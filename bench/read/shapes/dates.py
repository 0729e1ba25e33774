"""Generates records of dates, times and durations."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import starmap

from bench.read.shapes.columns import joined
from bench.read.shapes.shape import Random

_FIRST, _LAST = 946_684_800, 1_893_456_000
"""Seconds of 2000-01-01 and 2030-01-01."""


def moments(random: Random, count: int) -> list[datetime]:
    """Return moments from 2000 to 2030 with microseconds."""
    seconds, micros = random.integers(_FIRST, _LAST, count).tolist(), random.integers(0, 10**6, count).tolist()
    return [datetime.fromtimestamp(s, UTC).replace(microsecond=us) for s, us in zip(seconds, micros, strict=True)]


def timestamps(random: Random, count: int) -> list[str]:
    """Return a moment of UTC with microseconds, and a naive one in seconds."""
    times = [f"{one:%Y-%m-%dT%H:%M:%S.%f}Z" for one in moments(random, count)]
    return joined(times, [f"{one:%Y-%m-%d %H:%M:%S}" for one in moments(random, count)])


def minutes(random: Random, count: int) -> list[str]:
    """Return two naive moments to the minute, as spreadsheets write them."""
    return joined(*([f"{one:%Y-%m-%d %H:%M}" for one in moments(random, count)] for _ in range(2)))


def offsets(random: Random, count: int) -> list[str]:
    """Return two moments with offsets of time zones."""
    zones = random.choice(["+02:00", "-05:00", "+05:30", "+00:00"], (2, count)).tolist()
    return joined(
        *([f"{one:%Y-%m-%dT%H:%M:%S}{zone}" for one, zone in zip(moments(random, count), z, strict=True)] for z in zones)
    )


def iso_dates(random: Random, count: int) -> list[str]:
    """Return four columns such as 2024-01-31."""
    return joined(*([f"{one:%Y-%m-%d}" for one in moments(random, count)] for _ in range(4)))


def points(random: Random, count: int) -> list[str]:
    """Return four columns such as 31.01.2024."""
    return joined(*([f"{one:%d.%m.%Y}" for one in moments(random, count)] for _ in range(4)))


def us_times(random: Random, count: int) -> list[str]:
    """Return two columns such as 01/31/2024 02:30:00 PM."""
    return joined(*([f"{one:%m/%d/%Y %I:%M:%S %p}" for one in moments(random, count)] for _ in range(2)))


def month_names(random: Random, count: int) -> list[str]:
    """Return three columns such as 31 Jan 2024."""
    return joined(*([f"{one:%d %b %Y}" for one in moments(random, count)] for _ in range(3)))


def clock_times(random: Random, count: int) -> list[str]:
    """Return two columns such as 14:30:00 and 14:30:00.123456."""
    return joined([f"{one:%H:%M:%S}" for one in moments(random, count)], [f"{one:%H:%M:%S.%f}" for one in moments(random, count)])


def durations(random: Random, count: int) -> list[str]:
    """Return two columns such as 3 days, 02:30:00."""
    parts = random.integers(0, [[400], [24], [60], [60]], (4, count)).tolist()
    texts = list(starmap("{} days {:02d}:{:02d}:{:02d}".format, zip(*parts, strict=True)))
    return joined(texts, texts[::-1])


def nanoseconds(random: Random, count: int) -> list[str]:
    """Return ascending times of a sensor in nanoseconds since 1970, and three measurements."""
    steps = random.integers(10**6, 10**8, count).cumsum() + _FIRST * 10**9
    values = random.normal(20, 5, (3, count)).round(3).tolist()
    return joined(steps, *(map(str, column) for column in values))


def ticks(random: Random, count: int) -> list[str]:
    """Return trades: symbol, time with milliseconds, price, size, side."""
    gaps = (random.exponential(40, count).astype(int) + 1).cumsum().tolist()
    start = datetime(2024, 3, 1, 9, 30, tzinfo=UTC)
    times = [f"{start + timedelta(milliseconds=gap):%Y-%m-%d %H:%M:%S.%f}"[:-3] for gap in gaps]
    symbols = random.choice(["AAA", "BBCD", "CX", "DELT", "EEE"], count).tolist()
    cents = (10_000 + random.normal(0, 3, count).cumsum().astype(int)) / 100
    sizes, sides = random.geometric(0.01, count) * 10, random.choice(["B", "S"], count).tolist()
    return joined(symbols, times, [f"{price:.2f}" for price in cents.tolist()], sizes, sides)
