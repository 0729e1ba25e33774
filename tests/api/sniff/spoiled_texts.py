"""Spoils tables in the ways of real files, each by one function; `spoiled` has the tables.

The expected reading of a text is constructed from the cells that it is rendered from. The kinds of damage are those of Vitagliano
et al., "Pollock: A Data Loading Benchmark", PVLDB 16(8), 2023.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tests.api.sniff.spoiled import BASES, Cells, Spoiled, expect, render

Spoiler = Callable[[str, str, Cells], Spoiled]
SPOILERS: dict[str, Spoiler] = {}


def spoiler(make: Spoiler) -> Spoiler:
    SPOILERS[make.__name__.replace("_", " ")] = make
    return make


def changed(rows: Cells, at: int, row: list[str]) -> Cells:
    return [*rows[:at], row, *rows[at + 1 :]]


# Separators missing or too many in single records.


@spoiler
def missing_separator(base, sep, rows):
    spoiled = changed(rows, 3, [rows[3][0] + rows[3][1], *rows[3][2:]])
    return expect("missing separator", base, render(spoiled, sep), sep, rows[0], spoiled[1:])


@spoiler
def missing_separator_in_the_first_record(base, sep, rows):
    spoiled = changed(rows, 1, rows[1][:-1])
    return expect("missing separator in the first record", base, render(spoiled, sep), sep, rows[0], spoiled[1:])


@spoiler
def missing_separator_in_the_last_record(base, sep, rows):
    spoiled = changed(rows, len(rows) - 1, rows[-1][:-1])
    return expect("missing separator in the last record", base, render(spoiled, sep), sep, rows[0], spoiled[1:])


@spoiler
def record_broken_off(base, sep, rows):
    spoiled = changed(rows, 4, rows[4][:1])
    return expect("record broken off", base, render(spoiled, sep), sep, rows[0], spoiled[1:])


@spoiler
def extra_separator_inside(base, sep, rows):
    spoiled = changed(rows, 3, [rows[3][0], "", *rows[3][1:]])
    return expect("extra separator inside", base, render(spoiled, sep), sep, rows[0], spoiled[1:])


@spoiler
def extra_separator_at_the_end_of_one_record(base, sep, rows):
    spoiled = changed(rows, 2, [*rows[2], ""])
    return expect("extra separator at the end of one record", base, render(spoiled, sep), sep, rows[0], spoiled[1:])


@spoiler
def extra_separator_in_the_first_record(base, sep, rows):
    spoiled = changed(rows, 1, [*rows[1], ""])
    return expect("extra separator in the first record", base, render(spoiled, sep), sep, rows[0], spoiled[1:])


@spoiler
def two_extra_separators_in_the_last_record(base, sep, rows):
    spoiled = changed(rows, len(rows) - 1, [*rows[-1], "", ""])
    return expect("two extra separators in the last record", base, render(spoiled, sep), sep, rows[0], spoiled[1:])


@spoiler
def one_short_and_one_long_record(base, sep, rows):
    spoiled = changed(changed(rows, 2, rows[2][:-1]), 4, [*rows[4], "more"])
    return expect("one short and one long record", base, render(spoiled, sep), sep, rows[0], spoiled[1:])


@spoiler
def no_header_and_a_short_record(base, sep, rows):
    if base == "colours":  # a table of words has no sign of a header, but a number is one
        rows = [[*row[:-1], str(i)] for i, row in enumerate(rows)]
    data = changed(rows[1:], 3, rows[4][:-1])
    return expect("no header and a short record", base, render(data, sep), sep, None, data, width=len(rows[0]))


# Another separator in one line, trailing separators.


@spoiler
def another_separator_in_one_line(base, sep, rows):
    other = ";" if sep != ";" else ","
    text = render(rows[:3], sep) + render(rows[3:4], other) + render(rows[4:], sep)
    data = changed(rows, 3, [other.join(rows[3])])
    return expect("another separator in one line", base, text, sep, rows[0], data[1:])


@spoiler
def another_separator_in_the_last_line(base, sep, rows):
    other = "\t" if sep != "\t" else ","
    text = render(rows[:-1], sep) + render(rows[-1:], other)
    data = changed(rows, len(rows) - 1, [other.join(rows[-1])])
    return expect("another separator in the last line", base, text, sep, rows[0], data[1:])


@spoiler
def trailing_separator_everywhere(base, sep, rows):
    spoiled = [[*row, ""] for row in rows]
    header = [*rows[0], f"column_{len(rows[0]) + 1}"]
    return expect("trailing separator everywhere", base, render(spoiled, sep), sep, header, spoiled[1:])


@spoiler
def trailing_separator_but_in_the_header(base, sep, rows):
    spoiled = [rows[0], *([*row, ""] for row in rows[1:])]
    header = [*rows[0], f"column_{len(rows[0]) + 1}"]
    return expect("trailing separator but in the header", base, render(spoiled, sep), sep, header, spoiled[1:])


@spoiler
def trailing_separator_in_the_header_alone(base, sep, rows):
    spoiled = [[*rows[0], ""], *rows[1:]]
    header = [*rows[0], f"column_{len(rows[0]) + 1}"]
    return expect("trailing separator in the header alone", base, render(spoiled, sep), sep, header, spoiled[1:])


# Quotes.


@spoiler
def inch_mark_in_one_cell(base, sep, rows):
    spoiled = changed(rows, 3, [*rows[3][:-1], '5" wide'])
    return expect("inch mark in one cell", base, render(spoiled, sep), sep, rows[0], spoiled[1:])


@spoiler
def quote_at_the_end_of_a_cell(base, sep, rows):
    spoiled = changed(rows, 2, [rows[2][0] + '"', *rows[2][1:]])
    return expect("quote at the end of a cell", base, render(spoiled, sep), sep, rows[0], spoiled[1:])


@spoiler
def quote_that_never_closes(base, sep, rows):
    spoiled = changed(rows, 3, ['"' + rows[3][0], *rows[3][1:]])
    return expect("quote that never closes", base, render(spoiled, sep), sep, rows[0], spoiled[1:])


@spoiler
def quotes_that_are_not_doubled(base, sep, rows):
    cell = 'the "best" one'
    written = [
        [f'"{cell}"' if (i, j) == (3, len(row) - 1) else f'"{text}"' for j, text in enumerate(row)] for i, row in enumerate(rows)
    ]
    data = changed(rows, 3, [*rows[3][:-1], cell])
    return expect("quotes that are not doubled", base, render(written, sep), sep, rows[0], data[1:], quote='"')


@spoiler
def quotes_not_doubled_and_separators(base, sep, rows):
    quoted = [[*row[:-1], f'"a{sep} b"'] for row in rows[1:]]
    quoted[2][-1] = f'"x "y" {sep} z"'
    data = [[*row[:-1], f"a{sep} b"] for row in rows[1:]]
    data[2][-1] = f'x "y" {sep} z'
    return expect("quotes not doubled and separators", base, render([rows[0], *quoted], sep), sep, rows[0], data, quote='"')


@spoiler
def separators_in_quotes(base, sep, rows):
    data = [[*row[:-1], f"{row[-1]}{sep} etc"] for row in rows[1:]]
    written = [rows[0], *([*row[:-1], f'"{row[-1]}"'] for row in data)]
    return expect("separators in quotes", base, render(written, sep), sep, rows[0], data, quote='"')


@spoiler
def line_breaks_in_quotes(base, sep, rows):
    data = [[*row[:-1], f"{row[-1]}\nsecond line"] for row in rows[1:]]
    written = [rows[0], *([*row[:-1], f'"{row[-1]}"'] for row in data)]
    return expect("line breaks in quotes", base, render(written, sep), sep, rows[0], data, quote='"')


@spoiler
def doubled_quotes(base, sep, rows):
    data = [[*row[:-1], f'a "{row[0]}"{sep} b'] for row in rows[1:]]
    written = [rows[0], *([*row[:-1], '"' + row[-1].replace('"', '""') + '"'] for row in data)]
    return expect("doubled quotes", base, render(written, sep), sep, rows[0], data, quote='"', escape=None)


@spoiler
def single_quotes(base, sep, rows):
    data = [[*row[:-1], f"a{sep} {row[-1]}"] for row in rows[1:]]
    written = [[f"'{text}'" for text in row] for row in [rows[0], *data]]
    return expect("single quotes", base, render(written, sep), sep, rows[0], data, quote="'")


@spoiler
def escaped_quotes(base, sep, rows):
    data = [[*row[:-1], f'a "{row[0]}"{sep} b'] for row in rows[1:]]
    written = [rows[0], *([*row[:-1], '"' + row[-1].replace('"', '\\"') + '"'] for row in data)]
    return expect("escaped quotes", base, render(written, sep), sep, rows[0], data, quote='"', escape="\\")


@spoiler
def escaped_separators(base, sep, rows):
    data = [[*row[:-1], f"a{sep}b"] for row in rows[1:]]
    written = [rows[0], *([*row[:-1], f"a\\{sep}b"] for row in data)]
    return expect("escaped separators", base, render(written, sep), sep, rows[0], data, escape="\\")


@spoiler
def text_after_a_closing_quote(base, sep, rows):
    written = [rows[0], *([*row[:-1], f'"{row[-1] or "none"}{sep} etc"'] for row in rows[1:])]
    written[3][-1] = f'"no{sep} way" x'
    only = {(0, 0): rows[1][0], (0, len(rows[0]) - 1): f"{rows[1][-1]}{sep} etc", (4, 0): rows[5][0]}
    return expect("text after a closing quote", base, render(written, sep), sep, rows[0], rows[1:], quote='"', only=only)


# Preambles, headers, footers, several tables.


def preamble(lines: Sequence[str]) -> Spoiler:
    def make(base, sep, rows):
        text = "".join(line + "\n" for line in lines) + render(rows, sep)
        return expect(f"preamble of {len(lines)} lines", base, text, sep, rows[0], rows[1:], skipped=len(lines))

    return make


SPOILERS["preamble of one line"] = preamble(["Inventory of May"])
SPOILERS["preamble and a blank line"] = preamble(["Made by a tool", ""])
SPOILERS["preamble of four lines"] = preamble(["Yearly report", "all regions: north and south", "", "figures as of May"])
SPOILERS["preamble with commas"] = preamble(["Report, revised", "Not checked, not final, not complete", ""])


@spoiler
def padded_preamble(base, sep, rows):
    padding = [""] * (len(rows[0]) - 1)
    text = render([["TITLE", *padding], *rows], sep)
    return expect("padded preamble", base, text, sep, rows[0], rows[1:], skipped=1)


@spoiler
def padded_preamble_of_three_lines(base, sep, rows):
    padding = [""] * (len(rows[0]) - 1)
    text = render([["Stock list", *padding], ["second quarter", *padding], ["", *padding], *rows], sep)
    return expect("padded preamble of three lines", base, text, sep, rows[0], rows[1:], skipped=3)


@spoiler
def preamble_of_pairs(base, sep, rows):
    text = render([["Author", "Ann"], ["Unit", "metre"]], sep) + "\n" + render([*rows, *rows[1:]], sep)
    return expect("preamble of pairs", base, text, sep, rows[0], [*rows[1:], *rows[1:]], skipped=3)


@spoiler
def header_twice(base, sep, rows):
    return expect("header twice", base, render([rows[0], *rows], sep), sep, rows[0], rows[1:], skipped=1)


@spoiler
def group_row_over_the_header(base, sep, rows):
    groups = ["", "first", *[""] * (len(rows[0]) - 3), "second"]
    joined = [f"{group}_{name}" if group else name for group, name in zip(groups, rows[0], strict=True)]
    typed = [[*row[:1], *(str(10 * i + j) for j in range(1, len(row)))] for i, row in enumerate(rows[1:], 1)]
    return expect("group row over the header", base, render([groups, rows[0], *typed], sep), sep, joined, typed)


@spoiler
def units_below_the_header(base, sep, rows):
    units = ["", *["kg"] * (len(rows[0]) - 1)]
    joined = [f"{name}_{unit}" if unit else name for name, unit in zip(rows[0], units, strict=True)]
    typed = [[*row[:1], *(str(10 * i + j) for j in range(1, len(row)))] for i, row in enumerate(rows[1:], 1)]
    return expect("units below the header", base, render([rows[0], units, *typed], sep), sep, joined, typed)


@spoiler
def footer_after_a_blank_line(base, sep, rows):
    text = render(rows, sep) + "\nSource: own count\n"
    return expect("footer after a blank line", base, text, sep, rows[0], rows[1:])


@spoiler
def padded_footer_of_two_lines(base, sep, rows):
    padding = [""] * (len(rows[0]) - 1)
    text = render(rows, sep) + "\n" + render([["All figures rounded", *padding], ["end of list", *padding]], sep)
    return expect("padded footer of two lines", base, text, sep, rows[0], rows[1:])


@spoiler
def preamble_and_footer(base, sep, rows):
    text = "Report of May\n\n" + render(rows, sep) + "\n-- end of report --\n"
    return expect("preamble and footer", base, text, sep, rows[0], rows[1:], skipped=2)


@spoiler
def two_tables(base, sep, rows):
    second = [["code", "label"], ["a1", "first"], ["a2", "second"]]
    text = render(rows, sep) + "\n" + render(second, sep)
    return expect("two tables", base, text, sep, rows[0], [*rows[1:], *second])


@spoiler
def two_tables_of_one_width(base, sep, rows):
    second = [[f"x{j}" for j in range(len(rows[0]))], *([f"{i}{j}" for j in range(len(rows[0]))] for i in range(3))]
    text = render(rows, sep) + "\n" + render(second, sep)
    return expect("two tables of one width", base, text, sep, rows[0], [*rows[1:], *second])


# Line ends, blank lines, comments, spaces.


@spoiler
def mixed_line_ends(base, sep, rows):
    ends = ("\n", "\r\n", "\n", "\r\n", "\r\n")
    text = "".join(sep.join(row) + ends[i % len(ends)] for i, row in enumerate(rows))
    return expect("mixed line ends", base, text, sep, rows[0], rows[1:])


@spoiler
def carriage_returns_alone(base, sep, rows):
    return expect("carriage returns alone", base, render(rows, sep, "\r"), sep, rows[0], rows[1:])


@spoiler
def last_line_without_an_end(base, sep, rows):
    return expect("last line without an end", base, render(rows, sep)[:-1], sep, rows[0], rows[1:])


@spoiler
def blank_lines_between(base, sep, rows):
    return expect("blank lines between", base, render(rows, sep, "\n\n"), sep, rows[0], rows[1:])


@spoiler
def comment_lines(base, sep, rows):
    text = "# made by hand\n" + render(rows[:4], sep) + "# checked up to here\n" + render(rows[4:], sep)
    return expect("comment lines", base, text, sep, rows[0], rows[1:])


@spoiler
def byte_order_mark(base, sep, rows):
    return expect("byte order mark", base, "\ufeff" + render(rows, sep, "\r\n"), sep, rows[0], rows[1:])


@spoiler
def spaces_after_separators(base, sep, rows):
    return expect("spaces after separators", base, render(rows, sep + " "), sep, rows[0], rows[1:])


@spoiler
def empty_cells(base, sep, rows):
    data = [[("" if (i + j) % 3 == 0 else text) for j, text in enumerate(row)] for i, row in enumerate(rows[1:], 1)]
    return expect("empty cells", base, render([rows[0], *data], sep), sep, rows[0], data)


@spoiler
def lists_in_cells(base, sep, rows):
    inner = ";" if sep != ";" else ","
    lists = [inner.join(str(10 * i + k) for k in range(2 + i % 3)) for i in range(len(rows))]
    data = [[*row[:-1], lists[i]] for i, row in enumerate(rows[1:])]
    return expect("lists in cells", base, render([rows[0], *data], sep), sep, rows[0], data)


def spoiled_texts() -> Iterator[Spoiled]:
    for kind, make in SPOILERS.items():
        for base, (sep, rows) in BASES.items():
            made = make(base, sep, [list(row) for row in rows])
            assert made.name.endswith(base), kind
            yield made
