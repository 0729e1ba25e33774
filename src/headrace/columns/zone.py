"""Time zones: which there are, and their local times as pieces of constant offset, for ``rules/zone.hpp``."""

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
_FIRST_YEAR = 1800
"""No zone has changed its offset before: until railways every town had its own time."""
_REGULAR_YEAR = 2100
"""From here on a zone's rules are the same every year, so that no offset lasts less than some weeks."""
_LAST_YEAR = 2501
"""After 400 years of the same rules, the length of the calendar's cycle, they go on as they began."""
_FOREVER = 2**62


@dataclass(frozen=True, slots=True)
class LocalTimes:
    """Local times of a zone, in seconds since 1970: pieces of one offset from UTC each.

    Parameters
    ----------
    name
        Of the zone.
    begins, ends
        Each piece's first second, and the one behind its last. Between two pieces lie local times that the clocks skipped or
        showed twice.
    offsets
        Seconds to take away for UTC.
    """

    name: str
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    offsets: tuple[int, ...]


@cache
def zone_named(name: str) -> datetime.tzinfo:
    """The zone, or fixed offset, of a name.

    Raises
    ------
    OptionError
        There is no such zone, or this machine has no data of it.

    Examples
    --------
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
        pass  # no name that a zone could have
    except KeyError:
        pass  # no zone, or no data
    raise OptionError(
        f"unknown time zone {name!r}; a zone is named like 'Europe/Berlin', 'UTC' or '+02:00' (without the system's data of time"
        " zones, install tzdata)"
    )


@cache
def local_times(name: str) -> LocalTimes:
    """The pieces of a zone's local time."""
    changes = list(_changes(zone_named(name)))
    end = _seconds(_LAST_YEAR) if len(changes) > 1 else _FOREVER
    begins, ends, offsets = [-_FOREVER], [], []
    for (_, offset), (instant, next_offset) in zip(changes, [*changes[1:], (end, changes[-1][1])], strict=True):
        # A local time stands for one instant only where neither the piece before nor the next one shows it too.
        ends.append(instant + min(offset, next_offset))
        begins.append(instant + max(offset, next_offset))
        offsets.append(offset)
    return LocalTimes(name, tuple(begins[:-1]), tuple(ends), tuple(offsets))


def _changes(zone: datetime.tzinfo) -> Iterator[tuple[int, int]]:
    """Instants from which on an offset holds, and the offset, in seconds; of the first the instant means nothing."""
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
    """The zone's offset at an instant of UTC, whose zone is put in place of UTC (as `tzinfo.fromutc` has it)."""
    zone = instant.tzinfo
    return zone.fromutc(instant) - instant if zone is not None else datetime.timedelta()


def _seconds(year: int) -> int:
    return (datetime.datetime(year, 1, 1, tzinfo=datetime.UTC) - _EPOCH) // _SECOND
