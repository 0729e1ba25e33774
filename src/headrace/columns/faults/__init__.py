"""What did not convert: found, told, and taken out."""
