"""Lists texts whose first records mislead the estimate of sizes, and texts where it holds."""

from __future__ import annotations


def text(first: list[str], others: list[str]) -> bytes:
    """Return `first`, repeated past the sampled bytes, and then `others`."""
    return "\n".join(first * (5000 // len("\n".join(first)) + 1) + others).encode()


PLAIN = ["1,abc,20,d", "2,ab,3000,ef"]


MISLEADING = {
    "shorter records": (["11111111,x,2,y"], ["1,,2,"] * 3000),
    "longer records": (["1,x,2,y"], ["11111111,xxxxxxxx,22222222,yyyyyyyy"] * 400),
    "longer strings in records as long": (["1,x,22222222,y"], ["1,xxxxxxxx,2,y"] * 20_000),
    "empty strings": (["1,xxxx,2,yyyyyy"], ["11111,,22222,"] * 20_000),
    "quotes": (PLAIN, ['1,"a ""b"", c",2,"d\ne"'] * 5),
    "quotes that do not close": (PLAIN, ['1,"a,2,d\n3,c,4,d']),
    "lines in quotes": (['1,"a\nb\nc\nd",2,"e"'], ["1,b,2,c"] * 30),
    "records of other widths": (PLAIN, ["1,a,2,b,c", "5", "1,,,"]),
    "no numbers": (PLAIN, ["x,a,y,b"]),
    "blank lines": (PLAIN, [""] * 900 + PLAIN),
}
