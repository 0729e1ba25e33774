"""Describes delimited files on one HTML page: `headrace report`."""
