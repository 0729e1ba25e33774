"""Arrow C data interface: columns exported, streams imported."""
