"""Keeps the native tables of automata that were used before."""

from functools import lru_cache

from headrace import _native
from headrace.query.match.automaton.dfa import Dfa
from headrace.query.match.automaton.tables import tables_of


@lru_cache(maxsize=256)
def native_automaton(dfa: Dfa) -> _native.MatchSearcher:
    """Return the tables of an automaton, and the part that each match has, for searches on the CPU."""
    tables = tables_of(dfa)
    parts = (tables.class_of, tables.forward, tables.verdicts, tables.backward, tables.idle_after)
    pattern, windows = (None, None) if dfa.required_part is None else dfa.required_part.native()
    return _native.MatchSearcher(parts, tables.idles, pattern, windows)
