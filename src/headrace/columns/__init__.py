"""Typed columns: everything from fields to finished columns."""
