"""Writes the files of this folder: invented persons and films, with the oddities of real registers and of a real film database.

``python tests/data/synthetic/generate.py`` writes them anew, with the same bytes each time. No name, address or number in them is
of a real person.
"""

from __future__ import annotations

import gzip
import random
from pathlib import Path

HERE = Path(__file__).parent
FIRST = ("ADA", "BASIL", "CLEO", "DORIAN", "EDDA", "FELIX", "GRETA", "HUGO", "IRIS", "JASPER", "KIRA", "LEOPOLD")
LAST = ("EXAMPLE", "SAMPLE", "SPECIMEN", "PLACEHOLDER", "INSTANCE", "O'TEST", "VON MUSTER", "DUMMY-DATA", "FICTION")
MIDDLE = ("", "", "LOREM", "IPSUM", "DOLOR", "AMET", "X")
STREETS = ("SAMPLE", "EXAMPLE MILL", "NOWHERE", "INVENTED HILL", "FOO 42", "PLACEHOLDER")
TOWNS = (("EXAMPLETON", "99901"), ("SAMPLE CITY", "99902"), ("PLACEHOLDER", "99903"), ("FORT NOWHERE", "99904"))
DISTRICTS = ("fire", "water", "sewer", "school", "rescue", "ward", "township", "sanitation", "harbour", "library", "forest")

HEADER = [
    "region_id", "region_desc", "register_num", "status_cd", "status_desc", "reason_cd", "reason_desc", "absent_ind",
    "prefix_cd", "last_name", "first_name", "middle_name", "suffix_cd", "full_name", "mail_name", "house_num", "half_code",
    "street_dir", "street_name", "street_type_cd", "unit_num", "town", "state_cd", "zip_code", "street_address",
    "town_state_zip", "mail_addr1", "mail_addr2", "mail_addr3", "mail_zipcode", "area_cd", "phone_num", "age", "birth_place",
    "registered", "precinct_abbrv", "precinct_desc", "ward_abbrv", "court_abbrv", "court_desc", "district_abbrv",
    "district_desc", "house_abbrv", "confidential_ind", "age_group", "person_id",
    *(f"{name}_dist_{part}_{number}" for name in DISTRICTS for part in ("abbrv", "desc") for number in (1, 2)),
    "area_abbrv", "area_desc", "last_abbrv", "last_desc",
]  # fmt: skip
"""94 columns, of which more than 40 are empty in every record."""


def resident(rng: random.Random, number: int, *, has_gaps: bool) -> list[str]:
    """Return the fields of one person. `has_gaps`: codes that some records lack."""
    last, first, middle = rng.choice(LAST), rng.choice(FIRST), rng.choice(MIDDLE)
    town, code = rng.choice(TOWNS)
    house, street = rng.randrange(1, 9999), rng.choice(STREETS)
    kind = rng.choice(("RD", "DR", "ST", "AVE", ""))
    address = f"{house}  {street} {kind}".rstrip()
    gone = has_gaps and rng.random() < 0.1
    district = "" if gone else rng.choice(("04", "06"))
    age = rng.randrange(18, 105)
    precinct = "" if gone else f"{rng.randrange(1, 14):02}{rng.choice('NSEW')}"
    fields = {
        "region_id": "1",
        "region_desc": "EXAMPLESHIRE",
        "register_num": f"{9100000 + number:012}",
        "status_cd": "A",
        "status_desc": "ACTIVE",
        "reason_cd": rng.choice(("AV", "A1", "AL")),
        "reason_desc": rng.choice(("VERIFIED", "UNVERIFIED", "LEGACY DATA (BEFORE 2000)")),
        "last_name": last,
        "first_name": first,
        "middle_name": middle,
        "suffix_cd": rng.choice(("", "", "", "JR", "III")),
        "full_name": f"{last}, {first} {middle}".rstrip(),
        "mail_name": " ".join(filter(None, (first, middle, last))),
        "house_num": str(house),
        "half_code": rng.choice(("", "", "", "A", "B")),
        "street_dir": rng.choice(("", "", "N", "S")),
        "street_name": street,
        "street_type_cd": kind,
        "unit_num": rng.choice(("", "", f"#{rng.randrange(99)}", "APT B")),
        "town": town,
        "state_cd": "XX",
        "zip_code": code,
        "street_address": address,
        "town_state_zip": f"{town} XX  {code}",
        "mail_addr1": address if rng.random() < 0.9 else f"PO BOX {rng.randrange(1, 999)}",
        "mail_zipcode": code if number % 10 else "09901",
        "area_cd": "" if gone else "555",
        "phone_num": "" if gone else f"01{rng.randrange(100):02}",
        "age": str(age),
        "birth_place": rng.choice(("", "XX", "YY")),
        "registered": f"{rng.randrange(1, 13):02}/{rng.randrange(1, 29):02}/{rng.randrange(1960, 2016)}",
        "precinct_abbrv": precinct,
        "precinct_desc": f"PRECINCT {precinct}" if precinct else "",
        "court_abbrv": "" if gone else "15A",
        "court_desc": "" if gone else "15A SUPERIOR COURT",
        "district_abbrv": district,
        "district_desc": f"DISTRICT {int(district)}" if district else "",
        "house_abbrv": "" if gone else f"0{rng.choice((63, 64))}",
        "confidential_ind": "N",
        "age_group": "Age Over 66" if age > 66 else "Age 18 - 66",
        "person_id": f"AA{10000 + number}",
        "last_abbrv": precinct,
        "last_desc": precinct,
    }
    return [f'"{fields.get(name, "")}"' for name in HEADER]


def residents(count: int, *, has_gaps: bool) -> list[str]:
    """Return the lines of a register: all fields are quoted, tabs lie between them, many columns are empty."""
    rng = random.Random(count)
    return ["\t".join(resident(rng, number, has_gaps=has_gaps)) for number in range(1, count + 1)]


def goofs(count: int) -> list[str]:
    """Return lines of a film database: quotes inside a field are escaped by a backslash, which is no standard CSV."""
    rng = random.Random(count)
    lines = []
    for number in range(count):
        film = rng.choice(("The Invented Heist", "Sample & Daughters", "Nowhere, Twice", "A Placeholder's Tale"))
        what = rng.choice(("clock on the wall", "green car", "Captain's cap", "caf\u00e9 sign", "radar screen"))
        text = rng.choice(("CONT: ", "DATE: ", "FACT: ")) + f"In {film} the {what} is from {rng.randrange(1950, 2000)}"
        if number % 4 == 3:
            text = text.replace(film, f'_\\"{film}\\" (2002)_')
        text += f" ({rng.randrange(2, 90)} years late)" * rng.randrange(6)
        quoted = "," in text or "\\" in text or number % 3 == 0
        lines.append(f"{29779 + number},{494075 + number // 8},13," + (f'"{text}.",' if quoted else f"{text}.,"))
    return lines


def files() -> dict[str, bytes]:
    """Return the content of each file, not compressed."""
    made = {
        "residents.tsv": ["\t".join(HEADER), *residents(600, has_gaps=True)],
        "residents_without_names.tsv": residents(10, has_gaps=False),
        "goofs_escaped.csv": goofs(201),
    }
    return {name: ("\n".join(lines) + "\n").encode() for name, lines in made.items()}


if __name__ == "__main__":
    for name, content in files().items():
        if name == "residents.tsv":
            (HERE / f"{name}.gz").write_bytes(gzip.compress(content, mtime=0))
        else:
            (HERE / name).write_bytes(content)
