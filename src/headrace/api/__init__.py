"""The face of the package."""
