"""Store: compressed rows that are changed, merged and queried, in memory or in a folder."""
