"""Generates records of text: words, scripts, identifiers, and text in quotes."""

from __future__ import annotations

import base64
import json
import uuid

import numpy as np

from bench.read.shapes.columns import WORDS, chosen, fixed, hex_texts, joined, phrases, quoted
from bench.read.shapes.shape import Random

_CYRILLIC = [
    "город", "река", "улица", "вечер", "письмо", "окно", "станция", "зима", "утро", "мост", "долина", "лес", "бумага",
    "камень", "свет",
]  # fmt: skip
_ACCENTED = ["café", "naïve", "Zürich", "façade", "déjà", "señor", "Ångström", "jalapeño"]
_HAN = [
    "河流", "城市", "早晨", "山谷", "森林", "信号", "数字", "图书馆", "车站", "花园", "窗户", "桥梁",
]  # fmt: skip
_EMOJI = ["🙂", "🚀", "🌧️", "🍋", "👍🏽", "✅"]
_PARAGRAPH = 4096


def words(random: Random, count: int) -> list[str]:
    """Return three columns of a word."""
    return joined(*(chosen(random, WORDS, count) for _ in range(3)))


def one_word(random: Random, count: int) -> list[str]:
    """Return one column of a word."""
    return chosen(random, WORDS, count)


def identifiers(random: Random, count: int) -> list[str]:
    """Return two columns of one of 50,000 identifiers."""
    return joined(*([f"customer-{number:05d}" for number in random.integers(0, 50_000, count).tolist()] for _ in range(2)))


def cyrillic(random: Random, count: int) -> list[str]:
    """Return three columns of two Cyrillic words."""
    return joined(*(phrases(random, np.full(count, 2), _CYRILLIC) for _ in range(3)))


def accents(random: Random, count: int) -> list[str]:
    """Return three columns of a word, with a letter outside ASCII in 5 % of the records."""
    accented = (random.random(count) < 0.05).tolist()
    pairs = zip(chosen(random, WORDS, count), chosen(random, _ACCENTED, count), accented, strict=True)
    first = [other if is_other else text for text, other, is_other in pairs]
    return joined(first, chosen(random, WORDS, count), chosen(random, WORDS, count))


def han(random: Random, count: int) -> list[str]:
    """Return two columns of Chinese words."""
    return joined(*(phrases(random, random.integers(1, 6, count), _HAN) for _ in range(2)))


def emoji(random: Random, count: int) -> list[str]:
    """Return messages of words and emoji, and a number."""
    return joined(phrases(random, random.integers(3, 20, count), WORDS + _EMOJI), random.integers(0, 1000, count))


def latin_1(random: Random, count: int) -> list[str]:
    """Return three columns of words with accents."""
    return joined(*(phrases(random, np.full(count, 2), [*WORDS[:20], *_ACCENTED]) for _ in range(3)))


def skewed_lengths(random: Random, count: int) -> list[str]:
    """Return an identifier and texts of Pareto-distributed lengths: most are short, a few have thousands of words."""
    lengths = np.minimum(random.pareto(1.1, count) * 2 + 1, 20_000).astype(int)
    return joined(random.integers(0, 10**6, count), phrases(random, lengths))


def paragraphs(random: Random, count: int) -> list[str]:
    """Return an identifier and a text of 4 KB."""
    text = " ".join(chosen(random, WORDS, 20_000))
    starts = random.integers(0, len(text) - _PARAGRAPH, count).tolist()
    return joined(np.arange(count), [text[start : start + _PARAGRAPH] for start in starts])


def megabytes(random: Random, count: int) -> list[str]:
    """Return an identifier and a text of 300 KB to 1 MB."""
    text = " ".join(chosen(random, WORDS, 200_000))
    return joined(np.arange(count), [text[:length] for length in random.integers(300_000, 1_000_000, count).tolist()])


def rare_pages(random: Random, count: int) -> list[str]:
    """Return an identifier and a word, or a quoted text of 4,000 words in 1 % of the records."""
    page = ", ".join(chosen(random, WORDS, 4000))
    is_page = (random.random(count) < 0.01).tolist()
    texts = [f'"{page}"' if wanted else word for wanted, word in zip(is_page, chosen(random, WORDS, count), strict=True)]
    return joined(np.arange(count), texts)


def categories(random: Random, count: int) -> list[str]:
    """Return three columns of few different texts."""
    kinds = [["red", "green", "blue"], ["AT", "CH", "DE", "FR", "IT"], ["new", "open", "waiting for parts", "closed"]]
    return joined(*(chosen(random, kind, count) for kind in kinds))


def uuids(random: Random, count: int) -> list[str]:
    """Return two columns of UUIDs."""
    return joined(*([str(uuid.UUID(hex=text)) for text in hex_texts(random, count, 32)] for _ in range(2)))


def digests(random: Random, count: int) -> list[str]:
    """Return a hexadecimal digest of 64 digits, and a size."""
    return joined([f"f{text[1:]}" for text in hex_texts(random, count, 64)], random.integers(0, 10**9, count))


def base64_fields(random: Random, count: int) -> list[str]:
    """Return an identifier and 96 bytes in base64."""
    blob = random.bytes(96 * count)
    return joined(np.arange(count), [base64.b64encode(blob[96 * i : 96 * i + 96]).decode() for i in range(count)])


def urls(random: Random, count: int) -> list[str]:
    """Return an address of a page and the number of its visits."""
    pages = zip(
        chosen(random, WORDS, count), chosen(random, WORDS, count), random.integers(0, 10**6, count).tolist(), strict=True
    )
    links = [f"https://www.example.org/{one}/{two}?id={number}&utm_source=mail#top" for one, two, number in pages]
    return joined(links, random.integers(0, 1000, count))


def addresses(random: Random, count: int) -> list[str]:
    """Return postal addresses: number, street, city in quotes with a comma, postal code as text, country."""
    cities = [f'"{city}, {state}"' for city in ("Springfield", "Riverside", "Fairview") for state in ("OH", "CA", "NY")]
    streets = [f"{word.title()} {kind}" for word in WORDS[-20:] for kind in ("Street", "Road", "Avenue")]
    codes = [f"A{code:05d}" for code in random.integers(0, 10**5, count).tolist()]
    parts = (chosen(random, streets, count), chosen(random, cities, count), codes, chosen(random, ["US", "CA"], count))
    return joined(random.integers(1, 10**4, count), *parts)


def contacts(random: Random, count: int) -> list[str]:
    """Return a mail address, an IPv4 address and a port."""
    octets = random.integers(1, 255, (4, count)).tolist()
    numbers = random.integers(0, 10**6, count).tolist()
    mails = [f"user{number}@{word}.example" for number, word in zip(numbers, chosen(random, WORDS, count), strict=True)]
    return joined(mails, [".".join(map(str, row)) for row in zip(*octets, strict=True)], random.integers(1, 65536, count))


def ipv6(random: Random, count: int) -> list[str]:
    """Return an IPv6 address, a port and another address."""
    first, second = ([":".join(text[i : i + 4] for i in range(0, 32, 4)) for text in hex_texts(random, count, 32)] for _ in "12")
    return joined(first, random.integers(1, 65536, count), second)


def amounts(random: Random, count: int) -> list[str]:
    """Return a number, an amount of dollars, a share in percent and a weight."""
    prices, shares = fixed(random.integers(100, 10**6, count), 2), fixed(random.integers(0, 1000, count), 1)
    weights = [f"{weight} kg" for weight in random.integers(1, 500, count).tolist()]
    return joined(np.arange(count), [f"${price}" for price in prices], [f"{share}%" for share in shares], weights)


def all_quoted(random: Random, count: int) -> list[str]:
    """Return a number, two words and a price, all quoted."""
    numbers = map(str, random.integers(0, 10**6, count).tolist())
    columns = (numbers, chosen(random, WORDS, count), chosen(random, WORDS, count), fixed(random.integers(0, 10**5, count), 2))
    return joined(*map(quoted, columns))


def all_quoted_spaced(random: Random, count: int) -> list[str]:
    """Return `all_quoted` with a space after each separator."""
    return [line.replace(",", ", ") for line in all_quoted(random, count)]


def all_quoted_padded(random: Random, count: int) -> list[str]:
    """Return `all_quoted` with spaces around each field."""
    return [f" {line} ".replace(",", "  , ") for line in all_quoted(random, count)]


def quoted_commas(random: Random, count: int) -> list[str]:
    """Return a number, a text that has a quoted comma in every fifth record, and a price."""
    pairs = zip(chosen(random, WORDS, count), chosen(random, WORDS, count), strict=True)
    names = [f'"{one}, {two}"' if i % 5 == 0 else f"{one} {two}" for i, (one, two) in enumerate(pairs)]
    return joined(random.integers(0, 10**6, count), names, fixed(random.integers(0, 10**5, count), 2))


def _objects(random: Random, count: int) -> list[str]:
    numbers, flags = random.integers(0, 10**6, count).tolist(), (random.random(count) < 0.5).tolist()
    rows = zip(numbers, flags, chosen(random, WORDS, count), chosen(random, WORDS, count), strict=True)
    return [json.dumps({"id": number, "ok": flag, "name": one, "tags": [one, two]}) for number, flag, one, two in rows]


def json_doubled(random: Random, count: int) -> list[str]:
    """Return a number and JSON in quotes, its quotes doubled."""
    return joined(np.arange(count), quoted(_objects(random, count)))


def json_escaped(random: Random, count: int) -> list[str]:
    """Return a number and JSON in quotes, its quotes after backslashes."""
    return joined(np.arange(count), ['"' + text.replace('"', '\\"') + '"' for text in _objects(random, count)])


def json_bare(random: Random, count: int) -> list[str]:
    """Return a number and JSON without enclosing quotes, separated by tabs."""
    return joined(np.arange(count), _objects(random, count), sep="\t")


def line_breaks(random: Random, count: int) -> list[str]:
    """Return a number and a quoted text of three lines."""
    lines = [phrases(random, random.integers(4, 15, count)) for _ in range(3)]
    return joined(np.arange(count), quoted(map("\n".join, zip(*lines, strict=True))))


def carriage_returns(random: Random, count: int) -> list[str]:
    """Return a number and a quoted text of two lines, which CR LF separates."""
    lines = [phrases(random, random.integers(1, 8, count)) for _ in range(2)]
    return joined(np.arange(count), quoted(map("\r\n".join, zip(*lines, strict=True))))
