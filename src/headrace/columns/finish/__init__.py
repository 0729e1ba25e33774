"""Behind the conversion: smaller types, row numbers, mended texts, parts below each other."""
