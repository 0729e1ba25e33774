"""Lists the printed figures of Ashkiani 2017, chapter 2: tables 2.2 to 2.7.

GPU: Tesla K40c, 288 GB/s. CPU: Xeon E5-2637 v2, 16 threads. `CPU` has the best of its algorithms for each length.
"""

from __future__ import annotations

from collections.abc import Mapping

Figures = Mapping[str, Mapping[int, float]]  # printed figures by method and by length of the pattern

CPU = "best-cpu"  # name of the best figure of the CPU, which is no method
_FEW = (4, 16, 64, 256, 1024)
LENGTHS = (4, 8, 16, 32, 64, 256, 1024)


def _at(lengths: tuple[int, ...], *figures: float) -> dict[int, float]:
    return dict(zip(lengths, figures, strict=True))


TABLE_2_2: Figures = {
    "srk": _at(_FEW, 0.95, 1.11, 1.15, 1.16, 1.16),
    "crk": _at(_FEW, 0.58, 0.58, 0.58, 0.58, 0.58),
    "drk": _at(_FEW, 38.5, 34.91, 24.75, 12.98, 4.86),
    "drk-wom-32": _at(_FEW[:2], 54.84, 64.50),
    "drk-wom-64": _at(_FEW[:3], 52.40, 51.07, 35.06),
    CPU: _at(_FEW, 1.57, 4.69, 5.93, 6.33, 5.98),
}  # GB/s, binary text of 2^25 characters

TABLE_2_3: Figures = {
    "drk": _at(_FEW, 40.31, 34.94, 24.75, 12.98, 4.86),
    "drk-2s": _at(_FEW, 62.68, 53.77, 53.73, 53.51, 53.04),
    CPU: _at(_FEW, 7.71, 11.00, 12.55, 12.92, 14.59),
}  # GB/s, text of 2^25 characters of 8 bits

TABLE_2_4: Mapping[int, Mapping[int, float]] = {
    1: _at(LENGTHS, 52.40, 56.55, 55.04, 49.96, 49.86, 49.74, 49.23),
    2: _at(LENGTHS, 59.98, 58.91, 55.75, 51.04, 51.03, 51.01, 50.15),
    3: _at(LENGTHS, 60.57, 58.94, 55.86, 51.13, 51.11, 50.91, 50.45),
    4: _at(LENGTHS, 60.58, 58.85, 55.78, 51.09, 51.01, 50.71, 49.82),
    5: _at(LENGTHS, 60.59, 58.88, 53.47, 53.52, 53.44, 53.38, 52.76),
    6: _at(LENGTHS, 60.63, 58.94, 52.36, 53.46, 53.42, 53.30, 52.29),
    7: _at(LENGTHS, 60.59, 58.87, 53.50, 53.45, 53.42, 53.18, 52.11),
    8: _at(LENGTHS, 62.68, 63.66, 53.77, 53.69, 53.73, 53.51, 53.04),
}  # GB/s of DRK-2S by bits of a character, text of 2^25 characters

TABLE_2_5: Figures = {
    "drk": _at(LENGTHS, 2.46, 2.62, 2.84, 3.25, 3.99, 7.59, 20.34),
    "drk-2s": _at(LENGTHS, 1.58, 1.63, 1.88, 1.84, 1.84, 1.84, 1.83),
    CPU: _at(LENGTHS, 5.05, 5.15, 5.05, 4.92, 4.67, 3.78, 3.77),
}  # milliseconds, 100 MB of Wikipedia

TABLE_2_6: Figures = {
    "drk": _at(LENGTHS, 0.162, 0.121, 0.137, 0.175, 0.264, 0.855, 0.954),
    "drk-2s": _at(LENGTHS, 0.075, 0.077, 0.093, 0.093, 0.093, 0.093, 0.098),
    CPU: _at(LENGTHS, 0.52, 0.50, 0.50, 0.52, 0.44, 0.46, 0.44),
}  # milliseconds, a genome of 4.6 million letters

TABLE_2_7: Figures = {
    "drk": _at(LENGTHS, 0.080, 0.086, 0.098, 0.125, 0.188, 0.609, 0.684),
    "drk-2s": _at(LENGTHS, 0.053, 0.055, 0.065, 0.065, 0.065, 0.065, 0.071),
    CPU: _at(LENGTHS, 0.45, 0.41, 0.45, 0.43, 0.41, 0.43, 0.43),
}  # milliseconds, a protein sequence of 3.3 million letters
