"""Sorts on a GPU from the lowest digit up, and chooses the passes on the device."""
