"""Texts whose values or names have single spaces in them, each with the reading that a careful person gives it."""

from __future__ import annotations

from tests.api.sniff.spoiled import Spoiled

ONE_COLUMN: list[tuple[str, list[str]]] = [
    ("amount in EUR", ["1 234 567", "2 345 678", "3 456 789"]),
    ("amount in EUR", ["1 234 567", "2 345 678"]),
    ("amount net total", ["1 234 567", "2 005 678", "3 456 789"]),
    ("amount net", ["234 567", "1 345 678", "12 001"]),
    ("Umsatz im Jahr", ["1 234 567", "2 345 678", "3 456 789"]),
    ("chiffre par mois", ["1 234 567", "2 345 678", "3 456 789"]),
    ("amount of the year in EUR", ["-1 234 567,50", "2 345 678,00", "12 345 678,00"]),
    ("population in 2020", ["1 234 567", "2 345 678", "3 456 789"]),
    ("phone", ["+49 30 1234", "+49 40 5678"]),
    ("phone", ["+49 30 1234567", "+49 40 76543210"]),
    ("phone number abroad", ["+49 30 1234", "+49 40 5678", "+44 20 7777"]),
    ("phone number at home", ["+49 30 1234 55", "+49 40 5678 66", "+44 20 7777 77"]),
    ("phone number at home", ["0171 555 12 34", "0172 666 12 35", "0173 777 12 35"]),
    ("telephone", ["030 555 1234", "030 555 1235", "040 777 1235"]),
    ("start date in UTC", ["2 Jan 2024", "3 Feb 2024", "14 Mar 2024"]),
    ("start date here", ["Jan 2, 2024", "Feb 3, 2024", "Mar 14, 2024"]),
    ("date of birth", ["2. Jan. 2024", "3. Feb. 2024", "14. Mar. 2024"]),
    ("date of birth", ["2 1 2024", "3 2 2024", "14 3 2024"]),
    ("day", ["2024 01 02", "2024 02 03", "2024 03 14"]),
    ("time of start", ["2024-01-02 10:00 UTC", "2024-01-02 11:00 UTC", "2024-01-02 12:00 UTC"]),
    ("time of the start", ["2 Jan 2024 10:00", "2 Jan 2024 11:00", "3 Jan 2024 12:00"]),
    ("time of start here", ["Tue 2 Jan 2024", "Wed 3 Jan 2024", "Thu 4 Jan 2024"]),
    ("time of the last start", ["Tue, 2 Jan 2024 10:00", "Wed, 3 Jan 2024 11:00", "Thu, 4 Jan 2024 12:00"]),
    ("time of the start", ["Tue Jan 2 10:00:00 2024", "Tue Jan 2 11:00:00 2024", "Wed Jan 3 12:00:00 2024"]),
    ("time", ["12 30", "12 31", "09 05"]),
    ("time of day", ["12 30 15", "12 31 15", "12 32 15"]),
    ("position of ship", ["52 31 12 N", "48 31 12 N", "48 32 11 S"]),
    ("position of the ship", ["52.5 N 13.4 E", "48.1 N 11.6 E", "50.1 S 11.7 W"]),
    ("coordinates", ["52.5 13.4", "48.1 11.6", "-50.5 11.4"]),
    ("card number on file", ["4111 1111 1111 1111", "4222 2222 2222 2222", "4333 3333 3333 3333"]),
    ("IBAN of the account", ["DE89 3704 0044 0532", "DE90 3704 0044 0533", "DE91 3704 0044 0534"]),
    ("price", ["12,50 EUR", "13,50 EUR", "14,75 EUR"]),
    ("price of the item", ["1 234,50 EUR in all", "1 235,50 EUR in all", "1 236,50 EUR in all"]),
    ("price per item", ["EUR 1 234", "EUR 2 234", "EUR 3 234"]),
    ("size of file", ["12 MB big", "13 MB big", "14 MB big"]),
    ("score of game", ["1 - 3", "2 - 5", "3 - 7"]),
    ("duration of call", ["3 days ago", "4 days ago", "5 days ago"]),
]
"""The name of a column and its texts."""
COLUMNS: list[tuple[str, list[str]]] = [
    ("x y z", ["1 2 3", "4 5 6", "7 8 9"]),
    ("id width height", ["1 640 480", "2 800 600", "3 320 240"]),
    ("from to weight", ["1 2 3", "1 3 4", "2 3 5"]),
    ("time in out", ["1 20 30", "2 40 50", "3 60 70"]),
    ("word en de fr", ["ab 12 13 14", "cd 13 14 15", "ef 15 16 17"]),
    ("lat lon height", ["52.5 13.4 100", "48.1 11.6 200", "50.5 11.5 12"]),
    ("lat lon", ["52.5 13.4", "48.1 11.6", "50.5 11.4"]),
    ("year month day", ["2024 01 02", "2024 02 03", "2024 03 14"]),
    ("hour minute second", ["12 30 15", "12 31 15", "12 32 15"]),
    ("first last age", ["Ann Lee 30", "Bo Ray 31", "Cy Fox 32"]),
    ("item for sale", ["1 2 3", "4 5 6"]),
    ("item for sale", ["7 12.5 300", "8 14.0 250", "9 2.5 100"]),
    ("name age city", ["Ann 30 Rome", "Bo 31 Oslo", "Cy 32 Bern"]),
]
"""Names between spaces, and the rows below them."""
OTHER_SEPARATORS: list[tuple[str, list[str]]] = [
    ("amount in EUR;n", ["1 234 567;1", "2 345 678;2"]),
    ("phone;n", ["+49 30 1234;1", "+49 30 1235;2"]),
    ("price in EUR;day", ["1 234,50;2 Jan 2024", "2 345,75;3 Jan 2024"]),
]


def _spoiled(names: str, rows: list[str], sep: str) -> Spoiled:
    """A text of these lines, split at `sep`; with an empty one each line is one field."""
    cells = [row.split(sep) if sep else [row] for row in rows]
    header = tuple(names.split(sep)) if sep else (names,)
    return Spoiled(
        name=f"spaces: {names} over {rows[0]}, {len(rows)} rows",
        text="\n".join([names, *rows, ""]).encode(),
        sep=sep,
        names=header,
        width=len(header),
        rows=len(rows),
        cells={(i, j): text for i, row in enumerate(cells) for j, text in enumerate(row)},
    )


SPACES = [
    *(_spoiled(names, rows, "") for names, rows in ONE_COLUMN),
    *(_spoiled(names, rows, " ") for names, rows in COLUMNS),
    *(_spoiled(names, rows, ";") for names, rows in OTHER_SEPARATORS),
]
