"""Tests the fingerprints of Rabin and Karp's methods against the formulas of Ashkiani 2017, chapter 2."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

import headrace
from headrace import _native
from headrace.core.errors import OptionError
from headrace.core.layouts.layout import layout
from headrace.query.find.paper.methods import METHODS, MethodPlan

PRIME = 2**31 - 1
K = (np.array([[1, 0], [1, 1]], object), np.array([[1, 1], [0, 1]], object))


def fields(plan: MethodPlan) -> np.void:
    return np.frombuffer(plan.fields, layout("Fingerprint").dtype)[0]


def plan(name: str, pattern: bytes, sample: bytes = b"") -> MethodPlan:
    return MethodPlan.of(name, headrace.Pattern(pattern), sample)


@pytest.mark.parametrize(
    ("pattern", "sample", "bits", "shift"),
    [
        (b"\0\1", b"", 1, 0),
        (b"aaa", b"", 1, 0),
        (b"aaa", b"b", 1, 0),
        (b"ACGT", b"", 2, 1),
        (b"AC", b"GT", 2, 1),
        (b"\x10\x80", b"", 1, 4),
        (bytes(range(19)), b"", 5, 0),
        (b"a", bytes(range(256)), 8, 0),
    ],
)
def test_a_code_has_the_fewest_bits_that_differ(pattern: bytes, sample: bytes, bits: int, shift: int) -> None:
    found = fields(plan("drk", pattern, sample))
    assert (found["bits"], found["shift"]) == (bits, shift)


@pytest.mark.parametrize("letters", [2, 4, 19, 256])
@pytest.mark.parametrize("length", [1, 2, 7, 8, 33])
def test_fingerprints_are_those_of_the_formulas(letters: int, length: int) -> None:
    random = np.random.default_rng([letters, length])
    pattern = random.integers(0, letters, length, np.uint8).tobytes()
    found = fields(plan("drk", pattern, bytes(range(letters))))
    bits, prime = int(found["bits"]), int(found["prime"])
    assert 2 ** (30 - bits) < prime < 2 ** (31 - bits)
    assert all(prime % factor for factor in range(2, int(prime**0.5) + 1))
    assert found["value"] == sum(x << bits * (length - 1 - i) for i, x in enumerate(pattern)) % prime
    assert found["lead"] == pow(2, bits * (length - 1), prime)
    codes = [int(bit) for byte in pattern for bit in format(byte, f"0{bits}b")]
    product = reduce(lambda m, bit: m @ K[bit] % PRIME, codes, np.eye(2, dtype=int).astype(object))
    assert found["matrix"].tolist() == product.ravel().tolist()


def test_codes_without_modulo_are_side_by_side() -> None:
    assert fields(plan("drk-wom-32", b"\1\2\3\4", bytes(range(256))))["value"] == 0x01020304
    assert fields(plan("drk-wom-64", b"\1\0" * 32))["value"] == 0xAAAA_AAAA_AAAA_AAAA
    assert fields(plan("drk-wom-32", b"ACGT"))["value"] == 0b00_01_11_10


@pytest.mark.parametrize(("letters", "width"), [(2, 16), (16, 16), (17, 8), (256, 8)])
def test_the_first_of_two_stages_has_a_short_window(letters: int, width: int) -> None:
    alphabet = bytes(range(letters))
    assert plan("drk-2s", bytes(100) + alphabet, alphabet).width == width
    assert plan("drk-2s", b"\1\0\1", alphabet).width == 3
    assert fields(plan("drk-2s", bytes(100) + alphabet, alphabet))["offset"] > 0


@pytest.mark.parametrize(
    ("letters", "length", "name"),
    [(2, 32, "drk-wom-32"), (2, 33, "drk-wom-64"), (2, 65, "drk-2s"), (256, 4, "drk-wom-32"), (256, 9, "drk-2s")],
)
def test_the_method_is_chosen_by_the_length_in_bits(letters: int, length: int, name: str) -> None:
    assert plan("rabin-karp", bytes(length), bytes(range(letters))).method == METHODS[name]


@pytest.mark.parametrize(("name", "limit"), [("drk-wom-32", 4), ("drk-wom-64", 8), ("hrk", 1024)])
def test_a_pattern_may_be_too_long_for_a_method(name: str, limit: int) -> None:
    sample = bytes(range(256))
    plan(name, bytes(limit), sample)
    with pytest.raises(
        OptionError, match=f"method '{name}' is for patterns of up to {limit} bytes in this text, not {limit + 1}"
    ):
        plan(name, bytes(limit + 1), sample)


def test_options_that_the_methods_do_not_take() -> None:
    with pytest.raises(OptionError, match="method 'drk' respects case"):
        headrace.find(b"abab", b"ab", ignore_case=True, method="drk")
    with pytest.raises(OptionError, match="method 'drk' finds hits that overlap"):
        headrace.count(b"abab", b"ab", overlapping=False, method="drk")
    with pytest.raises(OptionError, match="method"):
        headrace.find(b"abab", b"ab", method="dkr")


@pytest.mark.parametrize("text", [b"", b"a", b"a" * 1024, b"a" * 1025, b"a" * 5000])
def test_errors_do_not_depend_on_the_length_of_the_text(text: bytes) -> None:
    for call in (headrace.find, headrace.count):
        with pytest.raises(OptionError, match="method 'hrk' is for patterns of up to 1024 bytes"):
            call(text, b"a" * 1025, method="hrk")
        with pytest.raises(OptionError, match="method 'drk' respects case"):
            call(text, b"a" * 5001, ignore_case=True, method="drk")
    for name in METHODS:
        pattern = b"a" * min(5001, {"hrk": 1024, "drk-wom-32": 32, "drk-wom-64": 64}.get(name, 5001))
        assert headrace.count(text, pattern, method=name) == max(len(text) - len(pattern) + 1, 0)
        assert headrace.find(text, pattern, method=name).tolist() == [*range(len(text) - len(pattern) + 1)]


def test_fields_of_a_fingerprint_are_checked() -> None:
    pattern = headrace.Pattern(b"ab").native
    with pytest.raises(ValueError, match="no fields of a Fingerprint"):
        _native.fingerprint(pattern, 0, b"")
