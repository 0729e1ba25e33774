"""Store: tables that are compressed, changed, merged and queried, in memory or in a folder."""
