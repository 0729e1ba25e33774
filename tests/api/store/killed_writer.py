"""A process that forks writers of a store: each changes it until it is killed, and prints a line for each change that has ended.

A line on standard input, ``PATH NUMBER SYNC``, starts a writer with the change of that number. Its first line is its process.
"""

from __future__ import annotations

import os
import sys

import pyarrow.ipc  # noqa: F401  imported before the fork

from headrace import Store, col, read_csv

SCHEMA = {"n": "int64", "t": "string"}


def change(store, number):
    """Make the change of a number. The model of the test makes the same ones."""
    if number % 7 == 3:
        store.merge()
    elif number % 5 == 4:
        gone = [10 * (number - 1), 10 * (number - 2)]
        store.delete(gone if store.key else (col("n") == gone[0]) | (col("n") == gone[1]))
    else:
        lines = [b"%d,%s\n" % (10 * number + i, b"x" * number) for i in range(3)]
        if number % 3 or not store._opened.engine.takes_parts:
            store.append(b"n,t\n" + b"".join(lines))
        else:  # as texts of many bytes are appended
            parts = (read_csv(b"n,t\n" + line, dtypes=SCHEMA).columns for line in lines)
            store._opened.engine.append_parts(parts)


def say(word):
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def write(path, number, sync):
    say(os.getpid())
    store = Store(path, sync=sync, merge_rows=10)
    while True:
        change(store, number)
        say(number)
        number += 1


def main():
    store = Store(schema=SCHEMA, key="n")  # imports what a writer needs
    for number in range(5):
        change(store, number)
    for line in sys.stdin:
        path, number, sync = line.split()
        child = os.fork()
        if not child:
            write(path, int(number), sync)
        os.waitpid(child, 0)
        say("dead")


if __name__ == "__main__":
    main()
