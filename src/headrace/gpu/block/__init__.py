"""Shares work among a block's threads: scans, ranks, barriers, bulk copies."""
