"""Text to columns, and back."""
