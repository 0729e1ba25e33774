"""What all sorts on a GPU share."""
