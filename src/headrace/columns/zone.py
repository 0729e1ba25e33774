"""Resolves time zones, and lists their local times as periods of constant offset for ``rules/dates/zone.hpp``."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from headrace.core.errors import OptionError

_FIXED = re.compile(r"([+-])([01]\d|2[0-3]):?([0-5]\d)")
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_SECOND = datetime.timedelta(seconds=1)
_DAY = datetime.timedelta(days=1)
_FIRST_YEAR = 1800  # no zone has offset changes before this year: towns used their own local mean time
_REGULAR_YEAR = 2100  # from this year on a zone's rules repeat every year, so every offset lasts for weeks
_LAST_YEAR = 2501  # the rules repeat after 400 years, the cycle of the calendar
_FOREVER = 2**62


@dataclass(frozen=True, slots=True)
class LocalTimes:
    """Local times of a zone in seconds since 1970, as periods with one offset from UTC each."""

    name: str  # name of the zone
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    """First second of each period, and one past its last. Local times between two periods were skipped or shown twice."""
    offsets: tuple[int, ...]  # seconds to subtract for UTC


@cache
def zone_named(name: str) -> datetime.tzinfo:
    """Return the zone, or fixed offset, of a name.

    Raise OptionError if there is no such zone, or this machine has no data for it.

    >>> zone_named("+02:00")
    datetime.timezone(datetime.timedelta(seconds=7200))
    """
    if name == "UTC":
        return datetime.UTC
    if found := _FIXED.fullmatch(name):
        offset = datetime.timedelta(hours=int(found[2]), minutes=int(found[3]))
        return datetime.timezone(-offset if found[1] == "-" else offset)
    from zoneinfo import ZoneInfo  # seldom needed, and slow to import

    try:
        return ZoneInfo(name)
    except (ValueError, OSError):
        pass  # not a possible name of a zone
    except KeyError:
        pass  # no such zone, or no data
    raise OptionError(
        f"unknown time zone {name!r}; a zone is named like 'Europe/Berlin', 'UTC' or '+02:00' (without the system's data of time"
        " zones, install tzdata)"
    )


@cache
def local_times(name: str) -> LocalTimes:
    """Return the periods of a zone's local time."""
    changes = list(_changes(zone_named(name)))
    end = _seconds(_LAST_YEAR) if len(changes) > 1 else _FOREVER
    begins, ends, offsets = [-_FOREVER], [], []
    for (_, offset), (instant, next_offset) in zip(changes, [*changes[1:], (end, changes[-1][1])], strict=True):
        # A local time is unambiguous only if neither the preceding nor the next period contains it too.
        ends.append(instant + min(offset, next_offset))
        begins.append(instant + max(offset, next_offset))
        offsets.append(offset)
    return LocalTimes(name, tuple(begins[:-1]), tuple(ends), tuple(offsets))


def _changes(zone: datetime.tzinfo) -> Iterator[tuple[int, int]]:
    """Yield instants and the offset that holds from each, in seconds. The first instant has no meaning."""
    at = datetime.datetime(_FIRST_YEAR, 1, 1, tzinfo=zone)
    offset = _offset(at)
    yield 0, offset // _SECOND
    if isinstance(zone, datetime.timezone):
        return
    while at.year < _LAST_YEAR:
        after = at + (_DAY if at.year < _REGULAR_YEAR else 7 * _DAY)
        if _offset(after) == offset:
            at = after
            continue
        while after - at > _SECOND:
            middle = at + (after - at) // _SECOND // 2 * _SECOND
            at, after = (middle, after) if _offset(middle) == offset else (at, middle)
        offset = _offset(after)
        yield (after.replace(tzinfo=datetime.UTC) - _EPOCH) // _SECOND, offset // _SECOND
        at = after


def _offset(instant: datetime.datetime) -> datetime.timedelta:
    """Return the zone's offset at a UTC instant, which carries the zone instead of UTC (as `tzinfo.fromutc` requires)."""
    zone = instant.tzinfo
    return zone.fromutc(instant) - instant if zone is not None else datetime.timedelta()


def _seconds(year: int) -> int:
    return (datetime.datetime(year, 1, 1, tzinfo=datetime.UTC) - _EPOCH) // _SECOND
