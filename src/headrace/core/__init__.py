"""Errors, options, context, devices and budgets: the base of every stage."""
