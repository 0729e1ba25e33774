"""sniff_csv: proposes the dialect and options of a text, with evidence."""
