"""Plans of loads: columns, value forms, policies."""
