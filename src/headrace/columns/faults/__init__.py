"""Lists, locates and resolves fields that do not convert; builds the rejects."""
