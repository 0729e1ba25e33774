"""Lists long fields of every type."""

from __future__ import annotations

LONG_FIELDS = {
    "bare": lambda size: b"x" * size,
    "far outside ASCII": lambda size: "€".encode() * (size // 3),
    "quoted": lambda size: b'"' + b'a,b\n""c""\r\n' * (size // 11) + b'"',
    "one quote at its end": lambda size: b'"' + b"y" * size + b'"',
    "spaces": lambda size: b" " * size,
}
"""Fields by their content: the text of a field of about `size` bytes, as it stands in a record."""
