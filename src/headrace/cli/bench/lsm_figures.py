"""Lists the printed figures of Ashkiani 2017, chapter 4: tables 4.2 to 4.4, and rates of cleanups (section 4.5.4).

Tesla K40c, keys and values of 32 bits, millions a second. Means are harmonic, over all numbers of batches.
"""

from __future__ import annotations

from collections.abc import Mapping

Figures = Mapping[str, Mapping[int, float]]
"""Printed figures by the kind of the rate (least, most or mean), and by the size of a batch."""

LEAST, MOST, MEAN = "min", "max", "mean"
LEVELS, IN_A_ROW, ARRAY, HASH, SEARCH = "levels", "levels, in a row", "sorted array", "hash map", "searchsorted"
"""Structures. A hash map of the paper is a cuckoo hash table at a load of 80 %. In a row, batches do not wait for each other."""
PRESENT, ABSENT = "present", "absent"
COUNT, RANGE = "count", "range"


def _from(bits: int, *figures: float) -> dict[int, float]:
    """Return figures by the size of a batch: 2^bits, half of it, and so on."""
    return {1 << (bits - i): figure for i, figure in enumerate(figures)}


TABLE_4_2: Mapping[str, Figures] = {
    LEVELS: {
        LEAST: _from(27, 727.8, 585.3, 421.1, 270.3, 155.5, 84.3, 44.0, 22.4, 11.3, 5.6, 2.8, 1.4, 0.7),
        MOST: _from(27, 727.8, 727.7, 727.1, 727.1, 726.3, 714.8, 694.0, 664.2, 558.2, 432.0, 326.8, 194.3, 101.4),
        MEAN: _from(27, 727.8, 648.8, 585.5, 537.9, 485.2, 441.2, 398.1, 354.1, 289.4, 220.7, 159.9, 98.0, 58.4),
    },
    ARRAY: {
        LEAST: _from(27, 727.8, 583.1, 472.2, 346.0, 224.0, 132.6, 74.2, 39.8, 20.5, 10.5, 2.6, 1.3, 0.6),
        MOST: _from(27, 727.8, 727.7, 726.8, 727.0, 723.2, 709.9, 691.2, 658.7, 555.9, 422.1, 319.1, 184.8, 95.9),
        MEAN: _from(27, 727.8, 647.4, 561.2, 459.2, 334.0, 219.2, 131.2, 73.8, 39.4, 20.3, 10.3, 5.2, 2.6),
    },
}  # insertions of 2^27 pairs by batches
HASH_BUILD = 361.7

TABLE_4_3: Mapping[tuple[str, str], Figures] = {
    (LEVELS, ABSENT): {
        LEAST: _from(24, 116.8, 116.8, 61.6, 41.4, 30.7, 25.2, 22.0, 19.5, 18.1),
        MOST: _from(24, 116.8, 133.1, 183.1, 237.4, 291.3, 331.7, 361.5, 376.7, 386.1),
        MEAN: _from(24, 116.8, 124.4, 105.9, 84.0, 68.4, 57.7, 51.1, 47.4, 45.5),
    },
    (LEVELS, PRESENT): {
        LEAST: _from(24, 106.8, 106.8, 74.7, 51.7, 39.3, 32.0, 27.2, 24.3, 22.7),
        MOST: _from(24, 106.8, 118.6, 142.2, 194.7, 251.1, 299.2, 332.0, 347.3, 365.7),
        MEAN: _from(24, 106.8, 112.4, 104.7, 91.1, 77.6, 67.5, 60.7, 56.7, 54.9),
    },
    (ARRAY, ABSENT): {MEAN: _from(24, 106.8, 112.4, 113.9, 118.4, 120.3, 123.4, 125.4, 126.8, 127.6)},
    (ARRAY, PRESENT): {MEAN: _from(24, 116.7, 124.3, 128.9, 132.9, 135.0, 138.7, 141.2, 143.0, 144.1)},
}
"""Searches in up to 2^24 pairs, as printed. The columns of the sorted array seem to be exchanged: with one batch both structures
are one array."""
HASH_FINDS = {ABSENT: 498.9, PRESENT: 758.0}

TABLE_4_4: Mapping[tuple[str, str, int], Figures] = {
    (LEVELS, COUNT, 8): {
        LEAST: _from(20, 27.0, 22.4, 19.0, 16.2, 15.1),
        MOST: _from(20, 103.7, 94.1, 82.9, 67.6, 44.7),
        MEAN: _from(20, 48.0, 39.8, 35.1, 27.4, 23.9),
    },
    (LEVELS, COUNT, 1024): {
        LEAST: _from(20, 2.58, 2.51, 2.44, 2.36, 2.32),
        MOST: _from(20, 4.17, 4.13, 4.10, 4.06, 3.99),
        MEAN: _from(20, 3.01, 2.86, 2.79, 2.63, 2.57),
    },
    (LEVELS, RANGE, 8): {
        LEAST: _from(20, 23.2, 19.4, 14.6, 12.9, 11.0),
        MOST: _from(20, 72.1, 63.2, 50.5, 36.3, 23.0),
        MEAN: _from(20, 38.4, 31.9, 24.9, 19.8, 15.1),
    },
    (LEVELS, RANGE, 1024): {
        LEAST: _from(20, 1.27, 1.25, 1.23, 1.20, 1.18),
        MOST: _from(20, 1.80, 1.81, 1.81, 1.81, 1.76),
        MEAN: _from(20, 1.43, 1.37, 1.35, 1.28, 1.27),
    },
    (ARRAY, COUNT, 8): {MEAN: _from(20, 73.5, 68.6, 63.0, 56.1, 47.3)},
    (ARRAY, COUNT, 1024): {MEAN: _from(20, 4.10, 4.09, 4.08, 4.04, 3.99)},
    (ARRAY, RANGE, 8): {MEAN: _from(20, 42.2, 38.2, 33.8, 29.1, 25.0)},
    (ARRAY, RANGE, 1024): {MEAN: _from(20, 1.81, 1.81, 1.81, 1.81, 1.80)},
}  # ranges of 8 or 1,024 keys in up to 2^24 pairs
LENGTHS = 8, 1024

CLEANUPS: Mapping[tuple[int, int], float] = {(6, 10): 1870.2, (6, 50): 1828.2, (7, 10): 1842.5, (7, 50): 1794.3}
"""Items by second that a cleanup reads, by the number of full levels and the percentage of stale items."""
