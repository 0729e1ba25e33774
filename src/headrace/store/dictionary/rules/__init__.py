"""Shared rules of CPU and GPU: packed codes, their translation, and the merge of sorted dictionaries."""
