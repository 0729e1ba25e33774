"""Shares work among a block's threads: scans, barriers, bulk copies."""
