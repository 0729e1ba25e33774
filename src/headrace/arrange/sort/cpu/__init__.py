"""Sorts in host memory."""
