"""Devices: cards, the driver's functions, streams and events."""
