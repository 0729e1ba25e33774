"""Keys counted, split and sorted."""
