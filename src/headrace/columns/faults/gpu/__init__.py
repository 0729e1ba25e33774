"""Lists faults of a load on a GPU and removes rejected rows there."""
