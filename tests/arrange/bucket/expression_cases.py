"""Lists bucket expressions beside the same functions in plain Python."""

from __future__ import annotations

from headrace import key

CASES = {
    "shift": (key >> 24, lambda k: k >> 24),
    "hash": (key * 2654435761 >> 25, lambda k: k * 2654435761 % 2**32 >> 25),
    "remainder": ((key + 5) % 97, lambda k: (k + 5) % 2**32 % 97),
    "difference": ((3 - key) & 127, lambda k: (3 - k) & 127),
    "mixed": ((key ^ key >> 16 | 5) // 33554432 << 1, lambda k: ((k ^ k >> 16 | 5) // 33554432 << 1) % 2**32),
    "reversed": (7 ^ (2 * key | 1 & key), lambda k: 7 ^ (2 * k % 2**32 | 1 & k)),
}
