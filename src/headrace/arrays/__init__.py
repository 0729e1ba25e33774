"""Takes arrays of any library in place, and returns arrays of that library."""
