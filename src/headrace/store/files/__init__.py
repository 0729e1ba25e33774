"""Keeps logs, mains and a manifest as files of checked records, and recovers them."""
