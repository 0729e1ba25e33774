"""Numbers keys that are texts, or rows of several columns packed into texts."""
