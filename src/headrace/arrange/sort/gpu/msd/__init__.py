"""Sorts on a GPU from the highest digit down: the hybrid radix sort."""
