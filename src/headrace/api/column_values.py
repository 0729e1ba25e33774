"""Offers the functions of columns' values that the command needs: the range, and rows by their numbers."""

from headrace.arrange.filter.value_range import value_range
from headrace.arrange.gather.take import take_rows

__all__ = ["take_rows", "value_range"]
