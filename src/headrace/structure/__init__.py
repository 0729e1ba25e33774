"""Where records and fields are: dialects, and the search for structure."""
