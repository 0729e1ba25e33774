"""Store: compressed rows, changed and queried, in memory or a folder."""
