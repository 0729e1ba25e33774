"""Describes one load: columns, ranges, value forms, policies for faults."""
