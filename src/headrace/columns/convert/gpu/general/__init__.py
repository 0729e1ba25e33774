"""Converts what the fast path declines: any text, field by field, by the rules that CPU and GPU share."""
