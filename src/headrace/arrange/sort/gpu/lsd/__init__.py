"""A sort on a GPU digit by digit, the lowest first, and what is planned on the card."""
