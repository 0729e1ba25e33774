"""Typed columns: schemas, conversion, inference."""
