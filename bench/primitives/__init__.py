"""Limits of a machine, and what is built on: scans, reductions, selections, histograms."""
