"""A process that forks savers of a map: each saves versions of it over one path again and again, until it is killed.

A line on standard input, ``PATH KIND NUMBER``, starts a saver with the version of that number. Its first line is its process, the
second one follows its first save.
"""

from __future__ import annotations

import os
import sys
from itertools import cycle, islice

import numpy as np
import pyarrow.ipc  # noqa: F401  imported before the fork

import headrace

SIZES = 2_000, 3, 30_000


def version(kind, number):
    """Return the map of a version: its keys begin at its number, which is the value of each."""
    found = getattr(headrace, kind)("int64", "int64")
    found.insert(np.arange(SIZES[number]) + number, np.full(SIZES[number], number))
    return found


def say(word):
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def save(path, versions):
    say(os.getpid())
    next(versions).save(path)
    say("saved")
    for found in versions:
        found.save(path)


def main():
    versions = {kind: [version(kind, number) for number in range(len(SIZES))] for kind in ("SortedMap", "HashMap")}
    for line in sys.stdin:
        path, kind, number = line.split()
        child = os.fork()
        if not child:
            save(path, islice(cycle(versions[kind]), int(number), None))
        os.waitpid(child, 0)
        say("dead")


if __name__ == "__main__":
    main()
