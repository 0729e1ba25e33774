"""Updates and searches levels in host memory."""
