"""Arrays of callers, of any library, and where work on them runs."""
