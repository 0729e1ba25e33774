"""Text columns in other forms: views and dictionaries."""
