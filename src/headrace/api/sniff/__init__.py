"""`sniff_csv`: finds how a text is written."""
