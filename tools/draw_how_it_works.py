"""Draws the pictures of docs/how-it-works.md: python -m tools.draw_how_it_works.

The colours follow the reader's choice of a light or a dark page.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "docs" / "img"
STYLE = """
text { font: 14px sans-serif; fill: #24292f } .mono { font-family: monospace; font-size: 17px } .small { font-size: 12px }
.middle { text-anchor: middle } .box { fill: #eef3fa; stroke: #5b7aa8 } .mark { fill: #f9e3c8; stroke: #c07a1e }
.line { stroke: #5b7aa8; stroke-width: 2; fill: none } .other { stroke: #c07a1e; stroke-width: 2; fill: none }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e7ee } .box { fill: #26324a; stroke: #86a6d8 } .mark { fill: #4a3620; stroke: #e0a050 }
  .line { stroke: #86a6d8 } .other { stroke: #e0a050 }
}
"""
OUTSIDE, INSIDE = "outside", "in quotes"


def svg(width: int, height: int, parts: list[str]) -> str:
    """Return a picture."""
    arrow = "".join(
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        f'<path class="{name}" d="M1 1L7 4L1 7"/></marker>'
        for name in ("line", "other")
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    return f"{head}<style>{STYLE}</style><defs>{arrow}</defs>{''.join(parts)}</svg>\n"


def text(x: float, y: float, words: str, kind: str = "middle") -> str:
    """Return a text; `kind` is its classes."""
    return (
        f'<text x="{x:g}" y="{y:g}" class="{kind}" xml:space="preserve">{words.replace("&", "&amp;").replace("<", "&lt;")}</text>'
    )


def box(x: float, y: float, width: float, height: float, kind: str = "box") -> str:
    """Return a box with round corners."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" class="{kind}"/>'


def arrow(x: float, y: float, to_x: float, to_y: float, kind: str = "line") -> str:
    """Return a straight arrow."""
    return f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" class="{kind}" marker-end="url(#{kind})"/>'


def end_state(tile: str, state: str) -> str:
    """Return the state after a tile: each quote changes it."""
    return state if tile.count('"') % 2 == 0 else INSIDE if state == OUTSIDE else OUTSIDE


def records(tile: str, state: str) -> int:
    """Return the number of line ends outside of quotes; a tile shows a line end as the sign for it."""
    count = 0
    for char in tile:
        state = end_state(char, state)
        count += char == "⏎" and state == OUTSIDE
    return count


TILES = ('1,"Ro', 'me⏎a"⏎2,', '"x"⏎3,b⏎')


def tiles() -> str:
    """Draw tiles with the two runs of each."""
    parts = []
    for at, tile in enumerate(TILES):
        left = 130 + at * 200
        parts += [box(left, 12, 184, 38), text(left + 92, 37, tile, "middle mono")]
        for row, start in enumerate((OUTSIDE, INSIDE)):
            y, kind = 92 + row * 52, "line" if row == 0 else "other"
            count = records(tile, start)
            parts += [
                arrow(left + 8, y, left + 176, y, kind),
                text(left + 92, y - 8, f"ends {end_state(tile, start)}", "middle small"),
                text(left + 92, y + 17, f"{count} record{'' if count == 1 else 's'} ended", "middle small"),
            ]
    parts += [text(8, 37, "text in tiles", ""), text(8, 97, "from outside", ""), text(8, 149, "from in quotes", "")]
    return svg(740, 178, parts)


def state_maps() -> str:
    """Draw the map of each tile, and all of them composed."""
    parts = []
    maps = [*TILES, "".join(TILES)]
    for at, tile in enumerate(maps):
        left = 20 + at * 170 + (40 if at == len(maps) - 1 else 0)
        parts.append(text(left + 65, 20, f"tile {at + 1}" if at < len(TILES) else "composed"))
        for row, start in enumerate((OUTSIDE, INSIDE)):
            end = (OUTSIDE, INSIDE).index(end_state(tile, start))
            kind, y = ("line", "other")[row], 52 + row * 62
            share = 0.28 if end != row else 0.5
            label_y = y + (52 + end * 62 - y) * share - 7
            parts += [
                f'<circle cx="{left}" cy="{y}" r="7" class="box"/><circle cx="{left + 130}" cy="{y}" r="7" class="box"/>',
                arrow(left + 9, y, left + 120, 52 + end * 62, kind),
                text(left + 9 + 111 * share + 10, label_y, f"+{records(tile, start)}", "middle small"),
            ]
        if at < len(maps) - 1:
            parts.append(text(left + (150 if at < len(TILES) - 1 else 172), 87, "∘" if at < len(TILES) - 1 else "="))
    parts.append(text(20, 150, "upper circles: outside; lower circles: in quotes; +n: records ended", "small"))
    return svg(740, 162, parts)


def look_back() -> str:
    """Draw five tiles, of which the last looks back."""
    totals, known = (3, 5, 2, 4, 6), 2
    parts = []
    for at, total in enumerate(totals):
        left, prefix = 20 + at * 142, sum(totals[: at + 1])
        has_prefix = at < known
        parts += [
            box(left, 70, 126, 58, "box" if at < len(totals) - 1 else "mark"),
            text(left + 63, 94, f"total {total}"),
            text(left + 63, 116, f"prefix {prefix}" if has_prefix else "prefix not known", "middle small"),
        ]
    x = 20 + 4 * 142 + 63
    for steps, words in ((1, f"+{totals[3]}"), (2, f"+{totals[2]}"), (3, f"+{sum(totals[:known])}, stop")):
        to = x - steps * 142
        height = 66 - 20 * steps + 8
        parts.append(f'<path d="M{x} 68Q{(x + to) / 2} {height - 40} {to} 66" class="other" marker-end="url(#other)"/>')
        parts.append(text(to - 6, 58, words, "middle small") if steps < 3 else text(to - 20, 50, words, "middle small"))
    found = sum(totals[:4])
    parts.append(text(20, 154, f"the last tile begins at {totals[3]} + {totals[2]} + {sum(totals[:known])} = {found}", "small"))
    return svg(740, 166, parts)


def hybrid_sort() -> str:
    """Draw a pass from the highest digit, and what becomes of its buckets."""
    keys = ["31", "07", "12", "35", "38", "11", "30", "33", "05", "36"]
    parts = [text(8, 33, "keys", "")]
    for at, key in enumerate(keys):
        parts += [box(110 + at * 60, 12, 50, 32), text(135 + at * 60, 33, key, "middle mono")]
    left = 110
    for digit in "013":
        bucket = [key for key in keys if key[0] == digit]
        width, small = 60 * len(bucket) - 10, len(bucket) < 3
        parts += [arrow(left + width / 2, 50, left + width / 2, 84), box(left, 90, width, 32, "box" if small else "mark")]
        parts.append(text(left + width / 2, 111, " ".join(bucket), "middle mono"))
        parts.append(arrow(left + width / 2, 128, left + width / 2, 178, "line" if small else "other"))
        label = "in shared memory" if small else "another pass, by the next digit"
        parts.append(text(left + width / 2, 216, label, "middle small"))
        for at, key in enumerate(sorted(bucket)):
            parts.append(text(left + 25 + at * 60, 198, key, "middle mono"))
        left += 60 * len(bucket)
    parts += [text(8, 111, "by first digit", ""), text(8, 198, "sorted", "")]
    return svg(740, 226, parts)


def main() -> None:
    """Write the pictures."""
    for name, drawn in {"tiles": tiles, "state-maps": state_maps, "look-back": look_back, "hybrid-sort": hybrid_sort}.items():
        (FOLDER / f"{name}.svg").write_text(drawn(), encoding="utf-8")


if __name__ == "__main__":
    main()
