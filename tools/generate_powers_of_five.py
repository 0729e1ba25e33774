"""Write columns/rules/numbers/powers_of_five.hpp: the leading 128 bits of the powers of five that parsing a float needs.

Usage: python tools/generate_powers_of_five.py [--check] With --check nothing is written; the exit status is 1 if the file differs
from the new one.
"""

from __future__ import annotations

import sys
from pathlib import Path

LOWEST, HIGHEST = -342, 308
TARGET = Path(__file__).parents[1] / "src/headrace/columns/rules/numbers/powers_of_five.hpp"

HEAD = """\
// Written by tools/generate_powers_of_five.py; do not edit.
//
// 5^q for q = {lowest}..{highest}, multiplied by a power of two to lie in [2^127, 2^128) and rounded down.
// Powers 0 to {exact} are exact. 5^0 is {{0x8000000000000000, 0}}; 5^-1 is 0.2, in binary 0.00110011...,
// so both its words are 0xCCCCCCCCCCCCCCCC.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

struct PowerOfFive {{
    u64 high;
    u64 low;
}};

constexpr i32 LOWEST_POWER_OF_FIVE = {lowest};
constexpr i32 LARGEST_EXACT_POWER_OF_FIVE = {exact};

// clang-format off
HR_TABLE PowerOfFive POWERS_OF_FIVE[] = {{
"""

TAIL = """\
};
// clang-format on

HR_END_NAMESPACE
"""


def leading_bits(power: int) -> int:
    """Return the 128 leading bits of 5**power, e.g. 2**127 for power 0."""
    if power >= 0:
        value: int = 5**power
        surplus = value.bit_length() - 128
        return value >> surplus if surplus > 0 else value << -surplus
    divisor: int = 5**-power
    quotient = (1 << (divisor.bit_length() + 128)) // divisor
    return quotient >> (quotient.bit_length() - 128)


def largest_exact_power() -> int:
    """Return the largest power of five below 2**128."""
    return max(power for power in range(HIGHEST) if 5**power < 2**128)


def header() -> str:
    """Return the header's text, two entries a line."""
    entries = [leading_bits(power) for power in range(LOWEST, HIGHEST + 1)]
    cells = [f"{{0x{entry >> 64:016X}, 0x{entry & (2**64 - 1):016X}}}" for entry in entries]
    lines = [f"    {', '.join(cells[i : i + 2])}," for i in range(0, len(cells), 2)]
    head = HEAD.format(lowest=LOWEST, highest=HIGHEST, exact=largest_exact_power())
    return head + "\n".join(lines) + "\n" + TAIL


def main(arguments: list[str]) -> int:
    """Write the header, or compare it if asked to."""
    if arguments == ["--check"]:
        return 0 if TARGET.read_text() == header() else 1
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    TARGET.write_text(header())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
