"""Typed columns: types and schemas, text rules, conversion, type inference, and loading."""
