"""A process that forks writers of a store: each changes it until it is killed, and prints a line for each change that has ended.

A line on standard input, ``PATH NUMBER SYNC``, starts a writer with the change of that number. Its first line is its process.
"""

from __future__ import annotations

import os
import sys

import pyarrow.ipc  # noqa: F401  imported before the fork

from headrace import Store


def change(store, number):
    """Make the change of a number. The model of the test makes the same ones."""
    if number % 7 == 3:
        store.merge()
    elif number % 5 == 4:
        store.delete([10 * (number - 1), 10 * (number - 2)])
    else:
        store.append(b"n,t\n" + b"".join(b"%d,%s\n" % (10 * number + i, b"x" * number) for i in range(3)))


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
    store = Store(schema={"n": "int64", "t": "string"}, key="n")  # imports what a writer needs
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
