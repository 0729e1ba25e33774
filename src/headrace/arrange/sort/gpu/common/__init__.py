"""Defines what all GPU sorts share: digits, the plan, tiles, block sorts and grid barriers."""
