"""Describes a text by its first bytes: the properties that choose its search and its conversion."""

from __future__ import annotations

from typing import NamedTuple

from headrace.columns.convert.gpu.target import GpuTuning
from headrace.columns.load.gpu.data_start import has_quotes
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.find import needs_dfa


class TextForm(NamedTuple):
    """Expected properties of a text. If one turns out to be wrong, slower kernels read the text."""

    quoted: bool  # True if fields have quotes
    by_dfa: bool  # True if a byte rules out byte masks
    is_wide: bool  # True if tiles have few rows of many columns, which the general conversion reads
    is_sparse: bool  # True if most fields of many columns are empty

    @property
    def variant(self) -> str:
        """The search variant that reads the text."""
        return "dfa" if self.by_dfa else "quoted" if self.quoted else "unquoted"


def text_form(
    tuning: GpuTuning, dialect: Dialect, prefix: bytes, *, columns: int, tiles: int, expects_dfa: bool = False
) -> TextForm:
    """Return the form of a text.

    `prefix`: the first bytes of the data.
    `columns`, `tiles`: number of wanted columns, and of the search's tiles.
    `expects_dfa`: byte masks could not read the last text.
    """
    by_dfa = expects_dfa or needs_dfa(dialect, prefix)
    is_wide = not by_dfa and tuning.is_wide(prefix, dialect.lineterminator, columns, tiles)
    quoted = has_quotes(dialect, prefix)
    is_sparse = not by_dfa and not quoted and not is_wide and tuning.is_sparse(prefix, dialect.sep, columns)
    return TextForm(quoted, by_dfa, is_wide, is_sparse)
