"""Sorts from the highest digit down (hybrid radix sort, 2017)."""
