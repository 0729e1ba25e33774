"""Parses regular expressions. The syntax is a subset of that of Python's `re`, with its meaning under `re.ASCII|re.MULTILINE`.

Sets have the classes of POSIX in addition, such as ``[[:alpha:]]``.
"""

from __future__ import annotations

from headrace.core.errors import OptionError
from headrace.query.match.regex.syntax import (
    LINE_FEED,
    WORD,
    Alternatives,
    Characters,
    LineEdge,
    Repeat,
    Sequence,
    both_cases,
    complement,
    union,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headrace.query.match.regex.syntax import Node

MAX_REPEAT = 1000  # maximum number of repetitions that are counted
_MAX_DEPTH = 50
_DIGITS = ((48, 57),)
_SPACE = ((9, 13), (32, 32))
_SETS = {"d": _DIGITS, "w": WORD, "s": _SPACE}
_PUNCTUATION = ((33, 47), (58, 64), (91, 96), (123, 126))
_POSIX = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": _DIGITS,
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": _PUNCTUATION,
    "space": _SPACE,
    "upper": ((65, 90),),
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}  # classes of POSIX (Base Definitions, section 9.3.5) in the locale C, by name: `[[:alpha:]]`
_CONTROLS = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11, "a": 7}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_COUNT_MARKS, _LETTERS = frozenset("0123456789,"), frozenset("abcdefghijklmnopqrstuvwxyz")
_MAX_CHARACTER = 0x10FFFF
_Ranges = tuple[tuple[int, int], ...]


def parse(pattern: str, *, is_text: bool, ignore_case: bool) -> Node:
    """Return the syntax tree of a regular expression.

    Raise OptionError if the expression is malformed or not in the subset. The message has the position.

    `pattern`: the expression. An expression of bytes has a character for each byte.
    `is_text`: whether characters are those of Unicode, not bytes.
    `ignore_case`: whether ASCII letters match in either case.
    """
    return _Parser(pattern, is_text, ignore_case).whole()


class _Parser:
    def __init__(self, pattern: str, is_text: bool, ignore_case: bool) -> None:
        self._pattern = pattern
        self._is_text = is_text
        self._ignore_case = ignore_case
        self._last = _MAX_CHARACTER if is_text else 255
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        node = self._alternatives()
        if self._at < len(self._pattern):
            raise self._error("a parenthesis is closed that is not open", self._at)
        return node

    def _error(self, message: str, at: int) -> OptionError:
        return OptionError(f"pattern: {message} at position {at} of {self._pattern!r}")

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        if not self._pattern.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _alternatives(self) -> Node:
        parts = [self._sequence()]
        while self._take("|"):
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Alternatives(tuple(parts))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repeated(self) -> Node:
        begin = self._at
        node = self._atom()
        counts = self._counts()
        if counts is None:
            return node
        if isinstance(node, LineEdge):
            raise self._error("there is nothing to repeat", begin)
        if self._peek() in ("?", "+") and self._peek():
            kind = "lazy" if self._peek() == "?" else "possessive"
            raise self._error(f"{kind} repetition is not in the subset, since the longest match counts,", self._at)
        at = self._at
        if self._counts() is not None:
            raise self._error("a repetition is repeated; use a group", at)
        return Repeat(node, *counts)

    def _counts(self) -> tuple[int, int | None] | None:
        """Parse the numbers of repetitions, None if there are none."""
        at, mark = self._at, self._peek()
        if mark and mark in "*+?":
            self._at += 1
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[mark]
        end = at + 1
        while self._pattern[end : end + 1] in _COUNT_MARKS:
            end += 1
        low, comma, high = self._pattern[at + 1 : end].partition(",")
        if mark != "{" or not self._pattern.startswith("}", end) or not (low or comma) or "," in high:
            return None
        self._at = end + 1
        least = self._count(low or "0", at)
        most = self._count(high, at) if high else None if comma else least
        if most is not None and most < least:
            raise self._error("the maximum of a repetition is below its minimum", at)
        return least, most

    def _count(self, digits: str, at: int) -> int:
        digits = digits.lstrip("0") or "0"
        if len(digits) > len(str(MAX_REPEAT)) or int(digits) > MAX_REPEAT:  # `int` takes no number of any length
            raise self._error(f"a repetition has more than {MAX_REPEAT} times", at)
        return int(digits)

    def _atom(self) -> Node:
        at, mark = self._at, self._peek()
        self._at += 1
        if mark == "(":
            return self._group(at)
        if mark == "[":
            return self._set(at)
        if mark == ".":
            return Characters(complement(((LINE_FEED, LINE_FEED),), self._last))
        if mark in {"^", "$"}:
            return LineEdge(mark == "$")
        if mark in "*+?":
            raise self._error("there is nothing to repeat", at)
        if mark == "\\":
            return self._characters(self._escape(at, in_set=False))
        self._at = at
        if self._counts() is not None:
            raise self._error("there is nothing to repeat", at)
        self._at = at + 1
        return self._characters(self._one(ord(mark), at))

    def _group(self, at: int) -> Node:
        if self._take("?") and not self._take(":"):
            raise self._error("look-around, names and flags of groups are not in the subset; (?:...) is,", at)
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._error(f"groups are nested more than {_MAX_DEPTH} deep", at)
        node = self._alternatives()
        if not self._take(")"):
            raise self._error("a parenthesis is not closed", at)
        self._depth -= 1
        return Sequence((node,)) if isinstance(node, LineEdge) else node  # an anchor in a group may be repeated, as in `re`

    def _escape(self, at: int, *, in_set: bool) -> _Ranges:
        """Parse the rest of an escape that begins at `at`."""
        mark = self._peek()
        self._at += 1
        if mark.lower() in _SETS and mark:
            ranges = _SETS[mark.lower()]
            return ranges if mark.islower() else complement(ranges, self._last)
        if mark in _CONTROLS:
            return self._one(_CONTROLS[mark], at)
        if mark == "b" and in_set:
            return self._one(8, at)
        if mark in _HEX_DIGITS and (self._is_text or mark == "x"):
            digits = self._pattern[self._at : self._at + _HEX_DIGITS[mark]]
            if len(digits) != _HEX_DIGITS[mark] or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
                raise self._error(f"\\{mark} needs {_HEX_DIGITS[mark]} hexadecimal digits", at)
            self._at += len(digits)
            return self._one(int(digits, 16), at)
        if mark == "0" and not self._peek().isdigit():
            return self._one(0, at)
        if mark == "":
            raise self._error("a backslash ends the expression", at)
        if mark.isascii() and mark.isalnum():
            kind = "back-references and octal numbers are" if mark.isdigit() else f"\\{mark} is"
            raise self._error(f"{kind} not in the subset", at)
        return self._one(ord(mark), at)

    def _one(self, value: int, at: int) -> _Ranges:
        if value > self._last or 0xD800 <= value <= 0xDFFF:
            raise self._error(f"character {value:#x} has no UTF-8 form", at)
        return ((value, value),)

    def _set(self, at: int) -> Node:
        is_negated = self._take("^")
        ranges: list[tuple[int, int]] = []
        begin = self._at
        while not (self._peek() == "]" and self._at > begin):
            low = self._set_item(at)
            if self._pattern.startswith("-", self._at) and self._pattern[self._at + 1 : self._at + 2] not in ("]", ""):
                dash = self._at
                self._at += 1
                high = self._set_item(at)
                if not (_is_one(low) and _is_one(high)) or low[0][0] > high[0][0]:
                    raise self._error("a range of characters is not from a lower one to a higher one", dash)
                low = ((low[0][0], high[0][0]),)
            ranges += low
        self._at += 1
        given = self._pattern[at : self._at]
        if len(given) > 4 and given.startswith("[:") and given.endswith(":]") and _LETTERS.issuperset(given[2:-2]):
            raise self._error(f"{given} is a set of its letters; write [{given}]", at)
        found = union(ranges)
        if self._ignore_case:
            found = both_cases(found)
        return Characters(complement(found, self._last) if is_negated else found)

    def _set_item(self, at: int) -> _Ranges:
        mark = self._peek()
        if mark == "":
            raise self._error("a set of characters is not closed", at)
        begin = self._at
        self._at += 1
        if mark == "[" and self._peek() in (":", ".", "=") and self._peek():
            return self._posix_class(begin)
        return self._escape(begin, in_set=True) if mark == "\\" else self._one(ord(mark), begin)

    def _posix_class(self, at: int) -> _Ranges:
        """Parse the rest of a class such as ``[:alpha:]``. Python's `re` reads its characters one by one."""
        kind = self._peek()
        end = self._pattern.find(f"{kind}]", self._at + 1)
        name = self._pattern[self._at + 1 : end] if end >= 0 else ""
        if kind != ":" or name not in _POSIX:
            classes = ", ".join(f"[:{each}:]" for each in _POSIX)
            raise self._error(
                f"[{kind} begins no class; the classes are {classes}, and a bracket is written \\[; the error is", at
            )
        self._at = end + 2
        return _POSIX[name]

    def _characters(self, ranges: _Ranges) -> Characters:
        return Characters(both_cases(ranges) if self._ignore_case else ranges)


def _is_one(ranges: _Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]
