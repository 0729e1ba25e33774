"""Draws texts in other dialects, and loads them by the kernels and by the CPU."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import headrace
from headrace.columns.load.gpu.load import GpuTuning
from tests.columns.convert.convert_kernels_cases import TEXTS
from tests.columns.load.load_gpu_cases import OTHER_SHAPE, SHAPE

SHAPES = [SHAPE, OTHER_SHAPE]


DIALECTS: list[dict[str, Any]] = [
    {"escape_char": "\\"},
    {"escape_char": "\\", "double_quote": False},
    {"escape_char": "\\", "quote_char": None},
    {"escape_char": "\\", "escape_sequences": True},
    {"escape_char": "\\", "escape_sequences": True, "quote_char": None, "sep": "||", "skip_initial_space": True},
    {"comment": "#"},
    {"comment": "//", "skip_blank_lines": False},
    {"sep": "||"},
    {"sep": "||", "lineterminator": "\r\n"},
    {"lineterminator": "\r\n", "skip_blank_lines": False},
    {"sep": "<->", "lineterminator": "~"},
    {"sep": "é"},
    {"skip_initial_space": True},
    {"skip_initial_space": True, "comment": "#", "escape_char": "\\"},
    {"strip": True},
    {"strip": True, "sep": ";", "lineterminator": "~", "comment": "#"},
    {"strip": True, "quote_char": None, "skip_blank_lines": False},
    {"sep": "||", "escape_char": "\\", "comment": "##"},
    {"quote_char": "'", "escape_char": "^"},
    {},
    {"double_quote": False},
    {"strict_quotes": True},
    {"strict_quotes": True, "escape_char": "\\"},
    {"lenient_quotes": True},
    {"lenient_quotes": True, "double_quote": False},
    {"lenient_quotes": True, "double_quote": False, "escape_char": "\\", "sep": "||"},
    {"lenient_quotes": True, "skip_initial_space": True},
    {"lenient_quotes": True, "escape_char": "\\"},
    {"lenient_quotes": True, "escape_char": "\\", "escape_sequences": True},
    {"lenient_quotes": True, "sep": "||", "comment": "#"},
    {"lenient_quotes": True, "lineterminator": "\r\n"},
    # Of more than sixteen states:
    {"sep": "<----->"},
    {"lineterminator": "~~~~!", "comment": "#", "skip_blank_lines": False},
    {"sep": "::::", "lineterminator": "~~~!", "escape_char": "\\", "skip_initial_space": True},
    {"lenient_quotes": True, "sep": "<-><->", "comment": "##"},
]


def field(rng: random.Random, type_: str, given: dict[str, Any]) -> str:
    """A field's bytes, with all that the dialect allows around and in them."""
    sep, quote, escape = given.get("sep", ","), given.get("quote_char", '"'), given.get("escape_char")
    end = given.get("lineterminator", "\n")
    text = rng.choice([one for one in TEXTS[type_] if one.isascii()] or [b""]).decode("latin-1")
    is_text = type_ == "string"
    sequences = given.get("escape_sequences", False)
    if is_text and sequences and escape:
        text = "".join(rng.choices([*"0bfnrtvZNx", "a" * 70], k=rng.choice([1, 3, 40])))
        return "".join(escape + c if rng.random() < 0.7 else c for c in text)
    if is_text and rng.random() < 0.4:
        parts = [sep, end, sep[0], end[0], " ", "  x", "y", "#", "//", quote or "", quote * 2 if quote else "", "a" * 70]
        text = "".join(rng.choices(parts, k=rng.choice([1, 2, 5])))
    quoted = quote is not None and rng.random() < 0.3
    if quote is not None and quoted:
        for byte in (escape or "", quote):
            if byte:
                text = text.replace(byte, (quote if byte == quote and given.get("double_quote", True) else escape or "") + byte)
    else:
        special = [byte for byte in (escape, quote, *sep, *end, "\n", "\r") if byte]
        text = "".join((escape or "") + c if c in special and escape else "" if c in special else c for c in text)
    if escape and text and rng.random() < 0.2 and not (quoted and not is_text):
        at = rng.randrange(len(text)) if not text.count(escape) and not (quote and text.count(quote)) else 0
        if text[at] not in (escape, quote):
            text = text[:at] + escape + text[at:]
    text = f"{quote}{text}{quote}" if quoted else text
    strips = given.get("strip", False)
    if (strips or given.get("skip_initial_space")) and rng.random() < 0.3:
        text = " " * rng.choice([1, 3, 20]) + text
    if strips and rng.random() < 0.4:
        text += " " * rng.choice([1, 3, 20, 70, 150])
    return text


def text_in(rng: random.Random, types: list[str], rows: int, given: dict[str, Any]) -> bytes:
    """A table in this dialect: comments, blank lines, and some quotes that cannot stand where they do."""
    sep, end, comment = given.get("sep", ","), given.get("lineterminator", "\n"), given.get("comment")
    out = []
    for _ in range(rows):
        fields = [field(rng, type_, given) for type_ in types]
        if rng.random() < 0.2 and given.get("quote_char", '"') == '"' and "string" in types:
            text = ['a"', 'a"b', 'a""', 'a"b"', 'a " b', '"a"b', '"a"b"']
            open_or_odd = ['"', '"a', '"""', '""a', '"a""', '"\n', ' "x'] if given.get("lenient_quotes") else []
            fields[types.index("string")] = rng.choice(text + open_or_odd)
        line = sep.join(fields)
        if comment and line.startswith(comment[0]):
            line = "0" + line
        out.append(line or "0")
        if comment and rng.random() < 0.15:
            out.append(comment + rng.choice(["", "x", f'"{sep}', "y" * 90]))
        if given.get("skip_blank_lines", True) and rng.random() < 0.1:
            out.append("")
    data = end.join(out) + (end if rng.random() < 0.7 else "")
    return data.encode()


def case(seed: int, given: dict[str, Any], rows: int | None = None) -> tuple[bytes, dict[str, Any], GpuTuning]:
    rng = random.Random(seed)
    kinds = ["int64", "float64", "date32", "timestamp[us]", "bool", "string", "string", "uint8", "decimal128(12, 2)"]
    types = rng.choices(kinds, k=rng.choice([1, 2, 4, 6]))
    data = text_in(rng, types, rows or rng.choice([1, 5, 40]), given)
    options = {**given, "on_error": rng.choice(["null", "null", "null", "reject", "raise"]), "header": False}
    if rng.random() < 0.2:
        data = data[: rng.randrange(len(data))]
    if rng.random() < 0.7:
        options["schema"] = types
    if rng.random() < 0.3:
        options["null_values"] = ["", "x", "NULL", "7"]
        options["quoted_null"] = rng.random() < 0.5
    if rng.random() < 0.15:
        options["n_rows"] = rng.randrange(1, 12)
    return data, options, rng.choice(SHAPES)


def outcome(read: Callable[[], headrace.Table | None]) -> tuple[headrace.Table | None, str]:
    """Return the table, or None and the error's message."""
    try:
        return read(), ""
    except headrace.HeadraceError as error:
        return None, f"{type(error).__name__}: {error}"
