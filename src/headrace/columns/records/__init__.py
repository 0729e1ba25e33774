"""Turns records into rows of equal width; finds data range and split points."""
